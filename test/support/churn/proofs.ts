import { type Ledger, mayStillServe } from '../../../src/core/ledger.js'
import { progressOf } from '../../../src/core/progress.js'

/** What the Envoys have proven by their ACKs, of what was published last. */
export interface Proofs {
  /** Has this Envoy ACKed the present form of this object? */
  readonly isProgrammed: (envoy: string, uid: string) => boolean
  /** Has this Envoy ACKed that this object, which is not published any more, is gone? */
  readonly isGone: (envoy: string, uid: string) => boolean
}

/** What a ledger says, which the Envoys' answers are then to bear out. */
export const proofsIn = (ledger: Ledger): Proofs => {
  const behind = new Map(
    ledger.nodes
      .filter(({ connected }) => connected)
      .map((node) => [node.id, progressOf(ledger, node).behind]),
  )
  return {
    isProgrammed: (envoy, uid) => behind.get(envoy)?.has(uid) === false,
    isGone: (envoy, uid) =>
      behind.has(envoy) && !mayStillServe(ledger, uid).some(({ id }) => id === envoy),
  }
}
