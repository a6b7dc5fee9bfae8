import type { Clock } from '../../ports/clock.js'

/** What a key waits for. */
export interface Pause {
  readonly delayMs: number
  /** It is a pause after `Outdated`: news of the key may end it. */
  readonly isOutdated: boolean
}

/** The keys that wait for their time. */
export interface Pauses {
  readonly begin: (key: string, pause: Pause) => void
  readonly isPaused: (key: string) => boolean
  /** Ends the pause of a key that was outdated, which is not called back then; false if it has none. */
  readonly endOutdated: (key: string) => boolean
  readonly size: () => number
  readonly close: () => void
}

/** Calls `onOver` with each key whose time has come. */
export const makePauses = (clock: Clock, onOver: (key: string) => void): Pauses => {
  const waiting = new Map<string, Wait>()
  return {
    begin: (key, { delayMs, isOutdated }) => {
      const cancel = clock.after(delayMs, () => {
        waiting.delete(key)
        onOver(key)
      })
      waiting.set(key, { isOutdated, cancel })
    },
    isPaused: (key) => waiting.has(key),
    endOutdated: (key) => {
      const wait = waiting.get(key)
      if (wait?.isOutdated !== true) return false
      wait.cancel()
      return waiting.delete(key)
    },
    size: () => waiting.size,
    close: () => {
      for (const { cancel } of waiting.values()) cancel()
      waiting.clear()
    },
  }
}

interface Wait {
  readonly isOutdated: boolean
  readonly cancel: () => void
}
