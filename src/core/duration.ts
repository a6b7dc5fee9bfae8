import { type Either, left, right } from 'fp-ts/lib/Either.js'

/** The longest duration: a day, in milliseconds. A longer timeout is a mistake of units. */
export const maxDurationMs: number = 24 * 60 * 60 * 1000

/** The longest text, in characters: room for each unit with all its digits. */
export const maxDurationLength = 64

const nanosecondsOf: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n], // the micro sign
  ['\u03bcs', 1_000n], // the Greek letter
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])

/**
 * Parses a duration as Go writes it, `15s`, `250ms`, `1m30s`, `1.5h`, to milliseconds.
 *
 * On the left is what would be right. Refuses what Go takes and a timeout cannot be: a negative
 * duration, parts of a millisecond, and more than `maxDurationMs`.
 */
export const parseDuration = (text: string): Either<string, number> => {
  if (text === '0') return right(0)
  if (text === '' || text.length > maxDurationLength)
    return left('must be a duration: write it like "15s"')
  if (text.startsWith('-')) return left('must not be negative: write "0s" for none')
  if (/^\d+(\.\d+)?$/.test(text)) return left(`missing unit: write "${text}s"`)
  return sum(text.replace(/^\+/, ''))
}

const sum = (text: string): Either<string, number> => {
  const part = /(\d*)(?:\.(\d*))?([^\d.]+)/y
  let nanoseconds = 0n
  while (part.lastIndex < text.length) {
    const [, whole = '', fraction = '', unit = ''] = part.exec(text) ?? []
    if (whole + fraction === '') return left('must be a duration: write it like "15s" or "1m30s"')
    const factor = nanosecondsOf.get(unit)
    if (factor === undefined)
      return left(`has the unknown unit ${JSON.stringify(unit)}: use h, m, s, ms, us or ns`)
    const scale = 10n ** BigInt(fraction.length)
    const scaled = BigInt(whole + fraction) * factor
    if (scaled % scale !== 0n) return left(wholeMilliseconds)
    nanoseconds += scaled / scale
  }
  if (nanoseconds % 1_000_000n !== 0n) return left(wholeMilliseconds)
  const milliseconds = nanoseconds / 1_000_000n
  return milliseconds > maxDurationMs ? left('must be at most 24h') : right(Number(milliseconds))
}

const wholeMilliseconds = 'must be whole milliseconds: write it like "250ms"'
