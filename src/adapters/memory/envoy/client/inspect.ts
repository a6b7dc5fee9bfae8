import { ScopedRouteConfiguration } from '../../../../gen/envoy/config/route/v3/scoped_route.js'
import { Cluster } from '../../../../gen/envoy/config/cluster/v3/cluster.js'
import type { Address } from '../../../../gen/envoy/config/core/v3/address.js'
import type { ConfigSource } from '../../../../gen/envoy/config/core/v3/config_source.js'
import { ClusterLoadAssignment } from '../../../../gen/envoy/config/endpoint/v3/endpoint.js'
import { Listener } from '../../../../gen/envoy/config/listener/v3/listener.js'
import { RouteConfiguration } from '../../../../gen/envoy/config/route/v3/route.js'
import {
  HttpConnectionManager,
  ScopedRds,
} from '../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../../../../core/type-url.js'
import { memoize } from '../memo.js'
import { edsService, resolvesNames } from '../routing/cluster.js'
import { readFindings, type TableFindings } from '../routing/refusal.js'
import type { EndpointAddress } from '../routing/request.js'
import { defaultFetchMs } from './options.js'

/** What a client reads in a resource before it uses it. */
export interface Inspected {
  readonly name: string
  /** What it makes the client ask for: endpoints for a cluster, route tables for a listener. */
  readonly needs: ReadonlyArray<Need>
  /** Where a listener has scopes from. */
  readonly scopes: ReadonlyArray<ScopesNeed>
  /** Which requests a scope is for, as a text, and the table in which they are looked up. */
  readonly scope: { readonly key: string; readonly table: string }
  /**
   * The hosts of which one must be resolved before a cluster is ready; none if it does not wait.
   */
  readonly awaitedHosts: ReadonlyArray<string>
  /** Where a listener listens, if that is a port. */
  readonly address: EndpointAddress | undefined
  /** What a route table may be refused for. */
  readonly table: TableFindings
}

export interface Need {
  readonly name: string
  /** For how long it is waited for, in milliseconds; `undefined` is for ever. */
  readonly fetchMs: number | undefined
}

/** That a listener has scopes from somewhere. */
export interface ScopesNeed {
  /** Equal for two listeners that share what has come: the bytes of `ScopedRds`. */
  readonly source: string
  /** For how long scopes are waited for, in milliseconds; `undefined` is for ever. */
  readonly fetchMs: number | undefined
  /** For how long each table is that they name. */
  readonly tableFetchMs: number | undefined
}

/** Reads an encoded resource, each only once. Throws where the bytes are no message of its type. */
export const inspect = (typeUrl: TypeUrl, bytes: Uint8Array): Inspected => readers[typeUrl](bytes)

const nothingMore = {
  needs: [],
  scopes: [],
  scope: { key: '', table: '' },
  awaitedHosts: [],
  address: undefined,
  table: { invalid: undefined, findings: [] },
} as const

const readCluster = (bytes: Uint8Array): Inspected => {
  const cluster = Cluster.decode(bytes)
  const service = edsService(cluster)
  const waits = resolvesNames(cluster) && cluster.waitForWarmOnInit !== false
  return {
    ...nothingMore,
    name: cluster.name ?? '',
    needs:
      service === undefined
        ? []
        : [{ name: service, fetchMs: fetchMsOf(cluster.edsClusterConfig?.edsConfig) }],
    awaitedHosts: waits ? hostsOf(cluster.loadAssignment ?? {}) : [],
  }
}

const hostsOf = ({ endpoints }: ClusterLoadAssignment): ReadonlyArray<string> =>
  (endpoints ?? []).flatMap(({ lbEndpoints }) =>
    (lbEndpoints ?? []).flatMap(({ hostIdentifier: host }) =>
      host?.$case === 'endpoint' ? (readAddress(host.value.address)?.address ?? []) : [],
    ),
  )

const readAddress = (address: Address | undefined): EndpointAddress | undefined => {
  const socket = address?.address
  if (socket?.$case !== 'socketAddress') return undefined
  const { address: host, portSpecifier: port } = socket.value
  return { address: host ?? '', port: port?.$case === 'portValue' ? port.value : 0 }
}

const readListener = (bytes: Uint8Array): Inspected => {
  const { name, address, filterChains, defaultFilterChain } = Listener.decode(bytes)
  const chains = [...(filterChains ?? []), ...(defaultFilterChain ? [defaultFilterChain] : [])]
  const routes = chains
    .flatMap(({ filters }) => filters ?? [])
    .flatMap(({ configType }) => {
      if (configType?.$case !== 'typedConfig' || configType.value.typeUrl !== managerType) return []
      const manager = HttpConnectionManager.decode(configType.value.value ?? new Uint8Array())
      return manager.routeSpecifier === undefined ? [] : [manager.routeSpecifier]
    })
  return {
    ...nothingMore,
    name: name ?? '',
    needs: routes.flatMap(tableNeeds),
    scopes: routes.flatMap(scopesNeeds),
    address: readAddress(address),
  }
}

type RouteSpecifier = NonNullable<HttpConnectionManager['routeSpecifier']>

const tableNeeds = (routes: RouteSpecifier): ReadonlyArray<Need> =>
  routes.$case === 'rds'
    ? [{ name: routes.value.routeConfigName ?? '', fetchMs: fetchMsOf(routes.value.configSource) }]
    : []

const scopesNeeds = (routes: RouteSpecifier): ReadonlyArray<ScopesNeed> => {
  if (routes.$case !== 'scopedRoutes') return []
  const { configSpecifier: scopes, rdsConfigSource } = routes.value
  if (scopes?.$case !== 'scopedRds') return []
  return [
    {
      source: Buffer.from(ScopedRds.encode(scopes.value).finish()).toString('latin1'),
      fetchMs: fetchMsOf(scopes.value.scopedRdsConfigSource),
      tableFetchMs: fetchMsOf(rdsConfigSource),
    },
  ]
}

const managerType = `type.googleapis.com/${HttpConnectionManager.$type}`

const fetchMsOf = (source: ConfigSource | undefined): number | undefined => {
  const { seconds, nanos } = source?.initialFetchTimeout ?? {}
  if (source?.initialFetchTimeout === undefined) return defaultFetchMs
  const ms = Number(seconds ?? 0n) * 1_000 + (nanos ?? 0) / 1_000_000
  return ms === 0 ? undefined : ms
}

const readEndpoints = (bytes: Uint8Array): Inspected => ({
  ...nothingMore,
  name: ClusterLoadAssignment.decode(bytes).clusterName ?? '',
})

const readRoutes = (bytes: Uint8Array): Inspected => {
  const table = RouteConfiguration.decode(bytes)
  return { ...nothingMore, name: table.name ?? '', table: readFindings(table) }
}

const readScope = (bytes: Uint8Array): Inspected => {
  const { name, key, routeConfigurationName } = ScopedRouteConfiguration.decode(bytes)
  return {
    ...nothingMore,
    name: name ?? '',
    scope: {
      key: JSON.stringify((key?.fragments ?? []).map(({ type }) => type?.value ?? '')),
      table: routeConfigurationName ?? '',
    },
  }
}

const readers: Readonly<Record<TypeUrl, (bytes: Uint8Array) => Inspected>> = {
  [clusterType]: memoize(readCluster),
  [endpointType]: memoize(readEndpoints),
  [listenerType]: memoize(readListener),
  [scopeType]: memoize(readScope),
  [routeType]: memoize(readRoutes),
}
