import { emptyOrderedMap, type OrderedMap, withValues } from './ordered-map.js'
import * as PM from './persistent-map.js'
import { type Fleet, fleetsOf, type NodeState, type Observation } from './programmed/fleets.js'
import {
  isSameStatement,
  named,
  type Programmed,
  type RefusedBy,
  refusedBy,
} from './programmed/statement.js'
import type { Uid } from './resource.js'
import type { Snapshot } from './snapshot.js'
import { routeType } from './type-url.js'
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
  /** The data plane of each route that is served. */
  readonly places: ReadonlyMap<Uid, string>
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
  places: new Map(),
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
 * O(nodes) and what they are behind with; where the routes, or what is said of a listener, are others than
 * before also O(routes).
 */
export const stepProgrammed = (state: ProgrammedState, seen: Observation): ProgrammedStep => {
  const { snapshot, verdicts, nowMs } = seen
  const places = state.snapshot === snapshot ? state.places : placesOf(snapshot)
  const { fleets, nodes } = fleetsOf(state.nodes, seen)
  const empty = new Set([...fleets.values()].flatMap((of) => (of.size === 0 ? of.dataPlane : [])))
  const closed = closedIn(fleets)
  const changed = new Map<Uid, Programmed>()
  const open = new Set<Uid>()
  let due: number | undefined
  for (const uid of concerned(state, seen, { empty, closed, fleets }) ?? places.keys()) {
    const generation = verdicts.get(uid)?.generation
    const fleet = fleets.get(places.get(uid) ?? '')
    if (generation === undefined || fleet === undefined) continue
    const before = state.statements.get(uid)
    const { statement, until } = sayOf(fleet, uid, generation, before, nowMs)
    if (until !== undefined && (due === undefined || until < due)) due = until
    if (isOpen(statement, fleet, generation)) open.add(uid)
    if (!isSameStatement(before, statement)) changed.set(uid, statement)
  }
  const statements = update(state.statements, changed, state.places === places ? undefined : places)
  const next = { snapshot, verdicts, places, empty, closed, nodes, statements, open, due }
  return [next, statements]
}

/** When `stepProgrammed` is to look again even if nothing has happened, in milliseconds. */
export const nextProgrammedTimer = ({ due }: ProgrammedState): number | undefined => due

const placesOf = ({ dataPlanes }: Snapshot): ReadonlyMap<Uid, string> => {
  const places = new Map<Uid, string>()
  for (const [dataPlane, view] of dataPlanes)
    for (const { owners } of PM.entries(view[routeType]))
      for (const uid of owners) places.set(uid, dataPlane)
  return places
}

const closedIn = (fleets: ReadonlyMap<string, Fleet>): ReadonlyMap<string, RefusedBy> =>
  new Map(
    [...fleets].flatMap(([dataPlane, { closed }]) =>
      closed === undefined ? [] : [[dataPlane, closed] as const],
    ),
  )

/** What is seen of all data planes. */
interface SeenFleets extends Pick<ProgrammedState, 'empty' | 'closed'> {
  readonly fleets: ReadonlyMap<string, Fleet>
}

/** The routes of which something else may be to be said; `undefined` if that is all of them. */
const concerned = (
  state: ProgrammedState,
  { snapshot, verdicts }: Observation,
  { empty, closed, fleets }: SeenFleets,
): ReadonlySet<Uid> | undefined => {
  const isSameWorld =
    state.snapshot === snapshot &&
    state.verdicts === verdicts &&
    state.empty.size === empty.size &&
    [...empty].every((dataPlane) => state.empty.has(dataPlane)) &&
    isSameClosed(state.closed, closed)
  if (!isSameWorld) return undefined
  const uids = new Set(state.open)
  for (const { late, refusals } of fleets.values()) {
    for (const uid of late.keys()) uids.add(uid)
    for (const uid of refusals.keys()) uids.add(uid)
  }
  return uids
}

/** (They are plain data, always put together in the same order of fields.) */
const isSameClosed = (
  before: ProgrammedState['closed'],
  after: ProgrammedState['closed'],
): boolean =>
  before.size === after.size &&
  [...after].every(([of, refused]) => JSON.stringify(before.get(of)) === JSON.stringify(refused))

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

/** With what has changed, and without what is in none of `places`, if these have changed. */
const update = (
  statements: OrderedMap<Programmed>,
  changed: ReadonlyMap<Uid, Programmed>,
  places: ReadonlyMap<Uid, string> | undefined,
): OrderedMap<Programmed> => {
  const gone = places === undefined ? [] : [...statements.keys()].filter((uid) => !places.has(uid))
  if (changed.size === 0 && gone.length === 0) return statements
  const edits = new Map<Uid, Programmed | undefined>(changed)
  for (const uid of gone) edits.set(uid, undefined)
  return withValues(statements, edits)
}
