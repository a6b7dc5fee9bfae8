import * as E from 'fp-ts/lib/Either.js'
import { propertyOf } from './codec/decode.js'
import { compile } from './compile.js'
import { type Context, defaultContext, type HttpListener } from './context.js'
import type { EdgeRoute, Metadata, RouteKey } from './edge-route.js'
import type { FieldError } from './field-error.js'
import { compareStrings } from './order.js'
import type { Rule } from './rule.js'
import { type Snapshot, type View, view } from './snapshot.js'
import { allotClaims, type Allotment } from './translate/claims.js'
import { clustersOf, unresolvedRefs } from './translate/clusters.js'
import { type Destinations, destinationsOf } from './translate/destinations.js'
import { listenersOf } from './translate/listeners.js'
import { bySeniority } from './translate/precedence.js'
import { routeTablesOf } from './translate/route-tables.js'
import { fragmentsOf } from './translate/routes.js'
import { clusterType, endpointType, listenerType, routeType } from './type-url.js'
import type { Acceptance, Verdict } from './verdict.js'

export interface Translation {
  readonly snapshot: Snapshot
  /** One verdict for every object of the input, by uid, in the order of the uids. */
  readonly verdicts: ReadonlyMap<string, Verdict>
}

/**
 * Translates every route of the world into the configuration of every fleet.
 *
 * Total: a route that cannot be served gets a verdict, and takes no other route down with it. The order of the
 * input never matters, and equal input gives equal bytes and versions in every process.
 * Objects that are being deleted are left out. Of two routes with the same claim the older serves it.
 * What a table names exists: every cluster of every route, and the endpoints of every cluster. Of several
 * objects with one uid the one with the highest generation counts.
 *
 * Costs O(n log n) in the number of claims, and what the codec's limits let one object weigh. What an object
 * compiles to is kept for as long as the very same object is passed again: it must not change meanwhile.
 *
 * ```ts
 * import assert from 'node:assert/strict'
 * import { decodeEdgeRoute, translate } from 'edgewright'
 *
 * const decoded = decodeEdgeRoute({
 *   apiVersion: 'net.10xdev.io/v1',
 *   kind: 'EdgeRoute',
 *   metadata: { namespace: 'shop', name: 'checkout' },
 *   spec: { backends: [{ address: { host: '10.0.0.7', port: 8080 } }] },
 * })
 * assert(decoded._tag === 'Right')
 * const { verdicts } = translate([decoded.right.route])
 * assert.equal(verdicts.get('shop/checkout')?.accepted._tag, 'Accepted')
 * ```
 */
export const translate = (
  routes: ReadonlyArray<EdgeRoute>,
  context: Context = defaultContext,
): Translation => assemble(routes.map(compiledRoute), context)

/** The first half of `translate`: what every Envoy is to hold. */
export const snapshotOf = (
  routes: ReadonlyArray<EdgeRoute>,
  context: Context = defaultContext,
): Snapshot => translate(routes, context).snapshot

/** One object of a routing language, as far as its language alone can judge it. */
interface Compiled {
  readonly key: RouteKey
  readonly uid: string
  readonly generation: number
  readonly result:
    | { readonly _tag: 'Rules'; readonly rules: ReadonlyArray<Rule> }
    | { readonly _tag: 'Refused'; readonly acceptance: Acceptance }
}

const compiledRoute = (route: EdgeRoute): Compiled => {
  const { metadata, rule } = compile(route)
  const { namespace, name, uid, generation, deletionTimestamp } = metadata ?? nobody(route)
  const of = { key: { namespace, name }, uid, generation }
  if (deletionTimestamp !== undefined) return refused(of, { _tag: 'Terminating' })
  if (E.isLeft(rule)) return refused(of, { _tag: 'Invalid', errors: rule.left })
  return { ...of, result: { _tag: 'Rules', rules: [rule.right] } }
}

/** What can be said of an object whose metadata is broken: its names, in so far as they are text. */
const nobody = (route: EdgeRoute): Metadata => {
  const namespace = textAt(route, 'namespace')
  const name = textAt(route, 'name')
  const uid = textAt(route, 'uid') || `${namespace}/${name}`
  return { namespace, name, uid, generation: 0, finalizers: [] }
}

const textAt = (route: unknown, key: string): string => {
  try {
    const value = propertyOf(propertyOf(route, 'metadata'), key)
    return typeof value === 'string' ? value : ''
  } catch {
    return ''
  }
}

const refused = (of: Omit<Compiled, 'result'>, acceptance: Acceptance): Compiled => ({
  ...of,
  result: { _tag: 'Refused', acceptance },
})

