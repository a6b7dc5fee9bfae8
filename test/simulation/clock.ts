import {
  steppingClock as anyClock,
  type SteppingClock as AnyClock,
} from '../../src/adapters/memory/stepping-clock.js'
import type { Clock } from '../../src/ports/clock.js'

export interface SteppingClock extends AnyClock {
  /** The same time for somebody who may die: then none of its callbacks comes any more. */
  readonly mortal: () => MortalClock
}

export interface MortalClock extends Clock {
  readonly die: () => void
}

export const steppingClock = (startMs: number): SteppingClock => {
  const clock = anyClock(startMs)
  return { ...clock, mortal: () => mortalClock(clock.nowMs, clock.after) }
}

const mortalClock = (nowMs: () => number, after: Clock['after']): MortalClock => {
  const cancels = new Set<() => void>()
  let isDead = false
  return {
    nowMs,
    after: (delayMs, callback) => {
      if (isDead) return () => undefined
      const stop = after(delayMs, () => {
        cancels.delete(stop)
        callback()
      })
      cancels.add(stop)
      return () => {
        cancels.delete(stop)
        stop()
      }
    },
    die: () => {
      isDead = true
      for (const stop of cancels) stop()
      cancels.clear()
    },
  }
}
