import { changedKeys, emptyOrderedMap, type OrderedMap, withValues } from './ordered-map.js'
import { type Fleet, fleetsOf, type NodeState, type Observation } from './programmed/fleets.js'
import { movedRoutes, placesOf, routesIn } from './programmed/places.js'
import {
  isSameStatement,
  named,
  type Programmed,
  type RefusedBy,
  refusedBy,
} from './programmed/statement.js'
import type { Uid } from './resource.js'
import type { Snapshot } from './snapshot.js'
import type { Verdict } from './verdict.js'
import type { StreamId } from './xds/fleet.js'

export type { Lag, NodeState, Observation } from './programmed/fleets.js'
export {
  type ListenerName,
  maxNamedNodes,
  type NamedNodes,
  type Programmed,
  type RefusedBy,
} from './programmed/statement.js'

/**
 * How long an Envoy may be behind before that is said of a route, in milliseconds: a change takes
 * milliseconds, and a cluster that does not become ready is taken out after 5 s.
 */
export const lagGraceMs = 10_000

/** What was said, and what it rests on. */
export interface ProgrammedState {
  readonly snapshot: Snapshot | undefined
  readonly verdicts: OrderedMap<Verdict>
  /** The data planes without a node. */
  readonly empty: ReadonlySet<string>
  /** The data planes of which nodes refuse a listener. */
  readonly closed: ReadonlyMap<string, RefusedBy>
  readonly nodes: ReadonlyMap<StreamId, NodeState>
  readonly statements: OrderedMap<Programmed>
  /** The routes of which something else may be said as soon as nodes say something else. */
  readonly open: ReadonlySet<Uid>
  /** When the next grace is over, in milliseconds. */
  readonly due: number | undefined
}

export type ProgrammedStep = readonly [state: ProgrammedState, statements: OrderedMap<Programmed>]

/** Nothing was seen yet. */
export const nothingProgrammed: ProgrammedState = {
  snapshot: undefined,
  verdicts: emptyOrderedMap,
  empty: new Set(),
  closed: new Map(),
  nodes: new Map(),
  statements: emptyOrderedMap,
  open: new Set(),
  due: undefined,
}

/**
 * Says of each route that is served how far the Envoys of its data plane are with it.
 *
 * | what the ledger shows                        | what is said                              |
 * | -------------------------------------------- | ----------------------------------------- |
 * | no node, and none that was lost              | NoEnvoy                                   |
 * | a node refuses it                            | Refused                                   |
 * | one refuses a listener, and has no form of it | Refused                                   |
 * | no node counts, or it is not of the snapshot | what was said before; else Pending        |
 * | no node that counts is behind with it        | Programmed                                |
 * | one is, and it was not programmed before     | Pending                                   |
 * | one is, for less than `lagGraceMs`           | what was said before, of its generation   |
 * | one is, for longer                           | Lagging                                   |
 *
 * A node counts as soon as it has accepted every listener and route table in some form, and once each object
 * that it was behind with when it was seen first, save what it refuses; and until its stream ends. So an Envoy
 * that comes, one that goes, and one that is a little late never take back that a route is programmed.
 *
 * Guarantees: an equal statement is the same reference, and so are all of them together. Costs
 * O(nodes) and what they are behind with, and O(d log n) for d routes that are to be looked at: see `concerned`.
 */
export const stepProgrammed = (state: ProgrammedState, seen: Observation): ProgrammedStep => {
  const { snapshot, verdicts, nowMs } = seen
  const { fleets, nodes } = fleetsOf(state.nodes, seen)
  const uids = concerned(state, seen, fleets)
  const places = placesOf(snapshot, uids)
  const edits = new Map<Uid, Programmed | undefined>()
  const open = new Set<Uid>()
  let due: number | undefined
  for (const uid of uids) if (!places.has(uid)) edits.set(uid, undefined)
  for (const [uid, dataPlane] of places) {
    const fleet = fleets.get(dataPlane)
    const generation = verdicts.get(uid)?.generation
    if (generation === undefined || fleet === undefined) continue
    const before = state.statements.get(uid)
    const { statement, until } = sayOf(fleet, uid, generation, before, nowMs)
    if (until !== undefined && (due === undefined || until < due)) due = until
    if (isOpen(statement, fleet, generation)) open.add(uid)
    if (!isSameStatement(before, statement)) edits.set(uid, statement)
  }
  const statements = withValues(state.statements, edits)
  const next = { snapshot, verdicts, ...alikeIn(fleets), nodes, statements, open, due }
  return [next, statements]
}

