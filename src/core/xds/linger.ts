import { hasSorted } from '../order.js'
import * as PM from '../persistent-map.js'
import { ClusterLoadAssignment } from '../../gen/envoy/config/endpoint/v3/endpoint.js'
import { bytesResource, compareRefs, type Ref, type Resource } from '../resource.js'
import type { Resources, View } from '../snapshot.js'
import { clusterType, endpointType } from '../type-url.js'

/**
 * How long a cluster stays once no table that the client may hold names it, in milliseconds. A request
 * that has chosen it may still be held by a filter, and would answer 503 if it went.
 */
export const clusterLingerMs = 10_000

/** A cluster that is gone from the view, and still in the client. */
export interface Lingering {
  /** `undefined` of one that only the client knows: all that can be done is not to take it away. */
  readonly cluster: Resource | undefined
  readonly endpoints: ReadonlyArray<Resource>
  /** Since when no table names it, in milliseconds; `undefined` while one does. */
  readonly unnamedSince: number | undefined
}

/** By the name of the cluster. */
export type Lingerers = ReadonlyMap<string, Lingering>

export const noLingerers: Lingerers = new Map()

/** What may go on without being named by the view. */
export interface Departure {
  readonly goal: Resources
  /** Those that were in the client, with their endpoints. */
  readonly held: Resources
  readonly endpoints: Resources
  /** Names that the client says it holds, of which no more is known. */
  readonly strangers: Iterable<string>
  /** Every table that the client may hold; `undefined` if it may hold one that nobody knows. */
  readonly tables: () => ReadonlyArray<Resource> | undefined
  readonly nowMs: number
}

/**
 * The clusters that are to stay although the view has them no more: those that a table names which the
 * client may hold, and then for `clusterLingerMs` more.
 *
 * A route that names a cluster which is not there answers 503 (Envoy does not warm routes), so a table without
 * the route goes first. Returns the very same map if nothing has changed. Costs O(t log n) for each cluster that is
 * about to leave, t tables; nothing if none is.
 */
export const depart = (before: Lingerers, departure: Departure): Lingerers => {
  const { goal, held, endpoints, strangers, tables, nowMs } = departure
  const leaving = new Map(before)
  for (const { name, before: cluster, after } of PM.diff(held, goal))
    if (cluster !== undefined && after === undefined && leaving.get(name)?.cluster === undefined)
      leaving.set(name, {
        cluster,
        endpoints: endpointsOf(cluster, endpoints),
        unnamedSince: undefined,
      })
  for (const name of strangers)
    if (!leaving.has(name) && PM.get(goal, name) === undefined)
      leaving.set(name, { cluster: undefined, endpoints: [], unnamedSince: nowMs })
  if (leaving.size === 0) return before
  const possible = tables()
  const after = new Map<string, Lingering>()
  for (const [name, each] of leaving) {
    if (PM.get(goal, name) !== undefined) continue
    const isNamed = possible === undefined || possible.some(({ refs }) => refersTo(refs, name))
    const unnamedSince = isNamed ? undefined : (each.unnamedSince ?? nowMs)
    if (unnamedSince !== undefined && nowMs - unnamedSince >= clusterLingerMs) continue
    after.set(name, unnamedSince === each.unnamedSince ? each : { ...each, unnamedSince })
  }
  const isSame =
    after.size === before.size && [...after].every(([name, each]) => before.get(name) === each)
  return isSame ? before : after
}

/** A cluster waits for its endpoints, and holds back the answers to all others: empty ones are better than none. */
export const endpointsOf = ({ refs }: Resource, endpoints: Resources): ReadonlyArray<Resource> =>
  refs.map(({ name }) => PM.get(endpoints, name) ?? noEndpoints(name))

/** An explicit "there is none". */
export const noEndpoints = (name: string): Resource =>
  bytesResource(name, ClusterLoadAssignment.encode({ clusterName: name }).finish())

/** The view with what lingers: the very same one of the same two. */
export const withLingerers = (view: View, lingerers: Lingerers): View => {
  if (lingerers.size === 0) return view
  const known = views.get(lingerers)
  if (known?.view === view) return known.result
  const result = merge(view, lingerers)
  views.set(lingerers, { view, result })
  return result
}

const views = new WeakMap<Lingerers, { readonly view: View; readonly result: View }>()

const merge = (view: View, lingerers: Lingerers): View => {
  const known = [...lingerers.values()]
  const clusters = known.flatMap(({ cluster }) => cluster ?? [])
  if (clusters.length === 0) return view
  return {
    ...view,
    [clusterType]: clusters.reduce(PM.set<Resource>, view[clusterType]),
    [endpointType]: known
      .flatMap(({ endpoints }) => endpoints)
      .reduce(withAbsent, view[endpointType]),
  }
}

/** The names that are not to be taken away yet, and cannot be sent either. */
export const strangersAmong = (lingerers: Lingerers): ReadonlySet<string> =>
  new Set([...lingerers].flatMap(([name, { cluster }]) => (cluster === undefined ? [name] : [])))

/** When the next one may go, in milliseconds. */
export const nextDeparture = (lingerers: Lingerers): number | undefined => {
  const times = [...lingerers.values()].flatMap(({ unnamedSince }) =>
    unnamedSince === undefined ? [] : [unnamedSince + clusterLingerMs],
  )
  return times.length === 0 ? undefined : Math.min(...times)
}

const withAbsent = (resources: Resources, resource: Resource): Resources =>
  PM.get(resources, resource.name) === undefined ? PM.set(resources, resource) : resources

/** References are sorted, and a table may have as many as there are clusters. */
export const refersTo = (refs: ReadonlyArray<Ref>, cluster: string): boolean => {
  const wanted: Ref = { typeUrl: clusterType, name: cluster }
  return hasSorted(refs, (ref) => compareRefs(ref, wanted))
}
