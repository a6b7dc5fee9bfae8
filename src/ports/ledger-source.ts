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
