import {
  Cluster,
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
} from '../../gen/envoy/config/cluster/v3/cluster.js'
import { ClusterLoadAssignment } from '../../gen/envoy/config/endpoint/v3/endpoint.js'
import type { LbEndpoint } from '../../gen/envoy/config/endpoint/v3/endpoint_components.js'
import { digest } from '../digest.js'
import { bytesResource, type Ref, type Resource } from '../resource.js'
import type { Rule, Target } from '../rule.js'
import { endpointType } from '../type-url.js'
import type { UnresolvedRef } from '../verdict.js'
import { adsSource } from './ads-source.js'
import { durationMs } from './duration.js'
import type { Address, Endpoints } from './endpoints.js'

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
 */
export const clustersOf = (rules: ReadonlyArray<Rule>, endpoints: Endpoints): Clusters => {
  const users = new Map<string, User>()
  for (const { owner, action } of rules) {
    if (action._tag !== 'Forward') continue
    for (const { target } of action.backends) {
      const readable = readableName(target)
      const user = users.get(readable) ?? { target, name: clusterName(target), owners: new Set() }
      user.owners.add(owner.uid)
      users.set(readable, user)
    }
  }
  const used = [...users.values()]
  return {
    clusters: used.map(clusterResource),
    assignments: used.flatMap(({ target, owners }) =>
      target._tag === 'Service' ? [assignmentResource(target, endpoints, owners)] : [],
    ),
    nameOf: (target) => users.get(readableName(target))?.name ?? clusterName(target),
  }
}

interface User {
  readonly target: Target
  /** Of its cluster. */
  readonly name: string
  readonly owners: Set<string>
}

const clusterName: ClusterNames = (target) => {
  const settings = Cluster.encode(settingsOf(target)).finish()
  return `${readableName(target)}~${digest([settings]).slice(0, nameDigestLength)}`
}

/** The backends of a rule that lead nowhere at the moment. */
export const unresolvedRefs = (
  { action }: Rule,
  endpoints: Endpoints,
): ReadonlyArray<UnresolvedRef> =>
  action._tag !== 'Forward'
    ? []
    : action.backends.flatMap(({ target, field }) => {
        const problem = target._tag === 'Service' ? endpoints(target).problem : undefined
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

const clusterResource = ({ target, name, owners }: User): Resource => {
  const bytes = Cluster.encode({ ...settingsOf(target), name }).finish()
  const refs: ReadonlyArray<Ref> =
    target._tag === 'Service' ? [{ typeUrl: endpointType, name: readableName(target) }] : []
  return bytesResource(name, bytes, refs, owners)
}

/** Everything about a cluster but its name. */
const settingsOf = (target: Target): Cluster => {
  const common: Cluster = {
    altStatName: readableName(target),
    connectTimeout: durationMs(connectTimeoutMs),
  }
  switch (target._tag) {
    case 'Service':
      return {
        ...common,
        clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
        edsClusterConfig: { edsConfig: adsSource, serviceName: readableName(target) },
      }
    case 'Ip':
      return {
        ...common,
        clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STATIC },
        loadAssignment: assignment(target, [target]),
      }
    case 'Dns':
      return {
        ...common,
        clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STRICT_DNS },
        // A resolver that says nothing must not hold back the acknowledgement of other clusters.
        waitForWarmOnInit: false,
        dnsLookupFamily: Cluster_DnsLookupFamily.V4_PREFERRED,
        loadAssignment: assignment(target, [{ address: target.host, port: target.port }]),
      }
  }
}

const assignmentResource = (
  target: Target & { readonly _tag: 'Service' },
  endpoints: Endpoints,
  owners: Iterable<string>,
): Resource => {
  const message = assignment(target, endpoints(target).addresses)
  const bytes = ClusterLoadAssignment.encode(message).finish()
  return bytesResource(readableName(target), bytes, [], owners)
}

/** Without any address: an explicit "there is none", which Envoy answers with 503. */
const assignment = (target: Target, addresses: ReadonlyArray<Address>): ClusterLoadAssignment => ({
  clusterName: readableName(target),
  endpoints: addresses.length === 0 ? [] : [{ lbEndpoints: addresses.map(lbEndpoint) }],
})

const lbEndpoint = ({ address, port }: Address): LbEndpoint => ({
  hostIdentifier: {
    $case: 'endpoint',
    value: {
      address: {
        address: {
          $case: 'socketAddress',
          value: { address, portSpecifier: { $case: 'portValue', value: port } },
        },
      },
    },
  },
})
