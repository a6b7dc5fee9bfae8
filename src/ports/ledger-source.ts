import type { Ledger } from '../core/ledger.js'

/** Whoever knows what Envoys hold. */
export interface LedgerSource {
  /** What each node holds, as far as is known at the moment. Costs O(nodes). */
  readonly ledger: () => Ledger
  /**
   * Calls the listener whenever the ledger may have changed, until the returned function is called. The
   * listener must not throw and must not wait; it is called often, so it should note that and no more.
   */
  readonly onLedgerChange: (listener: () => void) => () => void
}

/** A set of listeners that are called together. */
export interface Listeners {
  readonly ring: () => void
  readonly listen: (listener: () => void) => () => void
}

export const listeners = (): Listeners => {
  const all = new Set<{ readonly call: () => void }>()
  return {
    ring: () => {
      for (const { call } of [...all]) call()
    },
    listen: (call) => {
      const entry = { call }
      all.add(entry)
      return () => {
        all.delete(entry)
      }
    },
  }
}
