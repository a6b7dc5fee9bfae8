import type { Clock } from '../../../ports/clock.js'

/** Lets an error that nobody waits for any more come up where time passes, so that it is not lost. */
export const throwLater =
  (clock: Clock) =>
  (_: unknown, error: unknown): void => {
    clock.after(0, () => {
      throw error
    })
  }
