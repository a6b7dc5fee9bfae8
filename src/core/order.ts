/**
 * Compares by UTF-16 code units: the same order in every process, whatever its locale.
 */
export const compareStrings = (a: string, b: string): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0)

/**
 * True if a sorted list has an item that `compare` finds equal; it says of an item whether that stands before
 * (-1) or behind (1) what is looked for. Costs O(log n).
 */
export const hasSorted = <A>(
  sorted: ReadonlyArray<A>,
  compare: (item: A) => -1 | 0 | 1,
): boolean => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = sorted[middle]
    const order = item === undefined ? 1 : compare(item)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle
  }
  return false
}
