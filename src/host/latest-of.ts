import type { Clock } from '../ports/clock.js'

/** The longest rest after a pass, in milliseconds: what has changed meanwhile is not to wait for longer. */
const maxRestMs = 1_000

/**
 * Hands on the latest of the values that arrive together, one macrotask after the first of them: a
 * lone change is not held up, and a burst costs one pass.
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
  let restsUntilMs = -Infinity
  return {
    put: (value) => {
      latest = value
      cancel ??= clock.after(Math.max(0, restsUntilMs - clock.nowMs()), () => {
        cancel = undefined
        const startedMs = clock.nowMs()
        take(latest)
        const endedMs = clock.nowMs()
        restsUntilMs = endedMs + Math.min(maxRestMs, endedMs - startedMs)
      })
    },
    close: () => cancel?.(),
  }
}
