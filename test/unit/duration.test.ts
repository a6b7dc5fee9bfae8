import { left, right } from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxDurationMs, parseDuration } from '../../src/core/duration.js'

describe('a Go duration is parsed to milliseconds', () => {
  const rows: ReadonlyArray<readonly [text: string, milliseconds: number]> = [
    ['0', 0],
    ['0s', 0],
    ['15s', 15_000],
    ['250ms', 250],
    ['1m30s', 90_000],
    ['1h2m3s4ms', 3_723_004],
    ['1.5s', 1500],
    ['.5s', 500],
    ['1.s', 1000],
    ['+5s', 5000],
    ['0.1s', 100],
    ['1000us', 1],
    ['1000\u00b5s', 1],
    ['1000\u03bcs', 1],
    ['1000000ns', 1],
    ['0.0001h', 360],
    ['500us500us', 1],
    ['5s1m', 65_000],
    ['24h', maxDurationMs],
    ['0.000000000000s', 0],
  ]
  test.each(rows)('%s is %d ms', (text, milliseconds) => {
    expect(parseDuration(text)).toEqual(right(milliseconds))
  })
})

describe('what is no duration is refused with what would be right', () => {
  const rows: ReadonlyArray<readonly [text: string, message: string]> = [
    ['', 'must be a duration: write it like "15s"'],
    ['15', 'missing unit: write "15s"'],
    ['1.5', 'missing unit: write "1.5s"'],
    ['-1s', 'must not be negative: write "0s" for none'],
    ['-0s', 'must not be negative: write "0s" for none'],
    ['s', 'must be a duration: write it like "15s" or "1m30s"'],
    ['.s', 'must be a duration: write it like "15s" or "1m30s"'],
    ['1m30', 'must be a duration: write it like "15s" or "1m30s"'],
    ['1 s', 'has the unknown unit " s": use h, m, s, ms, us or ns'],
    ['1d', 'has the unknown unit "d": use h, m, s, ms, us or ns'],
    ['1S', 'has the unknown unit "S": use h, m, s, ms, us or ns'],
    ['1e3s', 'has the unknown unit "e": use h, m, s, ms, us or ns'],
    ['+-1s', 'must be a duration: write it like "15s" or "1m30s"'],
    ['1us', 'must be whole milliseconds: write it like "250ms"'],
    ['1.0005s', 'must be whole milliseconds: write it like "250ms"'],
    ['0.0000000001s', 'must be whole milliseconds: write it like "250ms"'],
    ['24h1ms', 'must be at most 24h'],
    ['99999999999999999999h', 'must be at most 24h'],
    ['1'.repeat(65), 'must be a duration: write it like "15s"'],
  ]
  test.each(rows)('%s: %s', (text, message) => {
    expect(parseDuration(text)).toEqual(left(message))
  })
})

test('a duration in parts is the sum of its parts', () => {
  const parts = fc.tuple(fc.nat(20), fc.nat(90), fc.nat(90), fc.nat(2000))
  fc.assert(
    fc.property(parts, ([h, m, s, ms]) => {
      expect(parseDuration(`${h}h${m}m${s}s${ms}ms`)).toEqual(
        right(((h * 60 + m) * 60 + s) * 1000 + ms),
      )
    }),
  )
})

test('no text makes it throw', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[-+.0-9hmsuµn]{0,70}$/))
  fc.assert(
    fc.property(texts, (text) => {
      const parsed = parseDuration(text)
      if (parsed._tag === 'Right') {
        expect(Number.isSafeInteger(parsed.right)).toBe(true)
        expect(parsed.right).toBeLessThanOrEqual(maxDurationMs)
      } else expect(parsed.left).toMatch(/\S/)
    }),
    { numRuns: 2000 },
  )
})
