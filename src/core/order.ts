/**
 * Compares by UTF-16 code units: the same order in every process, whatever its locale.
 */
export const compareStrings = (a: string, b: string): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0)

/**
 * The item of a sorted list that `compare` finds equal; it says of an item whether that stands before
 * (-1) or behind (1) what is looked for. Costs O(log n).
 */
export const findSorted = <A>(
  sorted: ReadonlyArray<A>,
  compare: (item: A) => -1 | 0 | 1,
): A | undefined => {
  const item = sorted[firstNotBefore(sorted, compare)]
  return item !== undefined && compare(item) === 0 ? item : undefined
}

/** True if a sorted list has an item that `compare` finds equal. Costs O(log n). */
export const hasSorted = <A>(sorted: ReadonlyArray<A>, compare: (item: A) => -1 | 0 | 1): boolean =>
  findSorted(sorted, compare) !== undefined

/** Where in a sorted list the first item is that does not stand before what is looked for. Costs O(log n). */
export const firstNotBefore = <A>(
  sorted: ReadonlyArray<A>,
  compare: (item: A) => -1 | 0 | 1,
  from = 0,
): number => {
  let low = from
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = sorted[middle]
    if (item !== undefined && compare(item) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * A list that is sorted by its keys, each of which it has once, with some entries put in or in the place of others, and
 * with those taken out that are `undefined`. Costs O(d log n) comparisons where d entries differ, and a copy.
 */
export const edited = <A>(
  sorted: ReadonlyArray<A>,
  keyOf: (item: A) => string,
  edits: ReadonlyMap<string, A | undefined>,
): ReadonlyArray<A> => {
  const result: Array<A> = []
  let from = 0
  const copyTo = (to: number): void => {
    for (const item of sorted.slice(from, to)) result.push(item)
  }
  for (const [key, item] of [...edits].sort(([a], [b]) => compareStrings(a, b))) {
    const to = firstNotBefore(sorted, (each) => compareStrings(keyOf(each), key), from)
    copyTo(to)
    if (item !== undefined) result.push(item)
    const old = sorted[to]
    from = old !== undefined && keyOf(old) === key ? to + 1 : to
  }
  copyTo(sorted.length)
  return exactSize(result)
}

/** The same list in no more memory than it needs: one that has grown keeps room for 16 more, or half as many again. */
export const exactSize = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> => list.slice()

/** True if both have the very same items, in the same order. */
export const isSameList = <A>(a: ReadonlyArray<A>, b: ReadonlyArray<A>): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index])
