import { alarm } from '../core/alarm.js'
import type { Clock } from '../ports/clock.js'

/**
 * The longest time that is waited for at once, in milliseconds: a timer of more than 24 days would run at
 * once, and `forgetNodeAfterMs` may be months.
 */
const maxNapMs = 3_600_000

/** The nodes that are lost, and how long each of them still counts. */
export interface LostNodes {
  /** It is lost from now on, also where it was before. */
  readonly lose: (id: string) => void
  /** It has come back, or is forgotten. */
  readonly settle: (id: string) => void
  readonly close: () => void
}

/**
 * Calls `forget` for each node that has been lost for `afterMs`, once; never if that is `undefined`. `forget`
 * must not throw.
 */
export const watchLost = (
  clock: Clock,
  afterMs: number | undefined,
  forget: (id: string) => void,
): LostNodes => {
  if (afterMs === undefined) return noLostNodes
  /** In the order of being lost: all are given the same time, so the first is due first. */
  const lost = new Map<string, number>()
  const isFirst = (id: string): boolean => lost.keys().next().value === id
  const due = alarm(clock, () => {
    for (const [id, sinceMs] of [...lost]) {
      if (sinceMs + afterMs > clock.nowMs()) break
      lost.delete(id)
      forget(id)
    }
    wind()
  })
  const wind = (): void => {
    const [firstMs] = lost.values()
    if (firstMs === undefined) due.set(undefined)
    else due.set(Math.min(firstMs + afterMs, clock.nowMs() + maxNapMs))
  }
  return {
    lose: (id) => {
      const wasFirst = isFirst(id)
      lost.delete(id)
      lost.set(id, clock.nowMs())
      if (wasFirst || lost.size === 1) wind()
    },
    settle: (id) => {
      const wasFirst = isFirst(id)
      if (lost.delete(id) && wasFirst) wind()
    },
    close: () => {
      lost.clear()
      wind()
    },
  }
}

/** Where nobody is forgotten, nobody needs to be watched. */
const noLostNodes: LostNodes = {
  lose: () => undefined,
  settle: () => undefined,
  close: () => undefined,
}