/** When `stepProgrammed` is to look again even if nothing has happened, in milliseconds. */
export const nextProgrammedTimer = ({ due }: ProgrammedState): number | undefined => due

/** What is the same for all routes of a data plane. */
const alikeIn = (fleets: ReadonlyMap<string, Fleet>): Pick<ProgrammedState, 'empty' | 'closed'> => {
  const empty = new Set<string>()
  const closed = new Map<string, RefusedBy>()
  for (const [dataPlane, fleet] of fleets) {
    if (fleet.size === 0) empty.add(dataPlane)
    if (fleet.closed !== undefined) closed.set(dataPlane, fleet.closed)
  }
  return { empty, closed }
}

/**
 * The routes of which something else may be to be said than before: those that are open, that Envoys are late with or
 * refuse; whose verdicts are others, which is how a generation changes; that have come to their place or left it; all
 * of a data plane that has got its first Envoy, has lost its last one, or of which an Envoy refuses another listener.
 * At the first look also those that something is said of already.
 */
const concerned = (
  state: ProgrammedState,
  { snapshot, verdicts }: Observation,
  fleets: ReadonlyMap<string, Fleet>,
): ReadonlySet<Uid> => {
  const uids = new Set(state.open)
  const addAll = (others: Iterable<Uid>): void => {
    for (const uid of others) uids.add(uid)
  }
  if (state.snapshot === undefined) addAll(state.statements.keys())
  if (state.snapshot !== snapshot) addAll(movedRoutes(state.snapshot, snapshot))
  addAll(changedKeys(state.verdicts, verdicts))
  for (const fleet of fleets.values()) {
    addAll(fleet.late.keys())
    addAll(fleet.refusals.keys())
    if (!isAlike(state, fleet)) addAll(routesIn(snapshot, fleet.dataPlane))
  }
  return uids
}

/** (What is closed is plain data, always put together in the same order of fields.) */
const isAlike = (
  { empty, closed }: ProgrammedState,
  { dataPlane, size, closed: isClosed }: Fleet,
): boolean =>
  empty.has(dataPlane) === (size === 0) &&
  JSON.stringify(closed.get(dataPlane)) === JSON.stringify(isClosed)

/**
 * That there is no Envoy, or that one refuses a listener, changes only for all routes of a data plane together. What
 * an Envoy says of the route alone is looked at in any case.
 */
const isOpen = (statement: Programmed, { closed }: Fleet, generation: number): boolean => {
  switch (statement._tag) {
    case 'NoEnvoy':
      return false
    case 'Programmed':
      return statement.generation !== generation
    case 'Refused':
      return statement.listener === undefined || closed === undefined
    case 'Pending':
    case 'Lagging':
      return true
  }
}

/** What is said of a route; and until when, if it is said only because a node has a little time. */
interface Said {
  readonly statement: Programmed
  readonly until?: number
}

const sayOf = (
  { dataPlane, size, connected, counts, late, refusals, closed }: Fleet,
  uid: Uid,
  generation: number,
  before: Programmed | undefined,
  nowMs: number,
): Said => {
  if (size === 0) return { statement: { _tag: 'NoEnvoy', generation, dataPlane } }
  const own = refusals.get(uid)
  const refused = own === undefined ? closed : refusedBy(own)
  if (refused !== undefined) return { statement: { _tag: 'Refused', generation, ...refused } }
  const wasSaid = before !== undefined && before._tag !== 'NoEnvoy' && before._tag !== 'Pending'
  if (!counts)
    return { statement: wasSaid ? before : { _tag: 'Pending', generation, ...named(connected) } }
  const behind = late.get(uid)
  if (behind === undefined) return { statement: { _tag: 'Programmed', generation } }
  const nodes = named(behind.map(({ id }) => id))
  const until = lagGraceMs + behind.reduce((first, { since }) => Math.min(first, since), nowMs)
  if (before?._tag === 'Programmed' && until > nowMs) return { statement: before, until }
  const wasProgrammed = before?._tag === 'Programmed' || before?._tag === 'Lagging'
  return { statement: { _tag: wasProgrammed ? 'Lagging' : 'Pending', generation, ...nodes } }
}
