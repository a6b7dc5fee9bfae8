import { type Digest, digestStrings } from './digest.js'
import { compareStrings } from './order.js'

/** What a map can hold. */
export interface Named {
  readonly name: string
}

/** What a map can compare: content that is told apart by its version. */
export interface Versioned extends Named {
  readonly version: string
}

/**
 * An immutable map from name to entry, ordered by name, that knows the digest of its content.
 *
 * A treap whose priorities come from the names: its shape depends on its content alone, so that two
 * maps with equal content have equal digests, whatever their history, and share what they share.
 * `set` and `remove` cost O(log n), `diff` costs O(d log n) where d entries differ. The digest is kept
 * per node, and reckoned when it is first asked for. The empty map is `undefined`.
 */
export type PersistentMap<A extends Named> = Tree<A> | undefined

interface Tree<A extends Named> {
  readonly entry: A
  readonly priority: number
  readonly left: PersistentMap<A>
  readonly right: PersistentMap<A>
  readonly size: number
  /** Digest of names and versions of this whole subtree: a memo that `digestOf` fills. */
  digest: Digest | undefined
}

export const size = <A extends Named>(map: PersistentMap<A>): number => map?.size ?? 0

/** The digest of all names and versions in the map. */
export const digestOf = <A extends Versioned>(map: PersistentMap<A>): Digest => {
  if (map === undefined) return emptyDigest
  map.digest ??= digestStrings(
    digestOf(map.left),
    map.entry.name,
    map.entry.version,
    digestOf(map.right),
  )
  return map.digest
}

export const get = <A extends Named>(map: PersistentMap<A>, name: string): A | undefined => {
  let tree = map
  while (tree !== undefined && tree.entry.name !== name)
    tree = name < tree.entry.name ? tree.left : tree.right
  return tree?.entry
}

/** The map with `entry` under its name. Returns the same map if it holds that very entry. */
export const set = <A extends Named>(map: PersistentMap<A>, entry: A): PersistentMap<A> =>
  get(map, entry.name) === entry ? map : insert(map, entry, priorityOf(entry.name))

/** The map without `name`. Returns the same map if it holds no such name. */
export const remove = <A extends Named>(map: PersistentMap<A>, name: string): PersistentMap<A> =>
  get(map, name) === undefined ? map : without(map, name)

/**
 * The map with these entries under their names, and without the names that are `undefined` here. Returns the same map
 * if nothing is another than it was. Costs O(d log n) where d names are given, and never more than O((n + d) log n).
 */
export const edit = <A extends Named>(
  map: PersistentMap<A>,
  edits: ReadonlyMap<string, A | undefined>,
): PersistentMap<A> => {
  if (map !== undefined && edits.size <= map.size / bulkShare) {
    let result: PersistentMap<A> = map
    for (const [name, entry] of edits)
      result = entry === undefined ? remove(result, name) : set(result, entry)
    return result
  }
  const isSame = [...edits].every(([name, entry]) => get(map, name) === entry)
  if (isSame) return map
  const others = [...entries(map)].filter(({ name }) => !edits.has(name))
  return fromEntries([...others, ...[...edits.values()].flatMap((entry) => entry ?? [])])
}

/** Where more than this part of a map changes, it is cheaper to make it anew. */
const bulkShare = 8

/** All entries in the order of their names. Costs O(n) to go through. */
export function* entries<A extends Named>(map: PersistentMap<A>): Generator<A, void, undefined> {
  const path: Array<Tree<A>> = []
  let tree = map
  while (tree !== undefined || path.length > 0) {
    while (tree !== undefined) {
      path.push(tree)
      tree = tree.left
    }
    const next = path.pop()
    if (next === undefined) return
    yield next.entry
    tree = next.right
  }
}

/**
 * The map of these entries; of two with one name the last counts. Costs O(n log n).
 */
export const fromEntries = <A extends Named>(items: Iterable<A>): PersistentMap<A> => {
  const byName = new Map<string, A>()
  for (const item of items) byName.set(item.name, item)
  const sorted = [...byName.values()].sort((a, b) => compareStrings(a.name, b.name))
  const priorities = sorted.map((item) => priorityOf(item.name))
  return build(sorted, priorities, roots(priorities))
}

/** A name whose entry differs between two maps; an absent side is `undefined`. */
export interface Difference<A extends Named> {
  readonly name: string
  readonly before: A | undefined
  readonly after: A | undefined
}

/**
 * The names whose versions differ between two maps, in the order of the names.
 *
 * Subtrees that both maps share, or whose digests agree, are passed over as a whole.
 */
export const diff = <A extends Versioned>(
  before: PersistentMap<A>,
  after: PersistentMap<A>,
): ReadonlyArray<Difference<A>> =>
  differences(before, after, {
    trees: (a, b) => a === b || digestOf(a) === digestOf(b),
    entries: (a, b) => a.version === b.version,
  })

/**
 * The names whose entries are not the very same in two maps, in their order. Subtrees that both share are
 * passed over, so that it costs O(d log n) where one was made of the other by d changes.
 */
export const changes = <A extends Named>(
  before: PersistentMap<A>,
  after: PersistentMap<A>,
): ReadonlyArray<Difference<A>> =>
  differences(before, after, { trees: (a, b) => a === b, entries: (a, b) => a === b })

const emptyDigest: Digest = digestStrings()

