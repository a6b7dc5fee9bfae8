import { compareStrings } from './order.js'
import type { RulePath } from './rule.js'
import { type EncodedRoute, routesSize } from './splice.js'

/**
 * The routes of a virtual host as a tree over paths.
 *
 * Envoy tries the routes of a list one after the other, 20 to 50 ns each. In a tree it looks for the longest key
 * that the request's `:path` begins with, byte by byte, and tries that key's list: that is final, and a list in
 * which nothing matches is a 404. So the list of a key holds whatever may match a request that ends up there: the
 * routes with the key for their path, and the prefixes that are segments above it (`/` and `/a` for `/a/b`).
 *
 * Why nothing is missing: let P be the longest key that a path begins with, and K the path of a route that matches. K
 * is a key and the path begins with it, so P begins with K. If K is not P, the route is a prefix (an exact path would
 * be P, or a query follows, which stands in no key), and behind K comes `/` in the path, hence in P.
 */
export type Tree = ReadonlyMap<string, ReadonlyArray<PathRoute>>

/** An encoded Route, and the path that it claims. */
export interface PathRoute extends EncodedRoute {
  readonly path: RulePath
}

/**
 * How many routes fewer the worst request must pass for a tree to be made.
 *
 * Measured on Envoy 1.40 (`bench/micro/matcher.mjs`): a tree costs no request anything, and spares the last of 64
 * routes 3 us of 17 where each names a method, 1.5 us of 15 where none does. For that the host has three to four times
 * the bytes, and a change of it costs Envoy's main thread about three times as much. With fewer routes the gain is not
 * to be told from noise, and a list is what a person can read.
 */
export const worthwhileSaving = 64

/** How many times the bytes of the plain list the lists of a tree may have: prefixes are copied into what is below. */
export const maxSwelling = 4

/**
 * The tree in which a host's routes, in order of precedence, are sent; `undefined` where they are sent as the list
 * that they are: few of them, a regular expression among them, which would stand in every list, or too many
 * copies. What is sent follows from the routes alone. Costs O(n log n), and as many copies as it may make.
 */
export const treeOf = (routes: ReadonlyArray<PathRoute>): Tree | undefined => {
  if (routes.length < worthwhileSaving) return undefined
  const tree = flattened(routes, maxSwelling * routesSize(routes))
  if (tree === undefined) return undefined
  const longest = [...tree.values()].reduce((most, { length }) => Math.max(most, length), 0)
  return routes.length - longest < worthwhileSaving ? undefined : tree
}

/** The tree, whether it pays or not; `undefined` if it has a regular expression, or more bytes than `maxBytes`. */
export const flattened = (
  routes: ReadonlyArray<PathRoute>,
  maxBytes: number = Infinity,
): Tree | undefined => {
  const places = byPath(routes)
  if (places === undefined) return undefined
  const tree = new Map<string, ReadonlyArray<PathRoute>>()
  let bytes = 0
  /** The keys that the present one begins with: in sorted order they come before it, and nothing else between. */
  const open: Array<Place> = []
  for (const place of [...places.values()].sort((a, b) => compareStrings(a.key, b.key))) {
    const { key } = place
    while (!key.startsWith(open.at(-1)?.key ?? '')) open.pop()
    const above = open.filter((each) => isSegmentOf(each.key, key))
    open.push(place)
    const list = [...above.flatMap(({ own }) => own.filter(isPrefix)), ...place.own]
      .sort((a, b) => a.rank - b.rank)
      .map(({ route }) => route)
    bytes += routesSize(list)
    if (bytes > maxBytes) return undefined
    tree.set(key, list)
  }
  return tree
}

/** The routes of one path, in their order. */
interface Place {
  readonly key: string
  readonly own: Array<Ranked>
}

interface Ranked {
  readonly route: PathRoute
  /** Where it stands in the plain list. */
  readonly rank: number
}

const isPrefix = ({ route }: Ranked): boolean => route.path._tag === 'Prefix'

const byPath = (routes: ReadonlyArray<PathRoute>): ReadonlyMap<string, Place> | undefined => {
  const places = new Map<string, Place>()
  for (const [rank, route] of routes.entries()) {
    const { _tag, value: key } = route.path
    if (_tag === 'Regex') return undefined
    const place = places.get(key)
    if (place === undefined) places.set(key, { key, own: [{ route, rank }] })
    else place.own.push({ route, rank })
  }
  return places
}

/** True if a key that begins with `path` lies below it: `/a/b` is below `/a` and `/`, `/ab` is below `/` alone. */
const isSegmentOf = (path: string, key: string): boolean => path === '/' || key[path.length] === '/'
