import { type Context, type DataPlane, defaultContext } from './context.js'
import type { EdgeRoute } from './edge-route.js'
import { compareStrings } from './order.js'
import { type OrderedMap, orderedMapOf } from './ordered-map.js'
import type { Rule } from './rule.js'
import { type Snapshot, type View, view } from './snapshot.js'
import { wholeForm } from './table-form.js'
import { allotClaims, type Allotment } from './translate/claims.js'
import { clusterMaker, type ClusterNames, clustersOf } from './translate/clusters.js'
import { type Destinations, destinationsOf } from './translate/destinations.js'
import { listenersOf } from './translate/listeners.js'
import {
  type Compiled,
  compiledRoute,
  oneOfEach,
  placed,
  rulesOf,
  verdictOf,
} from './translate/objects.js'
import { bySeniority } from './translate/precedence.js'
import { routeTablesOf, virtualHostsOf } from './translate/route-tables.js'
import { fragmentsOf } from './translate/routes.js'
import { scopesOf } from './translate/scopes.js'
import { clusterType, endpointType, listenerType, routeType, scopeType } from './type-url.js'
import type { Acceptance, Verdict } from './verdict.js'

export interface Translation {
  readonly snapshot: Snapshot
  /** One verdict for every object of the input, by uid. */
  readonly verdicts: OrderedMap<Verdict>
  /** How many virtual hosts each data plane has, by its name: what its form is chosen by. */
  readonly hosts: ReadonlyMap<string, number>
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

/** Everything behind the languages: rules, in whatever language they were written, to a translation. */
const assemble = (given: ReadonlyArray<Compiled>, context: Context): Translation => {
  const objects = oneOfEach(given).map((object) => placed(object, context.dataPlanes))
  const rules = groupedByPlane(bySeniority(objects.flatMap(rulesOf)))
  const destinations = destinationsOf(context)
  const outcomes = new Map<string, Acceptance>()
  const dataPlanes = new Map<string, View>()
  const hosts = new Map<string, number>()
  for (const [name, plane] of [...context.dataPlanes].sort(byName)) {
    const allotment = allotClaims(rules.get(name) ?? [])
    for (const [uid, outcome] of allotment.outcomes) outcomes.set(uid, outcome)
    const made = planeOf(plane, allotment, destinations(name))
    dataPlanes.set(name, made.view)
    hosts.set(name, made.hosts)
  }
  const verdicts = objects.map((object) =>
    verdictOf(object, outcomes.get(object.uid), destinations),
  )
  return {
    snapshot: { dataPlanes },
    verdicts: orderedMapOf(verdicts.map((verdict) => [verdict.uid, verdict])),
    hosts,
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

const planeOf = (
  plane: DataPlane,
  { granted, serving }: Allotment,
  destinations: Destinations,
): { readonly view: View; readonly hosts: number } => {
  const { listeners, form = wholeForm } = plane
  const clusterOf = clusterMaker(destinations)
  const { clusters, assignments } = clustersOf(serving, clusterOf, destinations)
  const nameOf: ClusterNames = (target) => clusterOf(target).name
  const hosts = virtualHostsOf(fragmentsOf(granted, nameOf))
  return {
    hosts: hosts.length,
    view: view({
      [clusterType]: clusters,
      [endpointType]: assignments,
      [listenerType]: listenersOf(listeners, form),
      [scopeType]: scopesOf(plane, form),
      [routeType]: routeTablesOf(listeners, form, hosts),
    }),
  }
}
