/** From the most to the least talkative. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** A field's value: flat, so that any log format can show it. */
export type LogValue = string | number | boolean | undefined

/** Where log entries go. Must not throw. */
export interface Logger {
  readonly log: (
    level: LogLevel,
    message: string,
    fields?: Readonly<Record<string, LogValue>>,
  ) => void
}

/** Says nothing. */
export const silentLogger: Logger = { log: () => undefined }
