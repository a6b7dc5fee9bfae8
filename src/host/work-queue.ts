import type { Clock } from '../ports/clock.js'
import { backoffMs } from './backoff.js'

/** What became of the work for one key. */
export type Worked =
  | 'Done'
  /** It failed, and is to be tried again, later each time. */
  | 'Retry'

export interface WorkQueueOptions {
  readonly clock: Clock
  /** Spreads the pauses between tries, in [0, 1). */
  readonly random: () => number
  /** How many keys are worked on at once. */
  readonly concurrency: number
  /** Does what there is to do for a key; a rejection counts as `Retry`, and is told to `onFault`. */
  readonly work: (key: string) => Promise<Worked>
  readonly onFault: (key: string, cause: unknown) => void
}

/** Keys for which there is something to do. */
export interface WorkQueue {
  /**
   * There may be something to do for a key, in `delayMs` at the earliest. A key that waits already waits
   * once, for as long as it did; one that is being worked on is worked on once more, `delayMs` after that at
   * the earliest; one that fails has its pause in place of that.
   */
  readonly add: (key: string, delayMs?: number) => void
  /** How many keys wait, or are worked on. */
  readonly size: () => number
  /** Begins nothing any more; resolves when nothing is being worked on. */
  readonly close: () => Promise<void>
}

/**
 * Works through keys, each by one at a time, a few at once, with a pause after a failure that grows key by
 * key.
 *
 * Level-triggered: a key says that something may be to be done, not what. So it costs memory for each key
 * once, whatever happens. Keys are taken in the order in which they became due.
 */
export const workQueue = (options: WorkQueueOptions): WorkQueue => {
  const { clock, random, concurrency } = options
  const due = new Set<string>()
  const busy = new Set<string>()
  const again = new Map<string, number>()
  const waiting = new Map<string, () => void>()
  const failures = new Map<string, number>()
  let isClosed = false
  const onIdle: Array<() => void> = []

  const ready = (key: string): void => {
    waiting.delete(key)
    due.add(key)
    pump()
  }
  const wait = (key: string, delayMs: number): void => {
    if (isClosed || waiting.has(key)) return
    if (delayMs > 0)
      waiting.set(
        key,
        clock.after(delayMs, () => ready(key)),
      )
    else ready(key)
  }
  const add = (key: string, delayMs = 0): void => {
    if (isClosed || due.has(key)) return
    if (busy.has(key)) again.set(key, Math.min(delayMs, again.get(key) ?? delayMs))
    else wait(key, delayMs)
  }
  const pump = (): void => {
    for (const key of due) {
      if (isClosed || busy.size >= concurrency) return
      due.delete(key)
      busy.add(key)
      void attempt(key)
    }
  }
  const attempt = async (key: string): Promise<void> => {
    // Whoever has added the key is done with what it is about first.
    await Promise.resolve()
    again.delete(key)
    const result = isClosed ? 'Done' : await tryWork(options, key)
    busy.delete(key)
    const nextMs = again.get(key)
    again.delete(key)
    if (result === 'Retry') {
      const count = (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      wait(key, Math.round(backoffMs(count, random())))
    } else {
      failures.delete(key)
      if (nextMs !== undefined) wait(key, nextMs)
    }
    if (isClosed && busy.size === 0) for (const resolve of onIdle) resolve()
    pump()
  }
  return {
    add,
    size: () => due.size + busy.size + waiting.size,
    close: () => {
      isClosed = true
      for (const cancel of waiting.values()) cancel()
      waiting.clear()
      due.clear()
      return busy.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))
    },
  }
}

const tryWork = async ({ work, onFault }: WorkQueueOptions, key: string): Promise<Worked> => {
  try {
    return await work(key)
  } catch (cause) {
    onFault(key, cause)
    return 'Retry'
  }
}
