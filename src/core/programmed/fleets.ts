import { type Ledger, type LedgerNode, type Refusal } from '../ledger.js'
import type { OrderedMap } from '../ordered-map.js'
import { holdsEveryTable, progressOf } from '../progress.js'
import type { Uid } from '../resource.js'
import { type Snapshot, versionOf, viewOf } from '../snapshot.js'
import { routeType } from '../type-url.js'
import type { Verdict } from '../verdict.js'
import type { StreamId } from '../xds/fleet.js'
import { closedListenersOf, hasEveryListener } from './closed-listeners.js'
import { closedBy, type RefusedBy } from './statement.js'

/** What there is to see at one moment. */
export interface Observation {
  /** The ledger of whoever was given the snapshot. */
  readonly ledger: Ledger
  /** What is published, and the verdicts that belong to it. */
  readonly snapshot: Snapshot
  readonly verdicts: OrderedMap<Verdict>
  /** In milliseconds, never going back. */
  readonly nowMs: number
}

/** What is noted of a node as long as its stream lasts. */
export interface NodeState {
  /** What it has still to accept before it counts; `undefined` once it counts. */
  readonly joining: ReadonlySet<Uid> | undefined
  readonly lags: ReadonlyMap<Uid, Lag>
}

/** That a node which counts has not accepted a route as it is published. */
export interface Lag {
  readonly generation: number
  /** In milliseconds. */
  readonly since: number
}

/** What the nodes of one data plane have to say of its routes. */
export interface Fleet {
  readonly dataPlane: string
  /** How many nodes there are, lost ones included. */
  readonly size: number
  /** The ids of those that are connected. */
  readonly connected: ReadonlyArray<string>
  /** True if at least one node counts. */
  readonly counts: boolean
  /** The nodes that count and are behind with a route. */
  readonly late: ReadonlyMap<Uid, ReadonlyArray<LateNode>>
  readonly refusals: ReadonlyMap<Uid, ReadonlyArray<Refusal>>
  /** That nodes refuse a listener and have it in no form; each listener carries every route. */
  readonly closed: RefusedBy | undefined
}

export interface LateNode {
  readonly id: string
  /** In milliseconds. */
  readonly since: number
}

/** Each data plane that is published, by name, and what is to be noted of each connected node. */
export interface Fleets {
  readonly fleets: ReadonlyMap<string, Fleet>
  readonly nodes: ReadonlyMap<StreamId, NodeState>
}

/** Asks the nodes of all data planes. Costs O(nodes), and what they are behind with. */
export const fleetsOf = (before: ReadonlyMap<StreamId, NodeState>, seen: Observation): Fleets => {
  const members = new Map<string, Array<LedgerNode>>()
  for (const dataPlane of seen.snapshot.dataPlanes.keys()) members.set(dataPlane, [])
  for (const node of seen.ledger.nodes) members.get(node.dataPlane)?.push(node)
  const nodes = new Map<StreamId, NodeState>()
  const fleets = new Map<string, Fleet>()
  for (const [dataPlane, all] of members) {
    const isCurrent = isPublished(seen, dataPlane)
    for (const node of all) {
      if (node.stream === undefined) continue
      const known = before.get(node.stream)
      const noted = isCurrent ? note(known, node, seen) : known
      if (noted !== undefined) nodes.set(node.stream, noted)
    }
    fleets.set(dataPlane, fleetOf(dataPlane, all, isCurrent ? nodes : nobody))
  }
  return { fleets, nodes }
}

const nobody: ReadonlyMap<StreamId, NodeState> = new Map()

/** True if the ledger is one of these route tables: else it says nothing of them. */
const isPublished = ({ ledger, snapshot }: Observation, dataPlane: string): boolean =>
  ledger.snapshot === snapshot ||
  (ledger.snapshot !== undefined &&
    tablesVersion(ledger.snapshot, dataPlane) === tablesVersion(snapshot, dataPlane))

const tablesVersion = (snapshot: Snapshot, dataPlane: string): string =>
  versionOf(viewOf(snapshot, dataPlane)[routeType])

const fleetOf = (
  dataPlane: string,
  all: ReadonlyArray<LedgerNode>,
  nodes: ReadonlyMap<StreamId, NodeState>,
): Fleet => {
  const late = new Map<Uid, Array<LateNode>>()
  const refusals = new Map<Uid, Array<Refusal>>()
  const closed: Array<Refusal> = []
  let counts = false
  for (const node of all) {
    const noted = node.stream === undefined ? undefined : nodes.get(node.stream)
    if (noted === undefined) continue
    for (const [uid, refusal] of refusedIn(node)) append(refusals, uid, refusal)
    closed.push(...closedListenersOf(node).slice(0, 1))
    if (noted.joining !== undefined) continue
    counts = true
    for (const [uid, { since }] of noted.lags) append(late, uid, { id: node.id, since })
  }
  const connected = all.filter((node) => node.connected).map(({ id }) => id)
  return {
    dataPlane,
    size: all.length,
    connected,
    counts,
    late,
    refusals,
    closed: closedBy(dataPlane, closed),
  }
}

const append = <A>(lists: Map<Uid, Array<A>>, uid: Uid, item: A): void => {
  const others = lists.get(uid)
  if (others === undefined) lists.set(uid, [item])
  else others.push(item)
}

/** Of each object that a node refuses something of, the first that it refuses. */
const refusedIn = ({ refusals }: LedgerNode): ReadonlyMap<Uid, Refusal> => {
  const first = new Map<Uid, Refusal>()
  for (const refusal of refusals)
    for (const uid of refusal.owners) if (!first.has(uid)) first.set(uid, refusal)
  return first
}

const note = (
  before: NodeState | undefined,
  node: LedgerNode,
  { ledger, verdicts, nowMs }: Observation,
): NodeState => {
  const refused = refusedIn(node)
  const behind = [...progressOf(ledger, node).behind].filter((uid) => !refused.has(uid))
  if (before === undefined || before.joining !== undefined) {
    const owed = before?.joining
    const joining = owed === undefined ? behind : behind.filter((uid) => owed.has(uid))
    if (joining.length > 0 || !holdsEveryTable(ledger, node) || !hasEveryListener(ledger, node))
      return { joining: new Set(joining), lags: noLags }
  }
  return behind.length === 0
    ? upToDate
    : { joining: undefined, lags: lagsOf(before?.lags ?? noLags, behind, verdicts, nowMs) }
}

const noLags: ReadonlyMap<Uid, Lag> = new Map()
const upToDate: NodeState = { joining: undefined, lags: noLags }

/**
 * A new generation is a new beginning: a route that is changed all the time would be late with no node
 * that is.
 */
const lagsOf = (
  before: ReadonlyMap<Uid, Lag>,
  behind: ReadonlyArray<Uid>,
  verdicts: ReadonlyMap<Uid, Verdict>,
  nowMs: number,
): ReadonlyMap<Uid, Lag> => {
  const lags = new Map<Uid, Lag>()
  for (const uid of behind) {
    const generation = verdicts.get(uid)?.generation
    if (generation === undefined) continue
    const known = before.get(uid)
    lags.set(uid, known?.generation === generation ? known : { generation, since: nowMs })
  }
  return lags
}
