import type { Clock } from '../../ports/clock.js'

/** Time that passes only when it is told to. */
export interface VirtualClock extends Clock {
  /**
   * Lets time pass, and calls back everything that falls due, in the order of time and then of asking,
   * what the callbacks themselves ask for included. Each callback sees the moment it was due at. Throws
   * after `maxCallbacks`, since time then stands still.
   */
  readonly advance: (ms: number) => void
  /** How many callbacks wait. */
  readonly waiting: () => number
}

/** How many callbacks one `advance` makes at most: no real wait needs as many, a loop would never end. */
export const maxCallbacks = 100_000

interface Timer {
  readonly dueMs: number
  readonly callback: () => void
}

/** Makes a clock that stands at `startMs` since the Unix epoch. */
export const virtualClock = (startMs = 0): VirtualClock => {
  let nowMs = startMs
  const timers = new Set<Timer>()

  /** A set keeps the order of asking, so that the first of the earliest ones is next. */
  const next = (untilMs: number): Timer | undefined => {
    let earliest: Timer | undefined
    for (const timer of timers)
      if (timer.dueMs <= untilMs && (earliest === undefined || timer.dueMs < earliest.dueMs))
        earliest = timer
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
    advance: (ms) => {
      const untilMs = nowMs + ms
      let calls = 0
      for (let timer = next(untilMs); timer !== undefined; timer = next(untilMs)) {
        if (++calls > maxCallbacks) throw new Error(`time stands still at ${nowMs} ms`)
        timers.delete(timer)
        nowMs = Math.max(nowMs, timer.dueMs)
        timer.callback()
      }
      nowMs = untilMs
    },
    waiting: () => timers.size,
  }
}
