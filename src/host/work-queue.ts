import type { Clock } from '../ports/clock.js'
import { backoffMs } from './backoff.js'
import { makePauses, type Pause } from './work-queue/pauses.js'
import { makeWorkers, type News } from './work-queue/workers.js'

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
  const { clock, random } = options
  const failures = new Map<string, number>()
  const pauses = makePauses(clock, (key) => workers.begin(key))
  const wait = (key: string, pause: Pause): void => {
    if (workers.isClosed() || pauses.isPaused(key)) return
    if (pause.delayMs > 0) pauses.begin(key, pause)
    else workers.begin(key)
  }
  const workers = makeWorkers(options, (key, worked, news) => {
    if (worked === 'Done') {
      failures.delete(key)
      if (news !== undefined) wait(key, { delayMs: news.delayMs, isOutdated: false })
    } else {
      const count = (failures.get(key) ?? 0) + 1
      failures.set(key, count)
      wait(key, pauseAfter(worked, count, news, random))
    }
  })
  return {
    add: (key, delayMs = 0, { isUrgent = false } = {}) => {
      if (workers.isClosed() || workers.isDue(key)) return
      if (workers.keep(key, { delayMs, isUrgent })) return
      if (isUrgent && pauses.endOutdated(key)) workers.begin(key)
      else wait(key, { delayMs, isOutdated: false })
    },
    size: () => workers.size() + pauses.size(),
    close: () => {
      pauses.close()
      return workers.close()
    },
  }
}

/** How long a key rests that has failed `failures` times in a row: not at all, if it is outdated and there is news. */
const pauseAfter = (
  worked: 'Retry' | 'Outdated',
  failures: number,
  news: News | undefined,
  random: () => number,
): Pause => {
  const isOutdated = worked === 'Outdated'
  const hasNews = isOutdated && news?.isUrgent === true
  return { delayMs: hasNews ? 0 : Math.round(backoffMs(failures, random())), isOutdated }
}
