import {
  Cluster,
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
} from '../../gen/envoy/config/cluster/v3/cluster.js'
import { ClusterLoadAssignment } from '../../gen/envoy/config/endpoint/v3/endpoint.js'
import { digest } from '../digest.js'
import { encoded } from '../encoded.js'
import { bytesResource, type Ref, type Resource, sortedStrings, type Uid } from '../resource.js'
import type { Rule, ServiceTarget, Target } from '../rule.js'
import { endpointType } from '../type-url.js'
import type { UnresolvedRef } from '../verdict.js'
import { adsSource } from './ads-source.js'
import { assignment } from './assignments.js'
import type { Destinations } from './destinations.js'
import { durationMs } from './duration.js'

/** Envoy's own default, written down so that a new version of Envoy cannot change it. */
const connectTimeoutMs = 5_000

/** Enough of a digest to tell the settings of one backend apart, short enough to read. */
const nameDigestLength = 12

export interface Clusters {
  readonly clusters: ReadonlyArray<Resource>
  readonly assignments: ReadonlyArray<Resource>
}

/** The name of the cluster of a target, wherever it stands. */
export type ClusterNames = (target: Target) => string

/**
 * The clusters that rules send to, each once however many share it, and the endpoints of those that are
 * found by Service.
 *
 * What Services and slices say is in the endpoints alone. A backend whose address is not allowed has a
 * cluster without any endpoint, which answers 503.
 */
export const clustersOf = (
  rules: ReadonlyArray<Rule>,
  clusterOf: (target: Target) => Resource,
  destinations: Destinations,
): Clusters => {
  const users = new Map<string, User>()
  for (const rule of rules)
    for (const target of targetsOf(rule)) {
      const readable = readableName(target)
      const user = users.get(readable) ?? { target, owners: new Set() }
      user.owners.add(rule.owner.uid)
      users.set(readable, user)
    }
  const used = [...users.values()]
  return {
    clusters: used.map(({ target, owners }) => owned(clusterOf(target), sortedStrings(owners))),
    assignments: used.flatMap(({ target, owners }) =>
      target._tag === 'Service'
        ? [owned(assignmentOf(target, destinations), sortedStrings(owners))]
        : [],
    ),
  }
}

interface User {
  readonly target: Target
  readonly owners: Set<Uid>
}

/** The targets of a rule, each as often as it stands there. */
export const targetsOf = ({ action }: Rule): ReadonlyArray<Target> =>
  action._tag === 'Forward' ? action.backends.map(({ target }) => target) : []

/** The resource with these objects standing in it, which are sorted. */
export const owned = (resource: Resource, owners: ReadonlyArray<Uid>): Resource => ({
  ...resource,
  owners,
})

/**
 * Makes the cluster of a target, without owners; remembers each that it has made.
 *
 * A cluster never changes under its name: the name ends in a digest of the settings, so that a changed
 * setting is a new cluster beside the old one. Neither the order nor the place of rules is in it. The name of
 * its endpoints is without that digest: they stay where they are.
 */
export const clusterMaker = (destinations: Destinations): ((target: Target) => Resource) => {
  const known = new Map<string, Resource>()
  return (target) => {
    const readable = readableName(target)
    const cluster = known.get(readable) ?? clusterOf(target, destinations)
    known.set(readable, cluster)
    return cluster
  }
}

/** As `clusterMaker` makes it. */
export const clusterOf = (target: Target, destinations: Destinations): Resource => {
  const settings = settingsOf(target, destinations)
  const settingsDigest = digest([encoded(Cluster, settings)]).slice(0, nameDigestLength)
  const name = `${readableName(target)}~${settingsDigest}`
  const refs: ReadonlyArray<Ref> =
    target._tag === 'Service' ? [{ typeUrl: endpointType, name: readableName(target) }] : []
  return bytesResource(name, encoded(Cluster, { ...settings, name }), refs)
}

/** The backends of a rule that lead nowhere at the moment. */
export const unresolvedRefs = (
  { action }: Rule,
  destinations: Destinations,
): ReadonlyArray<UnresolvedRef> =>
  action._tag !== 'Forward'
    ? []
    : action.backends.flatMap(({ target, field }) => {
        const { problem } = destinations(target)
        return problem === undefined ? [] : [{ path: field, ...problem }]
      })

/** The name of a target's endpoints, and the part of its cluster's name that people read. */
export const readableName = (target: Target): string => {
  switch (target._tag) {
    case 'Service':
      return `service/${target.namespace}/${target.name}/${target.port}`
    case 'Ip':
      return `ip/${target.address.includes(':') ? `[${target.address}]` : target.address}:${target.port}`
    case 'Dns':
      return `dns/${target.host}:${target.port}`
  }
}

const settingsOf = (target: Target, destinations: Destinations): Cluster => {
  const readable = readableName(target)
  const common = { altStatName: readable, connectTimeout: durationMs(connectTimeoutMs) }
  if (target._tag === 'Service')
    return {
      ...common,
      clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
      edsClusterConfig: { edsConfig: adsSource, serviceName: readable },
    }
  const { addresses } = destinations(target)
  const loadAssignment = assignment(readable, addresses)
  return target._tag === 'Ip' || addresses.length === 0
    ? {
        ...common,
        clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STATIC },
        loadAssignment,
      }
    : {
        ...common,
        clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STRICT_DNS },
        // A resolver that says nothing must not hold back the acknowledgement of other clusters.
        waitForWarmOnInit: false,
        dnsLookupFamily: Cluster_DnsLookupFamily.V4_PREFERRED,
        loadAssignment,
      }
}

/** The endpoints of a Service as they are now, without owners. */
export const assignmentOf = (target: ServiceTarget, destinations: Destinations): Resource => {
  const message = assignment(readableName(target), destinations(target).addresses)
  return bytesResource(readableName(target), encoded(ClusterLoadAssignment, message))
}
