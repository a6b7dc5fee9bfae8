import type { Clock } from '../../../ports/clock.js'

export interface Timer {
  /** Wakes at this time, or before. */
  readonly set: (atMs: number | undefined) => void
  readonly stop: () => void
}

/** The longest wait of a timer, in milliseconds: Node's overflow at 2^31. */
const maxTimerMs = 2 ** 30

/** One timer that is only ever set anew for an earlier time, since a deadline may move with each line of a watch. */
export const timerOf = (clock: Clock, onDue: () => void): Timer => {
  let dueMs = Infinity
  let cancel = (): void => undefined
  const stop = (): void => {
    cancel()
    dueMs = Infinity
  }
  return {
    set: (atMs = Infinity) => {
      if (atMs >= dueMs) return
      stop()
      dueMs = atMs
      cancel = clock.after(Math.min(maxTimerMs, Math.max(0, atMs - clock.nowMs())), () => {
        dueMs = Infinity
        onDue()
      })
    },
    stop,
  }
}
