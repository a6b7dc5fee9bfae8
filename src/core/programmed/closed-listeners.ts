import type { Ledger, LedgerNode, Refusal } from '../ledger.js'
import { compareStrings } from '../order.js'
import * as PM from '../persistent-map.js'
import { viewOf } from '../snapshot.js'
import { listenerType } from '../type-url.js'
import { lastAccepted } from '../xds/holding.js'

/**
 * The listeners that a node refuses and has in no form: nothing is served where they would listen, whatever
 * tables the node has accepted. By name.
 *
 * One that it had accepted before goes on in that form, and serves every route as before. Costs O(what it
 * refuses).
 */
export const closedListenersOf = (node: LedgerNode): ReadonlyArray<Refusal> =>
  node.refusals
    .filter(({ typeUrl, name }) => typeUrl === listenerType && !hasListener(node, name))
    .sort((a, b) => compareStrings(a.name, b.name))

/**
 * True if a node has accepted some form of every listener that its data plane publishes; and of one that
 * asks for no listeners, which has its own. Costs O(listeners).
 */
export const hasEveryListener = ({ snapshot }: Ledger, node: LedgerNode): boolean =>
  node.holdings[listenerType] === undefined ||
  snapshot === undefined ||
  [...PM.entries(viewOf(snapshot, node.dataPlane)[listenerType])].every(({ name }) =>
    hasListener(node, name),
  )

const hasListener = ({ holdings }: LedgerNode, name: string): boolean => {
  const holding = holdings[listenerType]
  return holding !== undefined && lastAccepted(holding, name) !== undefined
}
