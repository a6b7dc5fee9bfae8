import {
  Cluster,
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
} from '../../gen/envoy/config/cluster/v3/cluster.js'
import { ClusterLoadAssignment } from '../../gen/envoy/config/endpoint/v3/endpoint.js'
import { digest } from '../digest.js'
import { bytesResource, type Ref, type Resource } from '../resource.js'
import type { Rule, Target } from '../rule.js'
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
  readonly nameOf: ClusterNames
}

/** The name of the cluster of a target, wherever it stands. */
export type ClusterNames = (target: Target) => string

/**
 * The clusters that rules send to, each once however many share it, and the endpoints of those that are
 * found by Service.
 *
 * A cluster never changes under its name: the name ends in a digest of the settings, so that a changed
 * setting is a new cluster beside the old one. Neither the order nor the place of rules is in it. The name of
 * its endpoints is without that digest: they stay where they are.
 *
 * What Services and slices say is in the endpoints alone. A backend whose address is not allowed has a
 * cluster without any endpoint, which answers 503.
 */
export const clustersOf = (rules: ReadonlyArray<Rule>, destinations: Destinations): Clusters => {
  const users = new Map<string, User>()
  for (const { owner, action } of rules) {
    if (action._tag !== 'Forward') continue
    for (const { target } of action.backends) {
      const readable = readableName(target)
      const user = users.get(readable) ?? userOf(target, destinations)
      user.owners.add(owner.uid)
      users.set(readable, user)
    }
  }
  const used = [...users.values()]
  return {
    clusters: used.map(clusterResource),
    assignments: used.flatMap(({ target, owners }) =>
      target._tag === 'Service' ? [assignmentResource(target, destinations, owners)] : [],
    ),
    nameOf: (target) => users.get(readableName(target))?.name ?? userOf(target, destinations).name,
  }
}

interface User {
  readonly target: Target
  /** Everything about its cluster but the name. */
  readonly settings: Cluster
  /** Of its cluster. */
  readonly name: string
  readonly owners: Set<string>
}

const userOf = (target: Target, destinations: Destinations): User => {
  const settings = settingsOf(target, destinations)
  const bytes = Cluster.encode(settings).finish()
  const name = `${readableName(target)}~${digest([bytes]).slice(0, nameDigestLength)}`
  return { target, settings, name, owners: new Set() }
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

const readableName = (target: Target): string => {
  switch (target._tag) {
    case 'Service':
      return `service/${target.namespace}/${target.name}/${target.port}`
    case 'Ip':
      return `ip/${target.address.includes(':') ? `[${target.address}]` : target.address}:${target.port}`
    case 'Dns':
      return `dns/${target.host}:${target.port}`
  }
}

const clusterResource = ({ target, settings, name, owners }: User): Resource => {
  const bytes = Cluster.encode({ ...settings, name }).finish()
  const refs: ReadonlyArray<Ref> =
    target._tag === 'Service' ? [{ typeUrl: endpointType, name: readableName(target) }] : []
  return bytesResource(name, bytes, refs, owners)
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

const assignmentResource = (
  target: Target & { readonly _tag: 'Service' },
  destinations: Destinations,
  owners: Iterable<string>,
): Resource => {
  const message = assignment(readableName(target), destinations(target).addresses)
  const bytes = ClusterLoadAssignment.encode(message).finish()
  return bytesResource(readableName(target), bytes, [], owners)
}
