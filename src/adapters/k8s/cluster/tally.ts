import { get, type PersistentMap, remove, set } from '../../../core/persistent-map.js'

/** How often each name is used; names that nobody uses are absent. */
export type Tally = PersistentMap<Count>

interface Count {
  readonly name: string
  readonly count: number
}

export const has = (tally: Tally, name: string): boolean => get(tally, name) !== undefined

/** With one more use of each. */
export const add = (tally: Tally, names: Iterable<string>): Tally => change(tally, names, 1)

/** With one use less of each. */
export const subtract = (tally: Tally, names: Iterable<string>): Tally => change(tally, names, -1)

const change = (tally: Tally, names: Iterable<string>, by: 1 | -1): Tally => {
  let next = tally
  for (const name of names) {
    const count = (get(next, name)?.count ?? 0) + by
    next = count === 0 ? remove(next, name) : set(next, { name, count })
  }
  return next
}
