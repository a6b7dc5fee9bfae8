import type { Clock } from '../ports/clock.js'

/**
 * Hands on the latest of the values that arrive together, one macrotask after the first of them: a
 * lone change is not held up, and a burst costs one pass.
 */
export const latestOf = <A>(
  clock: Clock,
  take: (value: A) => void,
): { readonly put: (value: A) => void; readonly close: () => void } => {
  let cancel: (() => void) | undefined
  let latest: A
  return {
    put: (value) => {
      latest = value
      cancel ??= clock.after(0, () => {
        cancel = undefined
        take(latest)
      })
    },
    close: () => cancel?.(),
  }
}
