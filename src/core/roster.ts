import { compareStrings } from './order.js'
import * as PM from './persistent-map.js'
import { type TypeUrl, typeUrls } from './type-url.js'
import { unsureOf } from './xds/holding.js'
import type { NodeIdentity } from './xds/messages.js'
import type { NodeMemory } from './xds/node-memory.js'
import { dataPlaneOf } from './xds/session-state.js'

/**
 * The Envoys that may serve something, as they are written down, so that a control plane that has just
 * started knows whom to wait for. By node id.
 */
export type Roster = ReadonlyMap<string, RosterEntry>

/** One node id. */
export interface RosterEntry {
  readonly id: string
  /** `node.cluster`, as it was last seen; may be empty. */
  readonly cluster: string
  /** When it first came, in milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /**
   * It had two connections at once, at some time: no single connection speaks for all that
   * have the id.
   */
  readonly isShared: boolean
  /**
   * Of each type the names that it was sent and has refused, or not answered, each once and in order: its
   * versions of these are not to be trusted. A type without any is absent.
   */
  readonly doubts: Doubts
}

export type Doubts = Readonly<Partial<Record<TypeUrl, ReadonlyArray<string>>>>

/**
 * How many nodes a roster has at most. As many lost nodes as a fleet remembers (`maxRemembered`): a
 * greater roster could not be worked off.
 */
export const maxRosterNodes = 10_000

/**
 * How long a node's id and cluster may be, in UTF-16 code units. Envoys are named by people and Pods, in far
 * less; a longer one is a fault or an attack, and would be copied with every write.
 */
export const maxIdLength = 1_024

/**
 * How many names in doubt are written down of one node and type, the first in order. That there is one makes
 * no version of this type count, so that all is sent again; what lies beyond is not told to be gone, which matters only
 * for clusters that no route names any more.
 */
export const maxDoubts = 1_000

/** True if a node may stand on a roster; no routes may go to any other one. */
export const mayEnlist = ({ id, cluster }: Pick<NodeIdentity, 'id' | 'cluster'>): boolean =>
  id.length <= maxIdLength && cluster.length <= maxIdLength

/**
 * What is to be written down when a fleet remembers this, and that was written down before.
 *
 * Guarantees: no node leaves a roster by this, and what was shared once stays so; of a node that is
 * remembered, the doubts are those of the memory. What has not changed is the same entry, and a roster that
 * has not changed the same roster. Costs O(nodes and doubts).
 */
export const rosterOf = (
  memory: ReadonlyMap<string, NodeMemory>,
  before: Roster,
  nowMs: number,
): Roster => {
  const changed = [...memory.values()]
    .filter(({ node }) => mayEnlist(node))
    .map((node) => entryOf(node, before.get(node.name), nowMs))
    .filter((entry) => before.get(entry.id) !== entry)
  return changed.length === 0
    ? before
    : new Map([...before, ...changed.map((entry) => [entry.id, entry] as const)])
}

const entryOf = (
  { name, node, isShared, doubts: memorized }: NodeMemory,
  before: RosterEntry | undefined,
  nowMs: number,
): RosterEntry => {
  const doubts = doubtsOf(memorized)
  const { cluster } = node
  const entry: RosterEntry = {
    id: name,
    cluster,
    sinceMs: before?.sinceMs ?? nowMs,
    isShared: isShared || before?.isShared === true,
    doubts,
  }
  return before !== undefined && isSameEntry(before, entry) ? before : entry
}

const doubtsOf = (memorized: NodeMemory['doubts']): Doubts => {
  const doubts: Partial<Record<TypeUrl, ReadonlyArray<string>>> = {}
  for (const typeUrl of typeUrls) {
    const names: Array<string> = []
    for (const { name } of PM.entries(memorized[typeUrl])) {
      if (names.length === maxDoubts) break
      names.push(name)
    }
    if (names.length > 0) doubts[typeUrl] = names
  }
  return doubts
}

const isSameEntry = (a: RosterEntry, b: RosterEntry): boolean =>
  a.cluster === b.cluster &&
  a.sinceMs === b.sinceMs &&
  a.isShared === b.isShared &&
  typeUrls.every((typeUrl) => isSameList(a.doubts[typeUrl], b.doubts[typeUrl]))

const isSameList = (
  a: ReadonlyArray<string> | undefined,
  b: ReadonlyArray<string> | undefined,
): boolean =>
  a === b || (a?.length === b?.length && (a?.every((each, i) => each === b?.[i]) ?? true))

/**
 * What a new fleet starts with: of each node that it may hold any tables at all, and of the names in doubt
 * that it may hold anything under them. So a node is owed until it has said on its own stream what it has.
 */
export const memoryOf = (roster: Roster): ReadonlyMap<string, NodeMemory> =>
  new Map(inOrder(roster).map((entry) => [entry.id, nodeMemoryOf(entry)]))

const nodeMemoryOf = ({ id, cluster, isShared, doubts }: RosterEntry): NodeMemory => {
  const node: NodeIdentity = { id, cluster }
  const doubted: Partial<Record<TypeUrl, NodeMemory['doubts'][TypeUrl]>> = {}
  for (const typeUrl of typeUrls) {
    const names = doubts[typeUrl] ?? []
    if (names.length > 0)
      doubted[typeUrl] = PM.fromEntries(names.map((name) => unsureOf(name, { isUnknown: true })))
  }
  return {
    name: id,
    node,
    dataPlane: dataPlaneOf(node),
    accepted: {},
    isUnknown: true,
    isShared,
    tables: undefined,
    doubts: doubted,
    searches: {},
  }
}

/** The entries in the order of their ids. */
export const inOrder = (roster: Roster): ReadonlyArray<RosterEntry> =>
  [...roster.values()].sort((a, b) => compareStrings(a.id, b.id))
