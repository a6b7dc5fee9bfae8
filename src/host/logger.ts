import { type Logger, type LogLevel, logLevels, type LogValue } from '../ports/logger.js'

export interface LoggerOptions {
  /** Entries below this level are left out; `info` if absent. */
  readonly level?: LogLevel
  /** Milliseconds since the Unix epoch; this machine's time if absent. */
  readonly nowMs?: () => number
}

/**
 * Logs one line per entry for people: time, level, message, `key=value`.
 *
 * What comes from outside cannot break a line or speak to the terminal: control characters are
 * shown as escapes.
 */
export const textLogger = (
  write: (line: string) => void,
  options: LoggerOptions & { readonly color?: boolean } = {},
): Logger => {
  const paint = options.color === true ? colored : plain
  return levelled(options, (timeMs, level, message, fields) => {
    const words = Object.entries(fields).flatMap(([key, value]) =>
      value === undefined ? [] : [`${paint('dim', `${key}=`)}${showValue(value)}`],
    )
    const time = paint('dim', new Date(timeMs).toISOString())
    write([time, paint(level, level.padEnd(5)), escapeControls(message), ...words].join(' '))
  })
}

/**
 * Logs one JSON object per line: `time`, `level`, `message`, and the fields beside them.
 */
export const jsonLogger = (write: (line: string) => void, options: LoggerOptions = {}): Logger =>
  levelled(options, (timeMs, level, message, fields) => {
    const reserved = { time: new Date(timeMs).toISOString(), level, message }
    write(JSON.stringify({ ...reserved, ...fields, ...reserved }))
  })

type Entry = (
  timeMs: number,
  level: LogLevel,
  message: string,
  fields: Readonly<Record<string, LogValue>>,
) => void

const levelled = ({ level = 'info', nowMs = Date.now }: LoggerOptions, entry: Entry): Logger => {
  const least = logLevels.indexOf(level)
  return {
    log: (at, message, fields = {}) => {
      if (logLevels.indexOf(at) >= least) entry(nowMs(), at, message, fields)
    },
  }
}

const showValue = (value: string | number | boolean): string =>
  typeof value !== 'string' || /^[^\s"=\p{C}]+$/u.test(value)
    ? String(value)
    : escapeControls(JSON.stringify(value))

/** C0 and C1 controls, and the characters that reorder or hide text. */
const escapeControls = (text: string): string =>
  text.replace(/\p{C}/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)

type Paint = (style: LogLevel | 'dim', text: string) => string

const plain: Paint = (_, text) => text

/** ANSI colours that are readable on light and on dark ground. */
const colored: Paint = (style, text) => `\u001b[${codes[style]}m${text}\u001b[0m`

const codes = { debug: 2, dim: 2, info: 32, warn: 33, error: 31 } as const
