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
  /** In the order of being lost: all are given the same time, so the first is due first. */
  const lost = new Map<string, number>()
  const isFirst = (id: string): boolean => lost.keys().next().value === id
  let cancel: (() => void) | undefined
  const wind = (): void => {
    cancel?.()
    cancel = undefined
    const [first] = lost.values()
    if (first === undefined || afterMs === undefined) return
    const leftMs = Math.ceil(first + afterMs - clock.nowMs())
    cancel = clock.after(Math.min(maxNapMs, Math.max(0, leftMs)), () => {
      cancel = undefined
      for (const [id, sinceMs] of [...lost]) {
        if (sinceMs + afterMs > clock.nowMs()) break
        lost.delete(id)
        forget(id)
      }
      wind()
    })
  }
  return {
    lose: (id) => {
      if (afterMs === undefined) return
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
