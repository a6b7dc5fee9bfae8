import type { EdgeRoute, PathMatch, ValueMatch } from '../../../src/core/edge-route.js'

/** One kind of request that a route asks for, in the words of its author. */
export interface Claim {
  readonly route: EdgeRoute
  readonly host: string
  readonly path: PathMatch
  readonly method: string | undefined
  readonly headers: ReadonlyArray<ValueMatch>
  readonly query: ReadonlyArray<ValueMatch>
  /** Equal for claims of the same kind of request. */
  readonly key: string
}

/** All that a route asks for, each kind of request once. */
export const claimsOf = (route: EdgeRoute): ReadonlyArray<Claim> => {
  const { hostnames = ['*'], matches = [{}] } = route.spec
  const all = new Map<string, Claim>()
  for (const host of hostnames)
    for (const {
      path = { prefix: '/' },
      methods = [undefined],
      headers = [],
      query = [],
    } of matches)
      for (const method of methods) {
        const parts = { host: host.toLowerCase(), path, method, headers, query }
        const key = keyOf(parts)
        all.set(key, { route, ...parts, key })
      }
  return [...all.values()]
}

const keyOf = ({ host, path, method, headers, query }: Omit<Claim, 'route' | 'key'>): string =>
  JSON.stringify([
    host,
    path.prefix === undefined ? path : { prefix: withoutSlash(path.prefix) },
    method ?? '',
    headers.map((one) => sayValue(one, one.name.toLowerCase())).sort(),
    query.map((one) => sayValue(one, one.name)).sort(),
  ])

const sayValue = ({ exact, prefix, regex }: ValueMatch, name: string): string =>
  JSON.stringify({ name, exact, prefix, regex })

/** `/a/` and `/a` are the same path elements, and `/` is none. */
export const withoutSlash = (prefix: string): string =>
  prefix.endsWith('/') ? prefix.slice(0, -1) : prefix

/** True if `a` wins over `b` where all else is equal: the older, then the lesser name, then uid. */
export const isBefore = (a: EdgeRoute, b: EdgeRoute): boolean => {
  const [ageOfA, ageOfB] = [createdAt(a), createdAt(b)]
  if (ageOfA !== ageOfB) return ageOfA < ageOfB
  const [nameOfA, nameOfB] = [nameOf(a), nameOf(b)]
  if (nameOfA !== nameOfB) return nameOfA < nameOfB
  return a.metadata.uid < b.metadata.uid
}

/** No timestamp: younger than all that have one. */
const createdAt = ({ metadata }: EdgeRoute): number =>
  metadata.creationTimestamp === undefined ? Infinity : Date.parse(metadata.creationTimestamp)

export const nameOf = ({ metadata }: EdgeRoute): string => `${metadata.namespace}/${metadata.name}`
