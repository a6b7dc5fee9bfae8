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

const asName = (name: string): PM.Named => ({ name })
