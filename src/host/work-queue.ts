import type { Clock } from '../ports/clock.js'
import { backoffMs } from './backoff.js'

/** What became of the work for one key. */
export type Worked =
  | 'Done'
  /** It failed, and is to be tried again, later each time. */
  | 'Retry'
  /** What it was to be done with has changed meanwhile: as `Retry`, but an urgent `add` ends the pause. */
  | 'Outdated'

export interface WorkQueueOptions {
  readonly clock: Clock
  /** Spreads the pauses between tries, in [0, 1). */
  readonly random: () => number
  /** How many keys are worked on at once. */
  readonly concurrency: number
  /** Does what there is to do for a key; a rejection counts as `Retry`, and is told to `onFault`, which may throw. */
  readonly work: (key: string) => Promise<Worked>
  readonly onFault: (key: string, cause: unknown) => void
}

export interface AddOptions {
  /**
   * There is news of the key: one that waits because it was `Outdated` waits no more. No other pause is cut
   * short, so that what fails is not tried as often as there is news.
   */
  readonly isUrgent?: boolean
}

/** Keys for which there is something to do. */
export interface WorkQueue {
  /**
   * There may be something to do for a key, in `delayMs` at the earliest. A key that waits already waits
   * once, for as long as it did; one that is being worked on is worked on once more, `delayMs` after that at
   * the earliest; one that fails has its pause in place of that.
   */
  readonly add: (key: string, delayMs?: number, options?: AddOptions) => void
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
  const again = new Map<string, Again>()
  const waiting = new Map<string, Wait>()
  const failures = new Map<string, number>()
  let isClosed = false
  const onIdle: Array<() => void> = []

  const ready = (key: string): void => {
    waiting.delete(key)
    due.add(key)
    pump()
  }
  const wait = (key: string, delayMs: number, isOutdated = false): void => {
    if (isClosed || waiting.has(key)) return
    if (delayMs > 0)
      waiting.set(key, { isOutdated, cancel: clock.after(delayMs, () => ready(key)) })
    else ready(key)
  }
  const add: WorkQueue['add'] = (key, delayMs = 0, { isUrgent = false } = {}) => {
    if (isClosed || due.has(key)) return
    const paused = waiting.get(key)
    if (busy.has(key)) {
      const before = again.get(key)
      again.set(key, {
        delayMs: Math.min(delayMs, before?.delayMs ?? delayMs),
        isUrgent: isUrgent || before?.isUrgent === true,
      })
    } else if (isUrgent && paused?.isOutdated === true) {
      paused.cancel()
      ready(key)
    } else wait(key, delayMs)
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
    const next = again.get(key)
    again.delete(key)
    if (result === 'Done') {
      failures.delete(key)
      if (next !== undefined) wait(key, next.delayMs)
    } else {
      const isOutdated = result === 'Outdated'
      const count = (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      const hasNews = isOutdated && next?.isUrgent === true
      wait(key, hasNews ? 0 : Math.round(backoffMs(count, random())), isOutdated)
    }
    if (isClosed && busy.size === 0) for (const resolve of onIdle) resolve()
    pump()
  }
  return {
    add,
    size: () => due.size + busy.size + waiting.size,
    close: () => {
      isClosed = true
      for (const { cancel } of waiting.values()) cancel()
      waiting.clear()
      due.clear()
      return busy.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))
    },
  }
}

/** What a key is to have once it is no longer worked on. */
interface Again {
  readonly delayMs: number
  readonly isUrgent: boolean
}

interface Wait {
  readonly isOutdated: boolean
  readonly cancel: () => void
}

const tryWork = async ({ work, onFault }: WorkQueueOptions, key: string): Promise<Worked> => {
  try {
    return await work(key)
  } catch (cause) {
    tell(() => onFault(key, cause))
    return 'Retry'
  }
}

/** Whoever cannot even be told that something is wrong must not stop the rest. */
const tell = (say: () => void): void => {
  try {
    say()
  } catch {
    return
  }
}
