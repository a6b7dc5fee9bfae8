import type { Worked } from './work-queue.js'

/** Who is at work under a key. */
export interface Turns {
  /** Runs this when nothing else runs under the key; nothing at all once it is closed. */
  readonly take: (key: string, run: () => Promise<Worked>) => Promise<Worked>
  readonly close: () => void
}

/** For no more than two that want the same turn: there are two kinds of writes, and one of each at a time. */
export const oneByOne = (): Turns => {
  const running = new Map<string, Promise<unknown>>()
  let isClosed = false
  return {
    take: async (key, run) => {
      await running.get(key)?.catch(() => undefined)
      if (isClosed) return 'Done'
      const mine = run()
      running.set(key, mine)
      try {
        return await mine
      } finally {
        if (running.get(key) === mine) running.delete(key)
      }
    },
    close: () => {
      isClosed = true
    },
  }
}
