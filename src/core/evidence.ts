import type { Evidence, NotYet } from './deletion.js'
import { type Ledger, type LedgerNode, mayStillServe } from './ledger.js'
import { named } from './programmed/statement.js'
import type { Uid } from './resource.js'
import { maxRemembered } from './xds/fleet.js'

/**
 * What the ledger proves of an object. `closed` is a reason why nothing counts as proven at the moment, whatever
 * the ledger says; the Envoys that are owed come first, since a person can do something about these.
 */
export const evidenceOf = (ledger: Ledger, closed: NotYet | undefined, uid: Uid): Evidence => {
  const owed = mayStillServe(ledger, uid)
  if (owed.length > 0) return { _tag: 'Owed', ...named(owed.map(({ id }) => id)) }
  return closed ?? unknownTo(ledger) ?? { _tag: 'Clear', returns: ledger.returns }
}

/** Of Envoys that were forgotten, since there were too many of them, nobody knows what they serve. */
const unknownTo = ({ forgotten }: Ledger): NotYet | undefined =>
  forgotten === 0
    ? undefined
    : {
        _tag: 'RosterUnsaved',
        message:
          `more than ${maxRemembered} Envoys were lost, and ${forgotten} of them are remembered no more; ` +
          'if they are gone for good, start the control plane anew',
      }

/**
 * The nodes of one ledger that are not in a later one: nothing but being forgotten takes a node out that may serve
 * something. One that has come back is in it, save that a single one does not stand for those that share its id.
 * Costs O(nodes).
 */
export const forgottenSince = (before: Ledger, after: Ledger): ReadonlyArray<LedgerNode> => {
  if (before === after) return []
  const there = new Set(after.nodes.map(({ id }) => id))
  const lost = new Set(after.nodes.flatMap(({ id, connected }) => (connected ? [] : [id])))
  return before.nodes.filter(
    ({ id, connected, isShared }) => !(isShared && !connected ? lost : there).has(id),
  )
}
