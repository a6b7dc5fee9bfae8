import { changedOwners, ownsIn } from './compose.js'
import { derivedTable } from './derive-tables.js'
import type { Ledger, LedgerNode } from './ledger.js'
import * as PM from './persistent-map.js'
import type { Resource, Uid } from './resource.js'
import { emptyView, type View, viewOf } from './snapshot.js'
import { shardNamed, shardTable } from './table-form.js'
import { listenerType, routeType } from './type-url.js'

/** How far a node is with the route tables of its data plane. */
export interface Progress {
  /** It has accepted every table in the form that is published. */
  readonly isSynced: boolean
  /** The objects of which it has not accepted the published form everywhere. */
  readonly behind: ReadonlySet<Uid>
}

/**
 * What an Envoy has accepted is asked of the tables that are published. As long as it has not accepted each of them in
 * some form, and has accepted all tables of another form of the data plane, it is asked of these: it has still to
 * go on to the published ones, or drains its way back from them, and is behind with nothing that these tables have.
 *
 * Costs O(tables), and what `changedOwners` costs of those that the node has accepted and those that it is to: once for
 * all nodes that hold the very same.
 */
export const progressOf = ({ snapshot }: Pick<Ledger, 'snapshot'>, node: LedgerNode): Progress => {
  const { behind, isPublished } = standingOf(snapshot, node)
  return { isSynced: node.connected && isPublished && behind.size === 0, behind }
}

/**
 * True if a node has accepted some form of every route table that its data plane publishes, or of every one of
 * another form of it. Costs what `progressOf` does.
 */
export const holdsEveryTable = (
  { snapshot }: Pick<Ledger, 'snapshot'>,
  node: LedgerNode,
): boolean => standingOf(snapshot, node).isComplete

/** How the tables that a node has accepted stand to those that are published. */
interface Standing {
  /** They are compared with what is published; else with another form of it. */
  readonly isPublished: boolean
  /** None is missing of those that they are compared with. */
  readonly isComplete: boolean
  readonly behind: ReadonlySet<Uid>
}

const standingOf = (snapshot: Ledger['snapshot'], node: LedgerNode): Standing => {
  const view = snapshot === undefined ? emptyView : viewOf(snapshot, node.dataPlane)
  // What a lost one has accepted counts no more.
  const held = node.connected ? node.tables : undefined
  const known = held === undefined ? withNothing : (standings.get(held) ?? new WeakMap())
  if (held !== undefined) standings.set(held, known)
  const hit = known.get(view)
  if (hit !== undefined) return hit
  const made = standing(view, held)
  known.set(view, made)
  return made
}

type Held = LedgerNode['tables']
type Known = WeakMap<View, Standing>

const standings = new WeakMap<NonNullable<Held>, Known>()
const withNothing: Known = new WeakMap()

const standing = (view: View, held: Held): Standing => {
  const goals = [...PM.entries(view[routeType])]
  const isComplete = goals.every(({ name }) => acceptedIn(held, name) !== undefined)
  const others = isComplete ? undefined : otherForm(view, held)
  return {
    isPublished: others === undefined,
    isComplete: isComplete || others !== undefined,
    behind: behindWith(others ?? goals, held),
  }
}

const behindWith = (goals: ReadonlyArray<Resource>, held: Held): ReadonlySet<Uid> => {
  const behind = new Set<Uid>()
  for (const goal of goals)
    for (const uid of ownersBehind(acceptedIn(held, goal.name), goal)) behind.add(uid)
  return behind
}

const acceptedIn = (held: Held, name: string): Resource | undefined => PM.get(held, name)?.accepted

/** The tables of another form of which the node has accepted every one; `undefined` if there is no such form. */
const otherForm = (view: View, held: Held): ReadonlyArray<Resource> | undefined => {
  for (const names of otherForms(view, held)) {
    const tables = names.flatMap((name) =>
      acceptedIn(held, name) === undefined ? [] : (derivedTable(name, view) ?? []),
    )
    if (names.length > 0 && tables.length === names.length) return tables
  }
  return undefined
}

/** The names of the tables of each other form that a node asks for tables of. */
const otherForms = (view: View, held: Held): ReadonlyArray<ReadonlyArray<string>> => {
  const asked = [...PM.entries(held)].flatMap(({ name }) => shardNamed(name)?.shards ?? [])
  const counts = new Map<number, number>()
  for (const shards of asked) counts.set(shards, (counts.get(shards) ?? 0) + 1)
  return [
    [...PM.entries(view[listenerType])].map(({ name }) => name),
    ...[...counts]
      .filter(([shards, count]) => shards === count)
      .map(([shards]) => Array.from({ length: shards }, (_, shard) => shardTable(shards, shard))),
  ]
}

/** Those whose fragments in the goal the client does not hold; what it holds besides does not count. */
const ownersBehind = (accepted: Resource | undefined, goal: Resource): ReadonlySet<Uid> => {
  if (accepted === undefined) return new Set(goal.owners)
  if (goal.content._tag === 'Bytes' || accepted.content._tag === 'Bytes')
    return accepted.version === goal.version ? nobody : new Set(goal.owners)
  const known = behindOf.get(goal) ?? new WeakMap<Resource, ReadonlySet<Uid>>()
  behindOf.set(goal, known)
  const hit = known.get(accepted)
  if (hit !== undefined) return hit
  const behind = new Set([...changedOwners(accepted, goal)].filter((uid) => ownsIn(goal, uid)))
  known.set(accepted, behind)
  return behind
}

const nobody: ReadonlySet<Uid> = new Set()

/** Most nodes that are behind are so with the same two tables. */
const behindOf = new WeakMap<Resource, WeakMap<Resource, ReadonlySet<Uid>>>()
