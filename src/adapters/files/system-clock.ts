import type { Clock } from '../../ports/clock.js'

/** The clock of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs).unref()
    return () => {
      clearTimeout(timer)
    }
  },
}
