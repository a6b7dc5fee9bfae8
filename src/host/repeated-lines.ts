import type { Clock } from '../ports/clock.js'
import type { Logger, LogLevel, LogValue } from '../ports/logger.js'

/** How often it is told how much of a kind there was since, in milliseconds. */
export const repeatEveryMs = 10_000

/** One line of a log. */
export interface Line {
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, LogValue>>
}

/** Lines that may come by the thousand, such as those of an outage. */
export interface RepeatedLines {
  /** The first of its kind, after `repeatEveryMs` without any, is logged at once. There are to be few kinds. */
  readonly tell: (kind: string, line: Line) => void
  /** Logs what was only counted yet, and leaves no timer. What comes after that is logged line by line. */
  readonly close: () => void
}

/**
 * Makes of many lines of one kind a few: the first, and then, every `repeatEveryMs` as long as there are any, the last
 * one with the number of `times` since the line before. None is left out of the count.
 */
export const repeatedLines = (logger: Logger, clock: Clock): RepeatedLines => {
  const counts = new Map<string, Count>()
  let isClosed = false
  const log = ({ level, message, fields }: Line, times?: number): void =>
    logger.log(level, message, times === undefined ? fields : { ...fields, times })
  const count = (kind: string, line: Line): void => {
    const cancel = clock.after(repeatEveryMs, () => {
      const { times, last } = counts.get(kind) ?? { times: 0, last: line }
      counts.delete(kind)
      if (times === 0) return
      count(kind, last)
      log(last, times)
    })
    counts.set(kind, { last: line, times: 0, cancel })
  }
  return {
    tell: (kind, line) => {
      const known = counts.get(kind)
      if (known !== undefined)
        return void counts.set(kind, { ...known, last: line, times: known.times + 1 })
      if (!isClosed) count(kind, line)
      log(line)
    },
    close: () => {
      isClosed = true
      const open = [...counts.values()]
      counts.clear()
      for (const { last, times, cancel } of open) {
        cancel()
        if (times > 0) log(last, times)
      }
    },
  }
}

/** What has come of a kind since the last line. */
interface Count {
  readonly last: Line
  readonly times: number
  readonly cancel: () => void
}
