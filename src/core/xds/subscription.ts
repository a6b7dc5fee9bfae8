import { countNames, hasName, type Names, noNames, withNames, withoutName } from './names.js'

/**
 * What one client asks for, of one type.
 *
 * `named` remembers that names were given at some time: from then on no names means nothing, no longer
 * everything (xDS protocol, "How the client specifies what resources to return").
 */
export interface Subscription {
  readonly wildcard: boolean
  /** The names that were asked for by name, `*` not among them. */
  readonly names: Names
  readonly named: boolean
}

/** The name that stands for every resource of a type; no other name does, `foo/*` least of all. */
export const wildcardName = '*'

export const covers = ({ wildcard, names }: Subscription, name: string): boolean =>
  wildcard || hasName(names, name)

/** The subscription of a first request. `legacyWildcard`: no names mean every resource. */
export const subscribeFirst = (
  requested: ReadonlyArray<string>,
  legacyWildcard: boolean,
): Subscription => ({
  wildcard: requested.includes(wildcardName) || (requested.length === 0 && legacyWildcard),
  names: withNames(noNames, namesOf(requested)),
  named: requested.length > 0,
})

/** State of the world: the list replaces the one before. */
export const replaceNames = (
  before: Subscription,
  requested: ReadonlyArray<string>,
): Subscription => ({
  wildcard: asksForAll(before, requested),
  names: withNames(noNames, namesOf(requested)),
  named: before.named || requested.length > 0,
})

/**
 * True if the list changes nothing of what is asked for, nor of what no names mean from now on. Costs
 * O(names), without copying any.
 */
export const isSameRequest = (before: Subscription, requested: ReadonlyArray<string>): boolean => {
  const names = new Set(namesOf(requested))
  return (
    (before.named || requested.length === 0) &&
    asksForAll(before, requested) === before.wildcard &&
    names.size === countNames(before.names) &&
    [...names].every((name) => hasName(before.names, name))
  )
}

const asksForAll = (before: Subscription, requested: ReadonlyArray<string>): boolean =>
  requested.includes(wildcardName) || (requested.length === 0 && before.wildcard && !before.named)

/** Delta: names come and go one by one; those that come win over the same names that go. */
export const changeNames = (
  before: Subscription,
  subscribe: ReadonlyArray<string>,
  unsubscribe: ReadonlyArray<string>,
): Subscription => ({
  wildcard:
    subscribe.includes(wildcardName) || (before.wildcard && !unsubscribe.includes(wildcardName)),
  names: withNames(unsubscribe.reduce(withoutName, before.names), namesOf(subscribe)),
  named: before.named || subscribe.length > 0,
})

const namesOf = (requested: ReadonlyArray<string>): ReadonlyArray<string> =>
  requested.filter((name) => name !== wildcardName)
