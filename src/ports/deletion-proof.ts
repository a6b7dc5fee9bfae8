import type { LedgerSource } from './ledger-source.js'

/** Whoever can prove that the Envoys have let go of a route. */
export interface DeletionProof extends LedgerSource {
  /**
   * Says whether a deletion waits for proof. As long as one does, nothing but an ACK on its present stream
   * shows what route tables an Envoy holds: versions that it came with do not, since after a refusal they need not
   * be those of what it has, and tables of which only they tell are sent once more.
   */
  readonly demandAcks: (isOn: boolean) => void
  /** Lets routes go to the node of this id, once it is on the roster. */
  readonly admit: (id: string) => void
  /**
   * Forgets what a lost node may hold. One that is connected stays what it is; if its id is shared, what the others
   * left behind is forgotten, and it speaks for itself again if it alone is connected.
   */
  readonly forget: (id: string) => Forgetting
}

/** What became of a wish to forget a node. */
export type Forgetting =
  | 'Forgotten'
  /** It is connected, and shares its id with no other one: what it says itself is what counts. */
  | 'Connected'
  | 'Unknown'
