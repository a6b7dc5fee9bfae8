import * as PM from '../persistent-map.js'
import { compareRefs, type Ref, type Resource } from '../resource.js'
import type { Resources, View } from '../snapshot.js'
import { clusterType, endpointType, routeType } from '../type-url.js'
import type { Watches } from './session.js'
import { covers } from './subscription.js'

/**
 * The target of a stream for the moment: the view, and the clusters that are gone from it but that the
 * client's route tables may still name, with their endpoints.
 *
 * A route that names a cluster which is not there answers 503 (Envoy does not warm routes), so a table without the
 * route is sent first, and the cluster leaves when that is acknowledged. What a client held before this stream
 * is not known here. Costs O(t log n) for each cluster that is to leave, t tables; nothing if none is.
 */
export const holdClusters = (watches: Watches, view: View): View => {
  const clusters = watches[clusterType]
  if (clusters === undefined) return view
  const leaving = PM.diff(clusters.sent, view[clusterType]).flatMap(({ before, after }) =>
    before !== undefined && after === undefined ? [before] : [],
  )
  if (leaving.length === 0) return view
  const tables = tablesOf(watches)
  const held = leaving.filter(({ name }) => tables.some(({ refs }) => refersTo(refs, name)))
  if (held.length === 0) return view
  const sent = watches[endpointType]?.sent
  const endpoints = held.flatMap(({ refs }) => refs.flatMap(({ name }) => PM.get(sent, name) ?? []))
  return {
    ...view,
    [clusterType]: held.reduce(PM.set<Resource>, view[clusterType]),
    [endpointType]: endpoints.reduce(withAbsent, view[endpointType]),
  }
}

const withAbsent = (resources: Resources, resource: Resource): Resources =>
  PM.get(resources, resource.name) === undefined ? PM.set(resources, resource) : resources

/** The tables that the client was sent, has accepted, or has refused, in so far as it asks for them. */
const tablesOf = (watches: Watches): ReadonlyArray<Resource> => {
  const tables = watches[routeType]
  if (tables === undefined) return []
  const { sent, acked, refused, subscription } = tables
  return [...PM.entries(sent), ...PM.entries(acked), ...refused].filter(({ name }) =>
    covers(subscription, name),
  )
}

/** References are sorted, and a table may have as many as there are clusters. */
const refersTo = (refs: ReadonlyArray<Ref>, cluster: string): boolean => {
  const wanted: Ref = { typeUrl: clusterType, name: cluster }
  let low = 0
  let high = refs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareRefs(refs[middle] ?? wanted, wanted)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle
  }
  return false
}
