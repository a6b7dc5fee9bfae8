import { type LedgerNode, mayStillServe } from '../core/ledger.js'
import { named } from '../core/programmed/statement.js'
import { showNodes } from '../core/status.js'
import type { Logger } from '../ports/logger.js'
import type { Reconciled } from './reconcile.js'

/** What a pass knows of the Envoys, and of what waits for them. */
export type Waited = Pick<Reconciled, 'ledger' | 'deletions'>

/**
 * Makes a function that warns of lost Envoys which deletions wait for, as soon as there are more of them than at the
 * last call: one that is away confirms nothing, and may be away for ever. All of a moment are one line.
 */
export const lostReporter = ({ log }: Logger): ((waited: Waited) => void) => {
  let seen: Waited | undefined
  let known: ReadonlySet<string> = new Set()
  return (waited) => {
    const { ledger, deletions } = waited
    if (ledger === seen?.ledger && deletions.pending === seen?.deletions.pending) return
    seen = waited
    const holders = new Set(lostHolders(waited).map(({ id }) => id))
    const more = [...holders].filter((id) => !known.has(id))
    known = holders
    if (more.length > 0) log('warn', lostWords, { nodes: showNodes(named(more)) })
  }
}

const lostWords =
  'deletions wait for Envoys that are lost: they confirm when they are back, or are to be forgotten'

/** The lost nodes that may still serve something of what is to be deleted. Costs O(deletions) for each at most. */
const lostHolders = ({ ledger, deletions: { pending } }: Waited): ReadonlyArray<LedgerNode> => {
  if (ledger === undefined || pending.size === 0) return []
  const lost = ledger.nodes.filter(({ connected }) => !connected)
  const mayServe = (node: LedgerNode, uid: string): boolean =>
    mayStillServe({ ...ledger, nodes: [node] }, uid).length > 0
  return lost.filter((node) => [...pending].some((uid) => mayServe(node, uid)))
}
