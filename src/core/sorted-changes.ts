import { compareStrings } from './order.js'

/** An entry that is not the very same in two lists; an absent side is `undefined`. */
export interface SortedChange<A> {
  readonly before: A | undefined
  readonly after: A | undefined
}

/**
 * The entries that are not the very same in two lists, in the order of their keys, by which both are sorted. Of a key
 * that both have the two make one change. Costs a look at each entry, and nothing for a list that is the very same.
 */
export const sortedChanges = <A>(
  before: ReadonlyArray<A>,
  after: ReadonlyArray<A>,
  keyOf: (entry: A) => string,
): ReadonlyArray<SortedChange<A>> => {
  if (before === after) return []
  const changes: Array<SortedChange<A>> = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    const old = before[i]
    const now = after[j]
    const order = old === now ? 0 : compareEntries(old, now, keyOf)
    if (old !== now)
      changes.push({ before: order <= 0 ? old : undefined, after: order >= 0 ? now : undefined })
    if (order <= 0) i += 1
    if (order >= 0) j += 1
  }
  return changes
}

/** Behind all entries there is nothing. */
const compareEntries = <A>(
  a: A | undefined,
  b: A | undefined,
  keyOf: (entry: A) => string,
): -1 | 0 | 1 => {
  if (a === undefined) return 1
  return b === undefined ? -1 : compareStrings(keyOf(a), keyOf(b))
}