/** Everything behind the languages: rules, in whatever language they were written, to a translation. */
const assemble = (given: ReadonlyArray<Compiled>, context: Context): Translation => {
  const objects = oneOfEach(given).map((object) => placed(object, context))
  const rules = groupedByPlane(bySeniority(objects.flatMap(rulesOf)))
  const destinations = destinationsOf(context)
  const outcomes = new Map<string, Acceptance>()
  const dataPlanes = new Map<string, View>()
  for (const [name, { listeners }] of [...context.dataPlanes].sort(byName)) {
    const allotment = allotClaims(rules.get(name) ?? [])
    for (const [uid, outcome] of allotment.outcomes) outcomes.set(uid, outcome)
    dataPlanes.set(name, viewOf(allotment, listeners, destinations(name)))
  }
  const verdicts = objects.map((object) => verdictOf(object, outcomes, destinations))
  return {
    snapshot: { dataPlanes },
    verdicts: new Map(verdicts.map((verdict) => [verdict.uid, verdict])),
  }
}

const groupedByPlane = (rules: ReadonlyArray<Rule>): ReadonlyMap<string, ReadonlyArray<Rule>> => {
  const grouped = new Map<string, Array<Rule>>()
  for (const rule of rules) {
    const others = grouped.get(rule.dataPlane)
    if (others === undefined) grouped.set(rule.dataPlane, [rule])
    else others.push(rule)
  }
  return grouped
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  compareStrings(a, b)

const rulesOf = ({ result }: Compiled): ReadonlyArray<Rule> =>
  result._tag === 'Rules' ? result.rules : []

/** An object whose rules name a fleet that is not there takes no part. */
const placed = (object: Compiled, { dataPlanes }: Context): Compiled => {
  const stray = rulesOf(object).find(({ dataPlane }) => !dataPlanes.has(dataPlane))
  if (stray === undefined) return object
  const known = [...dataPlanes.keys()].sort(compareStrings)
  return refused(object, { _tag: 'UnknownDataPlane', dataPlane: stray.dataPlane, known })
}

/** One object for each uid, in the order of the uids; of equals the same one always. */
const oneOfEach = (objects: ReadonlyArray<Compiled>): ReadonlyArray<Compiled> => {
  const byUid = new Map<string, Compiled>()
  for (const object of objects) {
    const other = byUid.get(object.uid)
    if (other === undefined || compareStrings(precedenceOf(object), precedenceOf(other)) > 0)
      byUid.set(object.uid, object)
  }
  return [...byUid.values()].sort((a, b) => compareStrings(a.uid, b.uid))
}

/**
 * Of two objects with one uid that with the greater text counts: one whose metadata can be read, the later
 * generation, one that is being deleted; then content, so that their order says nothing. (Made of what was
 * compiled: a generation or a spec that was put together by hand may be anything.)
 */
const precedenceOf = ({ key, generation, result }: Compiled): string => {
  const content = JSON.stringify([key, result])
  if (result._tag === 'Rules') return `${rankOf(generation)} 0 ${content}`
  const { acceptance } = result
  const isBroken = acceptance._tag === 'Invalid' && acceptance.errors.some(isOfMetadata)
  const terminating = acceptance._tag === 'Terminating' ? 1 : 0
  return isBroken ? content : `${rankOf(generation)} ${terminating} ${content}`
}

const isOfMetadata = ({ path }: FieldError): boolean => path.startsWith('metadata')

/** Sorts behind all text that begins with a bracket, as that of an object with broken metadata does. */
const rankOf = (generation: number): string =>
  `g${String(generation).padStart(maxGenerationDigits, '0')}`

/** Those of the greatest integer that JavaScript can count to. */
const maxGenerationDigits = 16

const viewOf = (
  { granted, serving }: Allotment,
  listeners: ReadonlyArray<HttpListener>,
  destinations: Destinations,
): View => {
  const { clusters, assignments, nameOf } = clustersOf(serving, destinations)
  return view({
    [clusterType]: clusters,
    [endpointType]: assignments,
    [listenerType]: listenersOf(listeners),
    [routeType]: routeTablesOf(listeners, fragmentsOf(granted, nameOf)),
  })
}

const verdictOf = (
  { key, uid, generation, result }: Compiled,
  outcomes: ReadonlyMap<string, Acceptance>,
  destinations: (dataPlane: string) => Destinations,
): Verdict => {
  const of = { key, uid, generation }
  if (result._tag === 'Refused') return { ...of, accepted: result.acceptance, unresolved: [] }
  return {
    ...of,
    accepted: outcomes.get(uid) ?? { _tag: 'Accepted' },
    unresolved: result.rules.flatMap((rule) => unresolvedRefs(rule, destinations(rule.dataPlane))),
  }
}
