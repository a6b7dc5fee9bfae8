import type { Clock } from '../../ports/clock.js'

/** Ends a sleep early. */
export interface Bell {
  readonly ring: () => void
  /**
   * Ends after `maxMs`, or at once when the signal aborts, or when the bell has rung, also before
   * the sleep, and `quietMs` have passed without another ring.
   */
  readonly sleep: (maxMs: number, quietMs: number) => Promise<void>
}

/** Makes a bell for one sleeper. */
export const bellOf = (clock: Clock, signal: AbortSignal): Bell => {
  let rung = false
  let onRing = (): void => undefined
  const sleep: Bell['sleep'] = (maxMs, quietMs) =>
    new Promise((resolve) => {
      let cancelQuiet = (): void => undefined
      const wake = (): void => {
        cancelQuiet()
        cancelMax()
        signal.removeEventListener('abort', wake)
        onRing = () => undefined
        rung = false
        resolve()
      }
      const cancelMax = clock.after(maxMs, wake)
      signal.addEventListener('abort', wake)
      onRing = () => {
        cancelQuiet()
        cancelQuiet = clock.after(quietMs, wake)
      }
      if (signal.aborted) wake()
      else if (rung) onRing()
    })
  return {
    ring: () => {
      rung = true
      onRing()
    },
    sleep,
  }
}
