/** What a command may touch of the process that runs it. */
export interface World {
  /** Writes to the standard output. */
  readonly out: (text: string) => void
  /** Writes to the standard error. */
  readonly err: (text: string) => void
  /** True where the standard error is a terminal that shows colours. */
  readonly color: boolean
  /** Reads a line of the standard input; `undefined` at its end. Absent where there is no input. */
  readonly readLine?: () => Promise<string | undefined>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborts when the process is asked to end. */
  readonly signal: AbortSignal
}

/** How a command ended, as scripts can tell it. */
export const exitCodes = {
  ok: 0,
  /** It could not do its work, or what it checked is not right. */
  failed: 1,
  /** It was called in a wrong way. */
  usage: 2,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
