import type { Clock } from '../../src/ports/clock.js'

/** Time that passes one callback at a time, so that promises can go on in between. */
export interface SteppingClock extends Clock {
  /** Calls back the first of those that are due until then, and says whether there was one. */
  readonly runNext: (untilMs: number) => boolean
  /** Lets it be this late, if it is not later. */
  readonly moveTo: (ms: number) => void
  /** The same time for somebody who may die: then none of its callbacks comes any more. */
  readonly mortal: () => MortalClock
}

export interface MortalClock extends Clock {
  readonly die: () => void
}

interface Timer {
  readonly dueMs: number
  readonly callback: () => void
}

export const steppingClock = (startMs: number): SteppingClock => {
  let nowMs = startMs
  const timers = new Set<Timer>()

  const after: Clock['after'] = (delayMs, callback) => {
    const timer = { dueMs: nowMs + Math.max(0, delayMs), callback }
    timers.add(timer)
    return () => void timers.delete(timer)
  }
  const first = (): Timer | undefined => {
    let earliest: Timer | undefined
    for (const timer of timers)
      if (earliest === undefined || timer.dueMs < earliest.dueMs) earliest = timer
    return earliest
  }
  return {
    nowMs: () => nowMs,
    after,
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
    mortal: () => mortalClock(() => nowMs, after),
  }
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
