import type { Clock } from '../../ports/clock.js'

/** Time that passes one callback at a time, so that promises can go on in between. */
export interface SteppingClock extends Clock {
  /** Whether somebody is to be called back until then. */
  readonly isDue: (untilMs: number) => boolean
  /** Calls back the first of those that are due until then, and says whether there was one. */
  readonly runNext: (untilMs: number) => boolean
  /** Lets it be this late, if it is not later. */
  readonly moveTo: (ms: number) => void
  /** How many callbacks wait. */
  readonly waiting: () => number
}

interface Timer {
  readonly dueMs: number
  readonly callback: () => void
}

/** Makes a clock that stands at `startMs` since the Unix epoch. Each callback sees the moment it was due at. */
export const steppingClock = (startMs: number): SteppingClock => {
  let nowMs = startMs
  const timers = new Set<Timer>()
  /** A set keeps the order of asking, so that the first of the earliest ones is next. */
  const first = (): Timer | undefined => {
    let earliest: Timer | undefined
    for (const timer of timers)
      if (earliest === undefined || timer.dueMs < earliest.dueMs) earliest = timer
    return earliest
  }
  return {
    nowMs: () => nowMs,
    after: (delayMs, callback) => {
      const timer = { dueMs: nowMs + Math.max(0, delayMs), callback }
      timers.add(timer)
      return () => {
        timers.delete(timer)
      }
    },
    isDue: (untilMs) => (first()?.dueMs ?? Infinity) <= untilMs,
    runNext: (untilMs) => {
      const timer = first()
      if (timer === undefined || timer.dueMs > untilMs) return false
      timers.delete(timer)
      nowMs = Math.max(nowMs, timer.dueMs)
      timer.callback()
      return true
    },
    moveTo: (ms) => {
      nowMs = Math.max(nowMs, ms)
    },
    waiting: () => timers.size,
  }
}
