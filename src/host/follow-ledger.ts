import type { Clock } from '../ports/clock.js'
import type { LedgerSource } from '../ports/ledger-source.js'

/**
 * How long changes of the ledger are gathered before anybody looks at them, in milliseconds: one change
 * of the routes is a handful of messages for each of many Envoys, and a person does not see the delay.
 */
export const statusDelayMs = 50

/**
 * The same while a deletion waits for the Envoys, in milliseconds: somebody waits for that, and nothing may be
 * held up by it for longer than it takes.
 */
export const proofDelayMs = 5

/** Someone who looks at a ledger when there is a reason. */
export interface LedgerFollower {
  /** Looks as soon as if the ledger had changed. */
  readonly lookSoon: () => void
  readonly close: () => void
}

/**
 * Calls `look` within `delayMs()` after the ledger has changed, or it was asked to, once for all changes of that
 * time. After `close` nothing is called, and no timer is left. `look` must not throw.
 */
export const followLedger = (
  source: LedgerSource,
  clock: Clock,
  look: () => void,
  delayMs: () => number = (): number => statusDelayMs,
): LedgerFollower => {
  let changed: (() => void) | undefined
  const lookSoon = (): void => {
    changed ??= clock.after(delayMs(), () => {
      changed = undefined
      look()
    })
  }
  const stopListening = source.onLedgerChange(lookSoon)
  const close = (): void => {
    stopListening()
    changed?.()
  }
  return { lookSoon, close }
}
