import * as E from 'fp-ts/lib/Either.js'
import { compileRoute } from './codec.js'
import { type Context, defaultContext } from './context.js'
import type { EdgeRoute } from './edge-route.js'
import { compareStrings } from './order.js'
import type { Rule } from './rule.js'
import { type Snapshot, type View, view } from './snapshot.js'
import { allotClaims, type Allotment } from './translate/claims.js'
import { clustersOf, unresolvedRefs } from './translate/clusters.js'
import { indexEndpoints } from './translate/endpoints.js'
import { listenersOf } from './translate/listeners.js'
import { bySeniority } from './translate/precedence.js'
import { routeTablesOf } from './translate/route-tables.js'
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
 * Costs O(n log n) in the number of claims; what one route compiles to is kept for as long as the very
 * same object is passed again.
 *
 * ```ts
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
): Translation => {
  const judged = latestOfEach(routes).map((route) => judge(route, context))
  const rules = judged.flatMap(({ rule }) => (rule === undefined ? [] : [rule])).sort(bySeniority)
  const allotments = new Map(
    [...context.dataPlanes.keys()].map((name) => [
      name,
      allotClaims(rules.filter((rule) => rule.dataPlane === name)),
    ]),
  )
  return {
    snapshot: { dataPlanes: viewsOf(allotments, context) },
    verdicts: verdictsOf(judged, allotments, context),
  }
}

/** The first half of `translate`: what every Envoy is to hold. */
export const snapshotOf = (
  routes: ReadonlyArray<EdgeRoute>,
  context: Context = defaultContext,
): Snapshot => translate(routes, context).snapshot

interface Judged {
  readonly route: EdgeRoute
  /** Absent where the route takes no part at all. */
  readonly rule: Rule | undefined
  readonly refusal: Acceptance | undefined
}

const judge = (route: EdgeRoute, context: Context): Judged => {
  const refused = (refusal: Acceptance): Judged => ({ route, rule: undefined, refusal })
  if (route.metadata.deletionTimestamp !== undefined) return refused({ _tag: 'Terminating' })
  const compiled = compileRoute(route)
  if (E.isLeft(compiled)) return refused({ _tag: 'Invalid', errors: compiled.left })
  const { dataPlane } = compiled.right
  if (context.dataPlanes.has(dataPlane)) return { route, rule: compiled.right, refusal: undefined }
  const known = [...context.dataPlanes.keys()].sort(compareStrings)
  return refused({ _tag: 'UnknownDataPlane', dataPlane, known })
}

/** One object for each uid, in the order of the uids: the latest, and of equals the same one always. */
const latestOfEach = (routes: ReadonlyArray<EdgeRoute>): ReadonlyArray<EdgeRoute> => {
  const byUid = new Map<string, EdgeRoute>()
  for (const route of routes) {
    const { uid } = route.metadata
    const other = byUid.get(uid)
    byUid.set(uid, other === undefined || supersedes(route, other) ? route : other)
  }
  return [...byUid.values()].sort((a, b) => compareStrings(a.metadata.uid, b.metadata.uid))
}

const supersedes = (route: EdgeRoute, other: EdgeRoute): boolean => {
  const newer = route.metadata.generation - other.metadata.generation
  if (newer !== 0) return newer > 0
  const terminating = Number(route.metadata.deletionTimestamp !== undefined)
  const otherTerminating = Number(other.metadata.deletionTimestamp !== undefined)
  if (terminating !== otherTerminating) return terminating > otherTerminating
  return compareStrings(JSON.stringify(route), JSON.stringify(other)) > 0
}

const viewsOf = (
  allotments: ReadonlyMap<string, Allotment>,
  context: Context,
): ReadonlyMap<string, View> => {
  const endpoints = indexEndpoints(context)
  return new Map(
    [...context.dataPlanes]
      .sort(([a], [b]) => compareStrings(a, b))
      .map(([name, { listeners }]) => {
        const allotment = allotments.get(name) ?? allotClaims([])
        const { clusters, assignments } = clustersOf(allotment.serving, endpoints)
        const resources = view({
          [clusterType]: clusters,
          [endpointType]: assignments,
          [listenerType]: listenersOf(listeners),
          [routeType]: routeTablesOf(listeners, allotment.granted),
        })
        return [name, resources]
      }),
  )
}

const verdictsOf = (
  judged: ReadonlyArray<Judged>,
  allotments: ReadonlyMap<string, Allotment>,
  context: Context,
): ReadonlyMap<string, Verdict> => {
  const endpoints = indexEndpoints(context)
  return new Map(
    judged.map(({ route, rule, refusal }) => {
      const { namespace, name, uid, generation } = route.metadata
      const allotment = rule === undefined ? undefined : allotments.get(rule.dataPlane)
      const accepted = refusal ?? allotment?.outcomes.get(uid) ?? { _tag: 'Accepted' }
      const unresolved = rule === undefined ? [] : unresolvedRefs(rule, endpoints)
      return [uid, { key: { namespace, name }, uid, generation, accepted, unresolved }]
    }),
  )
}
