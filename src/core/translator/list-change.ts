/** What has left a list, and what has come. Each stands there as often as it has left, or come. */
export interface ListChange<A> {
  readonly removed: ReadonlyArray<A>
  readonly added: ReadonlyArray<A>
}

export const noChange: ListChange<never> = { removed: [], added: [] }

/**
 * What distinguishes two lists, whatever their order: items are compared by reference.
 *
 * Costs O(n), and next to nothing for each item that stands in both at one distance from either end.
 */
export const listChange = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>): ListChange<A> => {
  if (before === after) return noChange
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  const most = shorter - start
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  return difference(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  )
}

const difference = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>): ListChange<A> => {
  const counts = new Map<A, number>()
  for (const item of before) counts.set(item, (counts.get(item) ?? 0) + 1)
  const added = after.filter((item) => !taken(counts, item))
  return { removed: [...counts].flatMap(([item, count]) => Array<A>(count).fill(item)), added }
}

/** Takes one of an item, if there is one left. */
const taken = <A>(counts: Map<A, number>, item: A): boolean => {
  const count = counts.get(item) ?? 0
  if (count > 0) counts.set(item, count - 1)
  return count > 0
}

/** The list after a change; what was removed is gone as often as it was. */
export const changedList = <A>(
  list: ReadonlyArray<A>,
  { removed, added }: ListChange<A>,
): ReadonlyArray<A> => {
  const counts = new Map<A, number>()
  for (const item of removed) counts.set(item, (counts.get(item) ?? 0) + 1)
  return list.filter((item) => !taken(counts, item)).concat(added)
}

/** What is removed more often than it stands in the list: the first such item, in an array, or nothing. */
export const strayIn = <A>(
  list: ReadonlyArray<A>,
  removed: ReadonlyArray<A>,
): readonly [A] | undefined => {
  const counts = new Map<A, number>()
  for (const item of list) counts.set(item, (counts.get(item) ?? 0) + 1)
  for (const item of removed) if (!taken(counts, item)) return [item]
  return undefined
}

/** A change by the keys of its items. */
export const changeByKey = <A>(
  { removed, added }: ListChange<A>,
  keyOf: (item: A) => string,
): ReadonlyMap<string, ListChange<A>> => {
  const changes = new Map<string, { readonly removed: Array<A>; readonly added: Array<A> }>()
  const at = (item: A): { readonly removed: Array<A>; readonly added: Array<A> } => {
    const key = keyOf(item)
    const known = changes.get(key) ?? { removed: [], added: [] }
    changes.set(key, known)
    return known
  }
  for (const item of removed) at(item).removed.push(item)
  for (const item of added) at(item).added.push(item)
  return changes
}
