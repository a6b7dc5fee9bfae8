import {
  Cluster,
  Cluster_DiscoveryType as DiscoveryType,
} from '../../../../gen/envoy/config/cluster/v3/cluster.js'
import { HealthStatus } from '../../../../gen/envoy/config/core/v3/health_check.js'
import { ClusterLoadAssignment } from '../../../../gen/envoy/config/endpoint/v3/endpoint.js'
import {
  Endpoint,
  LbEndpoint,
  LocalityLbEndpoints,
} from '../../../../gen/envoy/config/endpoint/v3/endpoint_components.js'
import { memoize } from '../memo.js'
import { readAddress } from './listener.js'
import { modelled, notModelled } from './modelled.js'
import type { EndpointAddress } from './request.js'

/** Where a cluster has its endpoints from. */
export type ClusterEndpoints =
  | { readonly _tag: 'Eds'; readonly service: string }
  | { readonly _tag: 'Own'; readonly endpoints: ReadonlyArray<EndpointAddress> }
  /** Its own as well, with names: one that is resolved counts as one endpoint. */
  | { readonly _tag: 'Resolved'; readonly endpoints: ReadonlyArray<EndpointAddress> }

/** Reads an encoded Cluster. */
export const readCluster: (bytes: Uint8Array) => ClusterEndpoints = memoize((bytes) => {
  const cluster = Cluster.decode(bytes)
  checkCluster(cluster)
  const type = cluster.clusterDiscoveryType
  if (type?.$case === 'clusterType') {
    if (!resolvers.has(type.value.name ?? ''))
      return notModelled(`the cluster type ${type.value.name ?? ''}`)
    return { _tag: 'Resolved', endpoints: ownEndpoints(cluster) }
  }
  switch (type?.value ?? DiscoveryType.STATIC) {
    case DiscoveryType.EDS:
      return { _tag: 'Eds', service: edsService(cluster) ?? '' }
    case DiscoveryType.STATIC:
      return { _tag: 'Own', endpoints: ownEndpoints(cluster) }
    case DiscoveryType.STRICT_DNS:
    case DiscoveryType.LOGICAL_DNS:
      return { _tag: 'Resolved', endpoints: ownEndpoints(cluster) }
    case DiscoveryType.ORIGINAL_DST:
    case DiscoveryType.UNRECOGNIZED:
      return notModelled(`the discovery type ${type?.value}`)
  }
})

/** The name under which a cluster asks for its endpoints; `undefined` where it asks for none. */
export const edsService = (cluster: Cluster): string | undefined => {
  const type = cluster.clusterDiscoveryType
  if (type?.$case !== 'type' || type.value !== DiscoveryType.EDS) return undefined
  const service = cluster.edsClusterConfig?.serviceName ?? ''
  return service === '' ? (cluster.name ?? '') : service
}

/** True for a cluster that resolves the names of its own endpoints. */
export const resolvesNames = ({ clusterDiscoveryType: type }: Cluster): boolean => {
  switch (type?.$case) {
    case 'clusterType':
      return resolvers.has(type.value.name ?? '')
    case 'type':
      return type.value === DiscoveryType.STRICT_DNS || type.value === DiscoveryType.LOGICAL_DNS
    case undefined:
      return false
  }
}

/** True for an address that no resolver is asked for. */
export const isIpLiteral = (host: string): boolean => /^[\d.]+$|:/.test(host)

/** Reads the endpoints of an encoded ClusterLoadAssignment. */
export const readEndpoints: (bytes: Uint8Array) => ReadonlyArray<EndpointAddress> = memoize(
  (bytes) => endpointsOf(ClusterLoadAssignment.decode(bytes)),
)

const ownEndpoints = ({ loadAssignment }: Cluster): ReadonlyArray<EndpointAddress> =>
  loadAssignment === undefined ? [] : endpointsOf(loadAssignment)

const endpointsOf = (assignment: ClusterLoadAssignment): ReadonlyArray<EndpointAddress> => {
  checkAssignment(assignment)
  return (assignment.endpoints ?? []).flatMap((locality) => {
    checkLocality(locality)
    return (locality.lbEndpoints ?? []).map(readEndpoint)
  })
}

/** With other health, Envoy's panic mode decides: it may send to endpoints that are not well. */
const readEndpoint = (endpoint: LbEndpoint): EndpointAddress => {
  checkEndpoint(endpoint)
  const health = endpoint.healthStatus ?? HealthStatus.UNKNOWN
  if (health !== HealthStatus.UNKNOWN && health !== HealthStatus.HEALTHY)
    return notModelled(`LbEndpoint.healthStatus ${health}`)
  const host = endpoint.hostIdentifier
  if (host?.$case !== 'endpoint') return notModelled('an endpoint by reference')
  checkHost(host.value)
  return readAddress(host.value.address)
}

/** The cluster types of extensions that resolve the names in `load_assignment`. */
const resolvers: ReadonlySet<string> = new Set(['envoy.cluster.dns', 'envoy.clusters.dns'])

/** Behind the first line: how requests are sent, not whether. Active health checks are not here. */
const checkCluster = modelled(Cluster, [
  ...(['name', 'clusterDiscoveryType', 'edsClusterConfig', 'loadAssignment'] as const),
  ...(['altStatName', 'connectTimeout', 'perConnectionBufferLimitBytes', 'lbPolicy'] as const),
  ...(['lbConfig', 'loadBalancingPolicy', 'commonLbConfig', 'circuitBreakers'] as const),
  ...(['upstreamHttpProtocolOptions', 'commonHttpProtocolOptions'] as const),
  ...(['httpProtocolOptions', 'http2ProtocolOptions', 'protocolSelection'] as const),
  ...(['typedExtensionProtocolOptions', 'metadata', 'upstreamConnectionOptions'] as const),
  ...(['dnsRefreshRate', 'dnsJitter', 'dnsFailureRefreshRate', 'respectDnsTtl'] as const),
  ...(['dnsLookupFamily', 'typedDnsResolverConfig', 'waitForWarmOnInit'] as const),
  ...(['cleanupInterval', 'ignoreHealthOnHostRemoval'] as const),
  ...(['closeConnectionsOnHostHealthFailure', 'trackClusterStats'] as const),
])
const checkAssignment = modelled(ClusterLoadAssignment, ['clusterName', 'endpoints', 'policy'])
const checkLocality = modelled(LocalityLbEndpoints, [
  ...(['lbEndpoints', 'locality', 'metadata', 'loadBalancingWeight', 'priority'] as const),
])
const checkEndpoint = modelled(LbEndpoint, [
  ...(['hostIdentifier', 'healthStatus', 'metadata', 'loadBalancingWeight'] as const),
])
const checkHost = modelled(Endpoint, ['address', 'hostname', 'observabilityName'])
