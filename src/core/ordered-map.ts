import * as PM from './persistent-map.js'

/**
 * A map that cannot change, in the order of its keys, by code units. Those that were made of one another share what
 * they have in common.
 */
export interface OrderedMap<A> extends ReadonlyMap<string, A> {
  readonly tree: PM.PersistentMap<Entry<A>>
}

interface Entry<A> {
  readonly name: string
  readonly value: A
}

/** The map with these values, and without the keys that are `undefined` here. Costs O(d log n) for d keys. */
export const withValues = <A>(
  map: OrderedMap<A>,
  values: ReadonlyMap<string, A | undefined>,
): OrderedMap<A> => {
  const edits = new Map<string, Entry<A> | undefined>()
  for (const [name, value] of values) {
    const before = PM.get(map.tree, name)
    if (before?.value === value) continue
    edits.set(name, value === undefined ? undefined : { name, value })
  }
  const tree = PM.edit(map.tree, edits)
  return tree === map.tree ? map : orderedMap(tree)
}

/** The keys whose values are not the very same. Costs O(d log n) for d of them where one was made of the other. */
export const changedKeys = <A>(
  before: OrderedMap<A>,
  after: OrderedMap<A>,
): ReadonlyArray<string> =>
  PM.changes(before.tree, after.tree).flatMap((change) =>
    // Those that were not made of one another have entries of their own for one value.
    change.before?.value === change.after?.value ? [] : [change.name],
  )

/** The value of the last key. Costs O(log n). */
export const lastValue = <A>(map: OrderedMap<A>): A | undefined => {
  let tree = map.tree
  while (tree?.right !== undefined) tree = tree.right
  return tree?.entry.value
}

const orderedMap = <A>(tree: PM.PersistentMap<Entry<A>>): OrderedMap<A> => {
  function* pairs(): MapIterator<[string, A]> {
    for (const { name, value } of PM.entries(tree)) yield [name, value]
  }
  function* keys(): MapIterator<string> {
    for (const { name } of PM.entries(tree)) yield name
  }
  function* values(): MapIterator<A> {
    for (const { value } of PM.entries(tree)) yield value
  }
  const map: OrderedMap<A> = {
    tree,
    size: PM.size(tree),
    get: (key) => PM.get(tree, key)?.value,
    has: (key) => PM.get(tree, key) !== undefined,
    keys,
    values,
    entries: pairs,
    [Symbol.iterator]: pairs,
    forEach: (visit) => {
      for (const { name, value } of PM.entries(tree)) visit(value, name, map)
    },
  }
  return map
}

/** The map of these pairs; of two with one key the last counts. Costs O(n log n). */
export const orderedMapOf = <A>(pairs: Iterable<readonly [string, A]>): OrderedMap<A> =>
  withValues<A>(emptyOrderedMap, new Map(pairs))

/** The map of nothing. */
export const emptyOrderedMap: OrderedMap<never> = orderedMap<never>(undefined)
