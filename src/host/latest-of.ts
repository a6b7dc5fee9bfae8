import type { Clock } from '../ports/clock.js'

/** The longest rest after a pass, in milliseconds: what has changed meanwhile is not to wait for longer. */
const maxRestMs = 1_000

/** So many values for one pass are a burst, of which more is to come. */
const burstSize = 16

/** How long it rests after a burst at least, in milliseconds: not longer than people notice. */
const burstRestMs = 200

/**
 * Hands on the latest of the values that arrive together, one macrotask after the first of them: a
 * lone change is not held up, and a burst costs a few passes: its first value, what has come meanwhile, and the rest.
 *
 * After a pass it rests for as long as that took: however fast values come, half of the time is left to others, such
 * as the Envoys.
 */
export const latestOf = <A>(
  clock: Clock,
  take: (value: A) => void,
): { readonly put: (value: A) => void; readonly close: () => void } => {
  let cancel: (() => void) | undefined
  let latest: A
  let count = 0
  let restsUntilMs = -Infinity
  return {
    put: (value) => {
      latest = value
      count += 1
      cancel ??= clock.after(Math.max(0, restsUntilMs - clock.nowMs()), () => {
        cancel = undefined
        const leastMs = count < burstSize ? 0 : burstRestMs
        count = 0
        const startedMs = clock.nowMs()
        take(latest)
        const endedMs = clock.nowMs()
        restsUntilMs = endedMs + Math.max(leastMs, Math.min(maxRestMs, endedMs - startedMs))
      })
    },
    close: () => cancel?.(),
  }
}
