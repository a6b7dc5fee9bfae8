import type { Logger, LogLevel, LogValue } from '../../ports/logger.js'

export interface LogEntry {
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, LogValue>>
}

/** A logger that keeps what it is told. */
export interface MemoryLogger extends Logger {
  /** Everything that was logged since the start or the last `clear`, oldest first. */
  readonly entries: () => ReadonlyArray<LogEntry>
  readonly clear: () => void
}

/** Keeps every entry, without a bound: for tests, which end. */
export const memoryLogger = (): MemoryLogger => {
  let entries: Array<LogEntry> = []
  return {
    log: (level, message, fields = {}) => {
      entries.push({ level, message, fields })
    },
    entries: () => [...entries],
    clear: () => {
      entries = []
    },
  }
}
