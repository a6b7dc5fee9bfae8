import type { Clock } from '../../../ports/clock.js'

/** A shorter rest is none, in milliseconds: timers are no finer, and would only delay. */
const minRestMs = 1

/**
 * Does something whenever it is asked for, but rests in between: for as long as `act` returns, in milliseconds.
 * What is asked for meanwhile is done once, afterwards. Nothing is done once `signal` has aborted.
 */
export const paced = (clock: Clock, act: () => number, signal: AbortSignal): (() => void) => {
  let isResting = false
  let isAsked = false
  let cancel = (): void => undefined
  const run = (): void => {
    if (signal.aborted) return
    isAsked = false
    const restMs = act()
    isResting = restMs >= minRestMs && !signal.aborted
    if (isResting) cancel = clock.after(restMs, wake)
  }
  const wake = (): void => {
    isResting = false
    if (isAsked) run()
  }
  signal.addEventListener('abort', () => cancel())
  return () => {
    isAsked = true
    if (!isResting) run()
  }
}
