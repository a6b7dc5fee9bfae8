import type { Clock } from '../../ports/clock.js'
import { steppingClock } from './stepping-clock.js'

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

/** Makes a clock that stands at `startMs` since the Unix epoch. */
export const virtualClock = (startMs = 0): VirtualClock => {
  const { nowMs, after, isDue, runNext, moveTo, waiting } = steppingClock(startMs)
  return {
    nowMs,
    after,
    advance: (ms) => {
      const untilMs = nowMs() + ms
      for (let calls = 0; isDue(untilMs); calls += 1) {
        if (calls === maxCallbacks) throw new Error(`time stands still at ${nowMs()} ms`)
        runNext(untilMs)
      }
      moveTo(untilMs)
    },
    waiting,
  }
}
