import type { RecordedFact } from '../core/deletions.js'
import type { Uid } from '../core/resource.js'
import type { SourceState } from '../ports/route-source.js'
import {
  type DeletionsChange,
  lookAgain,
  nothingYet,
  reconcile,
  type Reconciled,
  type Reconciliation,
  type ReconcilePorts,
  renew,
  settleDeletions,
} from './reconcile.js'

/** What is known, and what it goes on by: one pass after the other. */
export interface Passes {
  readonly state: () => Reconciled
  /** Takes in a state of the source. */
  readonly reconcile: (seen: SourceState) => void
  /** Asks the Envoys again; with `uid` about that object only. */
  readonly look: (uid?: Uid) => void
  readonly settle: (change: DeletionsChange) => void
  /** Translates everything anew. */
  readonly renew: () => void
}

export interface PassHandlers {
  /** Is told what each pass has changed. What it throws is a bug. */
  readonly onPass: (
    before: Reconciled,
    after: Reconciled,
    facts: ReadonlyArray<RecordedFact>,
  ) => void
  readonly onBug: (bug: unknown) => void
}

/** Makes passes, until `stop` aborts; `onBug` is to see to that after a bug. */
export const passesOf = (
  ports: ReconcilePorts,
  { onPass, onBug }: PassHandlers,
  stop: AbortSignal,
): Passes => {
  let state: Reconciled = { ...nothingYet, ledger: ports.proof?.ledger() }
  const pass = (next: (before: Reconciled) => Reconciliation): void => {
    if (stop.aborted) return
    try {
      const before = state
      const [after, facts] = next(before)
      state = after
      onPass(before, after, facts)
    } catch (bug) {
      onBug(bug)
    }
  }
  return {
    state: () => state,
    reconcile: (seen) => pass((before) => reconcile(ports, before, seen)),
    look: (uid) => pass((before) => lookAgain(ports, before, uid)),
    settle: (change) => pass((before) => settleDeletions(ports, before, change)),
    renew: () => pass((before) => renew(ports, before)),
  }
}
