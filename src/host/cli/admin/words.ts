/**
 * Text that came from outside, for a terminal: what would move its cursor, colour it, or reorder or hide
 * text is shown as an escape.
 */
export const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)

/** A name among other words: in quotes if it could be taken for more than one word, or for none. */
export const showName = (name: string): string =>
  /^[^\s"',;()]+$/u.test(name) ? printable(name) : printable(JSON.stringify(name))

/** JSON that is as safe to print: what a terminal would act on is escaped in the way of JSON. */
export const showJson = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).replace(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from({ length: char.length }, (_, unit) => jsonEscape(char.charCodeAt(unit))).join(''),
  )

const jsonEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`

/** An argument as a shell takes it; one with characters that cannot be printed as bash and zsh do. */
export const shellWord = (text: string): string => {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  if (printable(text) === text) return `'${text.replaceAll("'", "'\\''")}'`
  const escaped = text.replace(/[\\']|[\p{C}\p{Zl}\p{Zp}]/gu, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16)
    return char === '\\' || char === "'" ? `\\${char}` : `\\U${code.padStart(8, '0')}`
  })
  return `$'${escaped}'`
}

/** The command that forgets a node, with the options `words`: behind `--` nothing is one. */
export const forgetCommandOf = (id: string, words: string): string =>
  id.startsWith('-')
    ? `edgewright forget${words} -- ${shellWord(id)}`
    : `edgewright forget ${shellWord(id)}${words}`

const unitsMs = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** How long it is from one date to another, in its two largest units: `3m20s`, `2d4h`. */
export const showAge = (from: string, to: string): string => {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from))
  const first = unitsMs.findIndex(([, unitMs]) => ms >= unitMs)
  if (first < 0) return '0s'
  return unitsMs
    .slice(first, first + 2)
    .map(([unit, unitMs], index) => {
      const rest = index === 0 ? ms : ms % (unitsMs[first]?.[1] ?? ms)
      return [Math.floor(rest / unitMs), unit] as const
    })
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join('')
}

/** `2026-01-01T00:00:00Z (3m20s ago)`; a text that is no date as it stands. */
export const showSince = (date: string, now: string): string =>
  Number.isNaN(Date.parse(date))
    ? printable(date)
    : `${printable(date)} (${showAge(date, now)} ago)`

/** `1 Envoy`, `2 Envoys`. */
export const plural = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? '' : 's'}`

/** What it means that nobody waits for a node any more; `details` are lines of their own. */
export const forgottenText = (id: string, details: ReadonlyArray<string>): string =>
  [
    `${showName(id)} is forgotten: nothing waits for it any more.`,
    ...details,
    'If its process still runs it may go on serving what it had, deleted routes among it, until it connects',
    'again.',
    '',
  ].join('\n')

/** What else somebody should know who has had a node forgotten; nothing if there is nothing. */
export const warningLines = (warning: string | undefined): ReadonlyArray<string> =>
  warning === undefined ? [] : [`Warning: ${printable(warning)}.`]
