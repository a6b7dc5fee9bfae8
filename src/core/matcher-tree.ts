import { compareStrings, edited, findSorted, firstNotBefore, isSameList } from './order.js'
import type { RulePath } from './rule.js'
import { sortedChanges } from './sorted-changes.js'
import { type EncodedRoute, routesSize } from './splice.js'
import { entrySize } from './tree-entry.js'

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
export interface Tree {
  /** In order of precedence. */
  readonly routes: ReadonlyArray<PathRoute>
  /** In the order of their keys. */
  readonly branches: ReadonlyArray<Branch>
}

/** A key and its list: the very same object as long as nothing of that is another. */
export interface Branch {
  readonly place: Place
  /** The prefixes above it, which stand in its list too. */
  readonly above: ReadonlyArray<Prefixes>
  /** How many routes its list has. */
  readonly routes: number
  /** How many bytes its list has, encoded. */
  readonly listBytes: number
  /** How many bytes it has in the encoded tree. */
  readonly size: number
}

/** The routes of one path, in their order. */
export interface Place {
  readonly key: string
  readonly own: ReadonlyArray<PathRoute>
  readonly ownBytes: number
  readonly prefixes: Prefixes
}

/** Those routes of a place that match what is below it, too: the very same object as long as they are the same. */
export interface Prefixes {
  readonly routes: ReadonlyArray<PathRoute>
  readonly bytes: number
}

/** An encoded Route, and the path that it claims. */
export interface PathRoute extends EncodedRoute {
  readonly path: RulePath
  /** Its place in its host: routes stand in the order of their keys, each of which there is once. */
  readonly sortKey: string
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
 * Whether a host is sent as its tree, and not as the list that it is: with few routes, or with too many copies. It
 * follows from the routes alone. Costs a look at each branch.
 */
export const isWorthwhile = ({ routes, branches }: Tree): boolean => {
  if (routes.length < worthwhileSaving) return false
  let longest = 0
  let plainBytes = 0
  let bytes = 0
  for (const { place, routes: length, listBytes } of branches) {
    longest = Math.max(longest, length)
    plainBytes += place.ownBytes
    bytes += listBytes
  }
  return routes.length - longest >= worthwhileSaving && bytes <= maxSwelling * plainBytes
}

/** The tree of nothing. */
export const emptyTree: Tree = { routes: [], branches: [] }

/**
 * The tree of a host's routes, in order of precedence, whether it pays or not; `undefined` where a path is a regular
 * expression, which would stand in every list. No list is made here.
 *
 * `before` is any other tree, best that of the same host before a change: branches with the same lists are taken
 * from it, and it makes no other difference. Costs a comparison by reference of each route, a copy of the list of
 * branches, and O(depth · log n) for each path that a change touches: its own, and those below it where its
 * prefixes are others.
 */
export const treeOf = (
  routes: ReadonlyArray<PathRoute>,
  before: Tree = emptyTree,
): Tree | undefined => {
  if (routes.some(({ path }) => path._tag === 'Regex')) return undefined
  const places = changedPlaces(before, routes)
  const placeAt = (key: string): Place | undefined =>
    places.has(key) ? places.get(key) : branchAt(before.branches, key)?.place
  const touched = new Map<string, Branch | undefined>()
  const touch = (key: string): void => {
    const place = touched.has(key) ? undefined : placeAt(key)
    if (place !== undefined) touched.set(key, branchOf(place, placeAt))
  }
  for (const [key, place] of places) {
    if (place === undefined) touched.set(key, undefined)
    else touch(key)
    const old = branchAt(before.branches, key)?.place
    if ((old?.prefixes ?? noPrefixes) === (place?.prefixes ?? noPrefixes)) continue
    for (const below of branchesBelow(before.branches, key)) touch(below.place.key)
  }
  return { routes, branches: edited(before.branches, keyOf, touched) }
}

/** The list of a branch, in order of precedence. */
export const listOf = ({ place, above }: Branch): ReadonlyArray<PathRoute> =>
  above.length === 0
    ? place.own
    : [...above.flatMap(({ routes }) => routes), ...place.own].sort((a, b) =>
        compareStrings(a.sortKey, b.sortKey),
      )

/** The places whose routes are others than in the tree, by key; `undefined` where there are none any more. */
const changedPlaces = (
  { routes: old, branches }: Tree,
  routes: ReadonlyArray<PathRoute>,
): ReadonlyMap<string, Place | undefined> => {
  const edits = new Map<string, Map<string, PathRoute | undefined>>()
  const edit = ({ path, sortKey }: PathRoute, route: PathRoute | undefined): void => {
    const own = edits.get(path.value) ?? new Map<string, PathRoute | undefined>()
    edits.set(path.value, own.set(sortKey, route))
  }
  for (const { before, after } of sortedChanges(old, routes, sortKeyOf)) {
    if (before !== undefined) edit(before, undefined)
    if (after !== undefined) edit(after, after)
  }
  const places = new Map<string, Place | undefined>()
  for (const [key, changes] of edits) {
    const before = branchAt(branches, key)?.place
    const own = edited(before?.own ?? [], sortKeyOf, changes)
    places.set(key, own.length === 0 ? undefined : placeOf(key, own, before))
  }
  return places
}

const sortKeyOf = ({ sortKey }: PathRoute): string => sortKey

const placeOf = (key: string, own: ReadonlyArray<PathRoute>, before: Place | undefined): Place => ({
  key,
  own,
  ownBytes: routesSize(own),
  prefixes: prefixesOf(own, before?.prefixes ?? noPrefixes),
})

const noPrefixes: Prefixes = { routes: [], bytes: 0 }

const prefixesOf = (own: ReadonlyArray<PathRoute>, before: Prefixes): Prefixes => {
  const routes = own.filter(({ path }) => path._tag === 'Prefix')
  if (routes.length === 0) return noPrefixes
  return isSameList(routes, before.routes) ? before : { routes, bytes: routesSize(routes) }
}

const branchOf = (place: Place, placeAt: (key: string) => Place | undefined): Branch => {
  const above = keysAbove(place.key).flatMap((key) => {
    const prefixes = placeAt(key)?.prefixes ?? noPrefixes
    return prefixes === noPrefixes ? [] : [prefixes]
  })
  const routes = above.reduce((sum, each) => sum + each.routes.length, place.own.length)
  const listBytes = above.reduce((sum, { bytes }) => sum + bytes, place.ownBytes)
  return { place, above, routes, listBytes, size: entrySize(place.key, listBytes) }
}

/** What a prefix that matches requests for this path may be: `/`, `/a` and `/a/b` for `/a/b/c`. */
const keysAbove = (path: string): ReadonlyArray<string> => {
  const keys = path === '/' ? [] : ['/']
  for (let end = path.indexOf('/', 1); end > 0; end = path.indexOf('/', end + 1))
    keys.push(path.slice(0, end))
  return keys
}

/** In sorted order they stand side by side. */
const branchesBelow = (branches: ReadonlyArray<Branch>, key: string): ReadonlyArray<Branch> => {
  const start = key === '/' ? key : `${key}/`
  const from = firstNotBefore(branches, (each) => compareStrings(keyOf(each), start))
  let to = from
  while (branches[to]?.place.key.startsWith(start) === true) to += 1
  return branches.slice(from, to)
}

const branchAt = (branches: ReadonlyArray<Branch>, key: string): Branch | undefined =>
  findSorted(branches, (branch) => compareStrings(keyOf(branch), key))

const keyOf = ({ place }: Branch): string => place.key
