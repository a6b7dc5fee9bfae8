import * as PM from '../persistent-map.js'

/** A set of resource names that is cheap to change and to share. */
export type Names = PM.PersistentMap<PM.Named>

export const noNames: Names = undefined

export const hasName = (names: Names, name: string): boolean => PM.get(names, name) !== undefined

export const countNames = (names: Names): number => PM.size(names)

export const withNames = (names: Names, added: Iterable<string>): Names => {
  const list = [...added]
  if (names === undefined) return PM.fromEntries(list.map(asName))
  return list.reduce<Names>(
    (all, name) => (hasName(all, name) ? all : PM.set(all, asName(name))),
    names,
  )
}

export const withoutName = (names: Names, name: string): Names => PM.remove(names, name)

export const eachName = function* (names: Names): Generator<string, void, undefined> {
  for (const { name } of PM.entries(names)) yield name
}

/** How many lists of names are looked for: the Envoys of a data plane ask for one, or two while they switch. */
const sharedLists = 8

/** Held by those who ask for them alone. */
let shared: ReadonlyArray<WeakRef<NonNullable<Names>>> = []

/**
 * The very same map for the same names, if it is one of the last that were asked for: so that what is made of them is
 * made once for a fleet that asks for the same, and remembered once. Costs O(names).
 */
export const sharedNames = (names: Names): Names => {
  if (names === undefined) return names
  const lists = shared.flatMap((each) => each.deref() ?? [])
  const found = lists.find((each) => each === names || isSameNames(each, names))
  const first = found ?? names
  const others = lists.filter((each) => each !== first).slice(0, sharedLists - 1)
  shared = [first, ...others].map((each) => new WeakRef(each))
  return first
}

const isSameNames = (a: Names, b: Names): boolean => {
  if (countNames(a) !== countNames(b)) return false
  const others = eachName(b)
  for (const name of eachName(a)) if (others.next().value !== name) return false
  return true
}

const asName = (name: string): PM.Named => ({ name })
