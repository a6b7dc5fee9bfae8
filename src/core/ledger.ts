import { ownsIn } from './compose.js'
import * as PM from './persistent-map.js'
import type { Uid } from './resource.js'
import type { Snapshot } from './snapshot.js'
import { routeType, type TypeUrl, typeUrls } from './type-url.js'
import type { FleetState, StreamId } from './xds/fleet.js'
import type { Holding, Unsure } from './xds/holding.js'
import type { NodeIdentity } from './xds/messages.js'
import { mayHoldUnknown, type NodeMemory, tablesBefore, tablesIn } from './xds/node-memory.js'
import { dataPlaneOf, ownersOf, type Session } from './xds/session-state.js'
import type { Search } from './xds/search.js'
import type { InFlight } from './xds/watch.js'

/**
 * What every Envoy holds, as far as its own answers prove: of each node and resource what it was sent, has
 * accepted, has refused, and what is unsure.
 *
 * A view of the streams' own books, by reference: a fleet costs memory for what is outstanding, not for
 * what it holds. An ACK speaks for Envoy's main thread; its workers follow within milliseconds.
 */
export interface Ledger {
  readonly snapshot: Snapshot | undefined
  readonly nodes: ReadonlyArray<LedgerNode>
  /** How many lost nodes were forgotten, since there were too many: of these nothing can be said. */
  readonly forgotten: number
  /** How many streams have turned out, so far, to be of Envoys that came with something. */
  readonly returns: number
}

/** One Envoy process: on one stream, or lost, with what it had. */
export interface LedgerNode {
  /** Its node id. Several live streams may have the same one: they are several nodes. */
  readonly id: string
  readonly node: NodeIdentity
  readonly dataPlane: string
  readonly connected: boolean
  /** Two streams had its id at once, at some time: what was lost of it no single one settles. */
  readonly isShared: boolean
  /** The stream that it is on; `undefined` of one that is lost. */
  readonly stream: StreamId | undefined
  /** What it has accepted, and what nobody can be sure of, by type. */
  readonly holdings: Readonly<Partial<Record<TypeUrl, Holding>>>
  /** The responses that it has not answered, by type. */
  readonly inFlight: Readonly<Partial<Record<TypeUrl, ReadonlyArray<InFlight>>>>
  /** The route tables that it asks for, or was left with, and all that it may hold of each. */
  readonly tables: PM.PersistentMap<Unsure>
  /** It came with something, and has not yet said which route tables it has. */
  readonly isUnknown: boolean
  readonly refusals: ReadonlyArray<Refusal>
}

/** What one Envoy does not take. */
export interface Refusal {
  readonly node: string
  readonly typeUrl: TypeUrl
  /** A resource, or the uid of an object in its route tables. */
  readonly name: string
  /** The objects that stand in it. */
  readonly owners: ReadonlyArray<Uid>
  /** In the Envoy's words. */
  readonly message: string
}

/** Reads the ledger of a fleet. Costs O(nodes). */
export const ledgerOf = (state: FleetState): Ledger => {
  const { snapshot, sessions, memory, forgotten } = state
  const connected = [...PM.entries(sessions)].flatMap(({ name, session }) =>
    session.node === undefined ? [] : [connectedNode(name, session, session.node)],
  )
  const ids = new Set(connected.map(({ id }) => id))
  const lost = [...memory.values()].filter(({ name, isShared }) => isShared || !ids.has(name))
  return {
    snapshot,
    forgotten,
    returns: state.returns,
    nodes: [...connected, ...lost.map((memory) => lostNode(memory, snapshot))],
  }
}

const lostNode = (memory: NodeMemory, snapshot: Snapshot | undefined): LedgerNode => {
  const { name, node, dataPlane, tables, isUnknown, isShared, searches } = memory
  return {
    id: name,
    node,
    dataPlane,
    connected: false,
    isShared,
    stream: undefined,
    holdings: {},
    inFlight: {},
    tables,
    isUnknown,
    refusals: typeUrls.flatMap((typeUrl) =>
      refusalsIn(searches[typeUrl], { node, snapshot }, typeUrl),
    ),
  }
}

const refusalsIn = (
  search: Search | undefined,
  of: Pick<Session, 'node' | 'snapshot'>,
  typeUrl: TypeUrl,
): ReadonlyArray<Refusal> =>
  [...(search?.convicted.values() ?? [])].map(({ unit, evidence: { message } }) => ({
    node: of.node?.id ?? '',
    typeUrl,
    name: unit.name,
    owners: ownersOf(of, typeUrl, unit),
    message,
  }))

const connectedNode = (stream: StreamId, session: Session, node: NodeIdentity): LedgerNode => {
  const { watches } = session
  const holdings: Partial<Record<TypeUrl, Holding>> = {}
  const inFlight: Partial<Record<TypeUrl, ReadonlyArray<InFlight>>> = {}
  for (const typeUrl of typeUrls) {
    const watch = watches[typeUrl]
    if (watch === undefined) continue
    holdings[typeUrl] = watch.holding
    inFlight[typeUrl] = watch.inFlight
  }
  const routes = watches[routeType]
  return {
    id: node.id,
    node,
    dataPlane: dataPlaneOf(node),
    connected: true,
    isShared: session.memory?.isShared === true,
    stream,
    holdings,
    inFlight,
    tables: routes === undefined ? tablesBefore(session) : tablesIn(routes, routes.holding),
    isUnknown: mayHoldUnknown(session),
    refusals: typeUrls.flatMap((typeUrl) => refusalsIn(watches[typeUrl]?.search, session, typeUrl)),
  }
}

/** What any Envoy refuses. */
export const refusalsOf = ({ nodes }: Ledger): ReadonlyArray<Refusal> =>
  nodes.flatMap(({ refusals }) => refusals)

/**
 * The nodes that may still serve something of an object, lost ones among them. None: it is gone from every
 * Envoy, and their own ACKs have said so.
 *
 * A node may serve what it has accepted, what it was sent since, and whatever it had before anybody took
 * notes. Clusters and endpoints are reached through route tables only, and are not asked. All tables that it asks for
 * count, of whatever form: those of a listener that it drains too. Costs O(log n) for each table, once for all nodes
 * that hold the very same.
 */
export const mayStillServe = ({ nodes }: Ledger, uid: Uid): ReadonlyArray<LedgerNode> =>
  nodes.filter((node) => mayServe(node, uid))

const mayServe = ({ tables, inFlight, isUnknown }: LedgerNode, uid: Uid): boolean => {
  if (isUnknown) return true
  const onItsWay = inFlight[routeType] ?? []
  if (onItsWay.some(({ resources }) => resources.some((table) => ownsIn(table, uid)))) return true
  return tables !== undefined && mayOwn(tables, uid)
}

/** Asked once for all nodes that hold the very same, as most of a fleet do. */
const mayOwn = (tables: NonNullable<LedgerNode['tables']>, uid: Uid): boolean => {
  const known = owning.get(tables) ?? new Map<Uid, boolean>()
  owning.set(tables, known)
  const hit = known.get(uid)
  if (hit !== undefined) return hit
  const mayOwnIt = [...PM.entries(tables)].some(
    ({ accepted, forms, isUnknown }) =>
      isUnknown ||
      (accepted !== undefined && ownsIn(accepted, uid)) ||
      forms.some((table) => ownsIn(table, uid)),
  )
  known.set(uid, mayOwnIt)
  return mayOwnIt
}

/** As long as a node holds these tables; of the objects that are asked for, which are those that are deleted. */
const owning = new WeakMap<NonNullable<LedgerNode['tables']>, Map<Uid, boolean>>()
