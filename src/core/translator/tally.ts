import { compareStrings, edited, hasSorted } from '../order.js'

/** Counts names, and keeps those in order that count. */
export interface Tally {
  readonly add: (name: string) => void
  /** Takes back one `add` of this name. */
  readonly drop: (name: string) => void
  /**
   * The names that count, sorted: the very same list as long as they are the same. Costs O(changes · log n), and a
   * copy where there is any.
   */
  readonly names: () => ReadonlyArray<string>
}

/** Makes a tally of nothing. */
export const tally = (): Tally => {
  const counts = new Map<string, number>()
  const touched = new Set<string>()
  let sorted: ReadonlyArray<string> = []
  const count = (name: string, by: 1 | -1): void => {
    const next = (counts.get(name) ?? 0) + by
    if (next === 0) counts.delete(name)
    else counts.set(name, next)
    touched.add(name)
  }
  return {
    add: (name) => count(name, 1),
    drop: (name) => count(name, -1),
    names: () => {
      const edits = new Map<string, string | undefined>()
      for (const name of touched) {
        const counted = counts.has(name) ? name : undefined
        if ((counted !== undefined) !== has(sorted, name)) edits.set(name, counted)
      }
      touched.clear()
      if (edits.size > 0) sorted = edited(sorted, itself, edits)
      return sorted
    },
  }
}

const itself = (name: string): string => name

const has = (sorted: ReadonlyArray<string>, name: string): boolean =>
  hasSorted(sorted, (each) => compareStrings(each, name))
