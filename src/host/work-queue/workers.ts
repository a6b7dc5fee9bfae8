import type { Worked, WorkQueueOptions } from '../work-queue.js'

/** What was said of a key while it was worked on. */
export interface News {
  /** After how long it is to be worked on once more, in milliseconds. */
  readonly delayMs: number
  readonly isUrgent: boolean
}

/** Those who work on the keys that are due. */
export interface Workers {
  /** The key is due, behind those that are. */
  readonly begin: (key: string) => void
  readonly isDue: (key: string) => boolean
  /** Keeps news of a key that is being worked on until that is over; false if it is not. */
  readonly keep: (key: string, news: News) => boolean
  /** How many keys are due, or worked on. */
  readonly size: () => number
  readonly isClosed: () => boolean
  /** Begins nothing any more; resolves when nothing is being worked on. */
  readonly close: () => Promise<void>
}

/** What became of the work for one key, and what was said of the key meanwhile. */
export type OnWorked = (key: string, worked: Worked, news: News | undefined) => void

type Options = Pick<WorkQueueOptions, 'concurrency' | 'work' | 'onFault'>

/** Works on the keys that are due in their order, `concurrency` of them at once. `onWorked` must not throw. */
export const makeWorkers = (options: Options, onWorked: OnWorked): Workers => {
  const due = new Set<string>()
  const busy = makeBusy()
  let isClosed = false
  const pump = (): void => {
    for (const key of due) {
      if (isClosed || busy.size() >= options.concurrency) return
      due.delete(key)
      busy.begin(key)
      void attempt(key)
    }
  }
  const attempt = async (key: string): Promise<void> => {
    // Whoever has added the key is done with what it is about first.
    await Promise.resolve()
    busy.begin(key)
    const worked = isClosed ? 'Done' : await tryWork(options, key)
    onWorked(key, worked, busy.end(key))
    pump()
  }
  return {
    begin: (key) => {
      due.add(key)
      pump()
    },
    isDue: (key) => due.has(key),
    keep: busy.keep,
    size: () => due.size + busy.size(),
    isClosed: () => isClosed,
    close: () => {
      isClosed = true
      due.clear()
      return busy.idle()
    },
  }
}

/** The keys that are worked on, each with the news of it that has come since. */
interface Busy extends Pick<Workers, 'keep'> {
  /** Whatever was said of the key before is news no more. */
  readonly begin: (key: string) => void
  readonly end: (key: string) => News | undefined
  readonly size: () => number
  /** Resolves when there is none. */
  readonly idle: () => Promise<void>
}

const makeBusy = (): Busy => {
  const newsOf = new Map<string, News | undefined>()
  const onIdle: Array<() => void> = []
  return {
    begin: (key) => void newsOf.set(key, undefined),
    keep: (key, news) => {
      if (!newsOf.has(key)) return false
      newsOf.set(key, joined(newsOf.get(key), news))
      return true
    },
    end: (key) => {
      const news = newsOf.get(key)
      newsOf.delete(key)
      if (newsOf.size === 0) for (const resolve of onIdle) resolve()
      return news
    },
    size: () => newsOf.size,
    idle: () =>
      newsOf.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve)),
  }
}

/** What two pieces of news come to: the sooner, and urgent if one of them is. */
const joined = (before: News | undefined, { delayMs, isUrgent }: News): News => ({
  delayMs: Math.min(delayMs, before?.delayMs ?? delayMs),
  isUrgent: isUrgent || before?.isUrgent === true,
})

const tryWork = async ({ work, onFault }: Options, key: string): Promise<Worked> => {
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
