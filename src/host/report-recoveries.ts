import { ownsIn } from '../core/compose.js'
import { type Ledger, type LedgerNode, type Refusal, refusalsOf } from '../core/ledger.js'
import * as PM from '../core/persistent-map.js'
import { progressOf } from '../core/progress.js'
import type { Uid } from '../core/resource.js'
import { viewOf } from '../core/snapshot.js'
import { routeType, showTypeUrl } from '../core/type-url.js'
import { holdsNothing, isCertain } from '../core/xds/holding.js'
import type { Clock } from '../ports/clock.js'
import type { LedgerSource } from '../ports/ledger-source.js'
import type { Logger } from '../ports/logger.js'
import { followLedger } from './follow-ledger.js'
import { type ObserveOptions, showOwners } from './observe-xds.js'

export interface RecoveryPorts extends ObserveOptions {
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Logs at `info` that an Envoy takes again what it has refused, or that this is wanted no more: the end of what
 * `observeXds` has warned of. Goes on until the returned function is called.
 *
 * An end is told when the Envoy has accepted what is published, not when it is tried again. Of an Envoy that is
 * forgotten nothing is told. Looks when the ledger has changed, at most every `statusDelayMs`: what is refused for
 * less than that may go unseen. A look costs O(nodes).
 */
export const reportRecoveries = (
  source: LedgerSource,
  { clock, logger, nameOf = (): undefined => undefined }: RecoveryPorts,
): (() => void) => {
  let open: OpenRefusals = new Map()
  const look = (): void => {
    const ledger = source.ledger()
    const refused = openRefusals(refusalsOf(ledger), open, nameOf)
    for (const [key, each] of open) {
      if (refused.has(key)) continue
      const end = endOf(ledger, each.refusal)
      if (end === 'Open') refused.set(key, each)
      else if (end !== 'Forgotten') logger.log('info', endWords[end], fieldsOf(each))
    }
    open = refused
  }
  look()
  return followLedger(source, clock, look).close
}

/** Something that an Envoy has refused, until that has ended. */
interface OpenRefusal {
  readonly refusal: Refusal
  /** By name; kept, since an object that is deleted has none any more when it is told of. */
  readonly objects: string | undefined
}

type OpenRefusals = ReadonlyMap<string, OpenRefusal>

const openRefusals = (
  refusals: ReadonlyArray<Refusal>,
  known: OpenRefusals,
  nameOf: (uid: Uid) => string | undefined,
): Map<string, OpenRefusal> =>
  new Map(
    refusals.map((refusal) => {
      const key = JSON.stringify([refusal.node, refusal.typeUrl, refusal.name])
      const objects = showOwners(refusal.owners, nameOf)
      return [key, known.get(key) ?? { refusal, objects }]
    }),
  )

/** How a refusal that stands in the ledger no more has ended, if it has. */
type End = 'Taken' | 'Unwanted' | 'Forgotten' | 'Open'

const endWords = {
  Taken: 'the Envoy takes this again',
  Unwanted: 'what the Envoy has refused is wanted no more',
} as const

const fieldsOf = ({ refusal, objects }: OpenRefusal): Parameters<Logger['log']>[2] => ({
  node: refusal.node,
  type: showTypeUrl(refusal.typeUrl),
  name: refusal.name,
  objects,
})

const endOf = (ledger: Ledger, refusal: Refusal): End => {
  const nodes = ledger.nodes.filter(({ id }) => id === refusal.node)
  if (nodes.length === 0) return 'Forgotten'
  if (!nodes.some((node) => isWanted(ledger, node, refusal))) return 'Unwanted'
  return nodes.every((node) => hasAccepted(ledger, node, refusal)) ? 'Taken' : 'Open'
}

const isWanted = (
  { snapshot }: Ledger,
  { dataPlane }: LedgerNode,
  { typeUrl, name }: Refusal,
): boolean => {
  if (snapshot === undefined) return true
  const goal = viewOf(snapshot, dataPlane)[typeUrl]
  if (PM.get(goal, name) !== undefined) return true
  return typeUrl === routeType && [...PM.entries(goal)].some((table) => ownsIn(table, name))
}

/** Never of one that is lost: what it holds is not known for sure. */
const hasAccepted = (ledger: Ledger, node: LedgerNode, { typeUrl, name }: Refusal): boolean => {
  const { snapshot } = ledger
  const goal = snapshot && PM.get(viewOf(snapshot, node.dataPlane)[typeUrl], name)
  if (goal !== undefined) return isCertain(node.holdings[typeUrl] ?? holdsNothing, goal)
  return typeUrl === routeType && !progressOf(ledger, node).behind.has(name)
}