/**
 * A priority that depends on the name alone. Of a digest, because clients and tenants choose names: with
 * a hash that can be steered they could choose such that the tree becomes a list.
 */
const priorityOf = (name: string): number => Number.parseInt(digestStrings(name).slice(0, 12), 16)

/** Heap order; the name decides between equal priorities, so that the shape stays unique. */
const isAbove = (
  priority: number,
  name: string,
  other: { readonly priority: number; readonly entry: Named },
): boolean => priority > other.priority || (priority === other.priority && name < other.entry.name)

const node = <A extends Named>(
  entry: A,
  priority: number,
  left: PersistentMap<A>,
  right: PersistentMap<A>,
): Tree<A> => ({
  entry,
  priority,
  left,
  right,
  size: size(left) + 1 + size(right),
  digest: undefined,
})

const insert = <A extends Named>(map: PersistentMap<A>, entry: A, priority: number): Tree<A> => {
  if (map === undefined) return node(entry, priority, undefined, undefined)
  const { name } = entry
  if (name === map.entry.name) return node(entry, priority, map.left, map.right)
  if (isAbove(priority, name, map)) {
    const [left, right] = split(map, name)
    return node(entry, priority, left, right)
  }
  return name < map.entry.name
    ? node(map.entry, map.priority, insert(map.left, entry, priority), map.right)
    : node(map.entry, map.priority, map.left, insert(map.right, entry, priority))
}

/** What lies before and what lies behind `name`; an entry of that very name is left out. */
const split = <A extends Named>(
  map: PersistentMap<A>,
  name: string,
): readonly [PersistentMap<A>, PersistentMap<A>] => {
  if (map === undefined) return [undefined, undefined]
  if (map.entry.name === name) return [map.left, map.right]
  if (map.entry.name < name) {
    const [left, right] = split(map.right, name)
    return [left === map.right ? map : node(map.entry, map.priority, map.left, left), right]
  }
  const [left, right] = split(map.left, name)
  return [left, right === map.left ? map : node(map.entry, map.priority, right, map.right)]
}

const without = <A extends Named>(map: PersistentMap<A>, name: string): PersistentMap<A> => {
  if (map === undefined) return undefined
  if (name === map.entry.name) return merge(map.left, map.right)
  return name < map.entry.name
    ? node(map.entry, map.priority, without(map.left, name), map.right)
    : node(map.entry, map.priority, map.left, without(map.right, name))
}

const merge = <A extends Named>(
  left: PersistentMap<A>,
  right: PersistentMap<A>,
): PersistentMap<A> => {
  if (left === undefined) return right
  if (right === undefined) return left
  return isAbove(left.priority, left.entry.name, right)
    ? node(left.entry, left.priority, left.left, merge(left.right, right))
    : node(right.entry, right.priority, merge(left, right.left), right.right)
}

interface Root {
  readonly index: number
  left: Root | undefined
  right: Root | undefined
}

/** The Cartesian tree over sorted names: the treap's shape, found in O(n). */
const roots = (priorities: ReadonlyArray<number>): Root | undefined => {
  const spine: Array<Root> = []
  priorities.forEach((priority, index) => {
    let last: Root | undefined
    // Strictly: of equal priorities the lesser name, which came first, stays above.
    for (let top = spine.at(-1); top !== undefined; top = spine.at(-1)) {
      if ((priorities[top.index] ?? 0) >= priority) break
      last = spine.pop()
    }
    const root: Root = { index, left: last, right: undefined }
    const above = spine.at(-1)
    if (above !== undefined) above.right = root
    spine.push(root)
  })
  return spine[0]
}

const build = <A extends Named>(
  sorted: ReadonlyArray<A>,
  priorities: ReadonlyArray<number>,
  root: Root | undefined,
): PersistentMap<A> => {
  if (root === undefined) return undefined
  const entry = sorted[root.index]
  const priority = priorities[root.index]
  if (entry === undefined || priority === undefined) return undefined
  return node(
    entry,
    priority,
    build(sorted, priorities, root.left),
    build(sorted, priorities, root.right),
  )
}

/** What counts as equal. */
interface Equality<A extends Named> {
  readonly trees: (a: PersistentMap<A>, b: PersistentMap<A>) => boolean
  readonly entries: (a: A, b: A) => boolean
}

const differences = <A extends Named>(
  before: PersistentMap<A>,
  after: PersistentMap<A>,
  isSame: Equality<A>,
): ReadonlyArray<Difference<A>> => {
  const found: Array<Difference<A>> = []
  collect(before, after, isSame, found)
  return found
}

const collect = <A extends Named>(
  before: PersistentMap<A>,
  after: PersistentMap<A>,
  isSame: Equality<A>,
  found: Array<Difference<A>>,
): void => {
  if (isSame.trees(before, after)) return
  if (after === undefined) {
    for (const entry of entries(before))
      found.push({ name: entry.name, before: entry, after: undefined })
    return
  }
  const { entry } = after
  const { name } = entry
  const old = get(before, name)
  // As a rule both have the same name on top: then nothing has to be split.
  const [left, right] =
    before?.entry.name === name ? [before.left, before.right] : split(before, name)
  collect(left, after.left, isSame, found)
  if (old === undefined || !isSame.entries(old, entry))
    found.push({ name, before: old, after: entry })
  collect(right, after.right, isSame, found)
}
