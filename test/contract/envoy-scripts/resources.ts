import { adsSource } from '../../../src/core/translate/ads-source.js'
import { clusterType, endpointType, listenerType, routeType } from '../../../src/core/type-url.js'
import {
  Cluster,
  Cluster_DiscoveryType as DiscoveryType,
  Cluster_LbPolicy as LbPolicy,
} from '../../../src/gen/envoy/config/cluster/v3/cluster.js'
import type { Address } from '../../../src/gen/envoy/config/core/v3/address.js'
import { ClusterLoadAssignment } from '../../../src/gen/envoy/config/endpoint/v3/endpoint.js'
import { Listener } from '../../../src/gen/envoy/config/listener/v3/listener.js'
import { RouteConfiguration } from '../../../src/gen/envoy/config/route/v3/route.js'
import type { Route } from '../../../src/gen/envoy/config/route/v3/route_components.js'
import { Router } from '../../../src/gen/envoy/extensions/filters/http/router/v3/router.js'
import {
  HttpConnectionManager,
  type HttpFilter,
} from '../../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import type { Any } from '../../../src/gen/google/protobuf/any.js'
import { type Backend, type Item, silentHost } from '../../support/scripted-envoy.js'

export { clusterType, endpointType, listenerType, routeType }

/**
 * Stands in each cluster, listener and assignment that Envoy refuses, so that an Envoy in memory, which
 * knows no filter and no load balancer, refuses it too.
 */
export const refusedMark = 'refused here'

/** Stands in each cluster that makes Envoy refuse a response before it looks at the others. */
export const refusedWholeMark = 'refused whole'

/** Stands in each cluster that Envoy refuses when it warms already. */
export const refusedLateMark = 'refused late'

const addressOf = ({ address, port }: Backend): Address => ({
  address: {
    $case: 'socketAddress',
    value: { address, portSpecifier: { $case: 'portValue', value: port } },
  },
})

const clusterItem = (cluster: Cluster): Item => ({
  name: cluster.name ?? '',
  bytes: Cluster.encode(cluster).finish(),
})

/** A cluster whose endpoints are asked for by its own name. */
export const edsCluster = (name: string, settings: Cluster = {}): Item =>
  clusterItem({
    name,
    clusterDiscoveryType: { $case: 'type', value: DiscoveryType.EDS },
    edsClusterConfig: { edsConfig: adsSource },
    ...settings,
  })

/** Another form of it. */
export const changedEdsCluster = (name: string): Item =>
  edsCluster(name, { connectTimeout: { seconds: 3n } })

/** A cluster that is ready at once. */
export const staticCluster = (name: string, ...backends: ReadonlyArray<Backend>): Item =>
  clusterItem({
    name,
    clusterDiscoveryType: { $case: 'type', value: DiscoveryType.STATIC },
    loadAssignment: load(name, backends),
  })

/** A cluster whose host name no DNS server answers for. */
export const silentCluster = (name: string, settings: Cluster = {}): Item =>
  clusterItem({
    name,
    clusterDiscoveryType: { $case: 'type', value: DiscoveryType.STRICT_DNS },
    loadAssignment: load(name, [{ address: silentHost, port: 80 }]),
    ...settings,
  })

/** A cluster that is refused, and harms no other: its address is none. */
export const badCluster = (name: string): Item =>
  staticCluster(name, { address: refusedMark, port: 80 })

/** A cluster that is refused late: its load balancer is made when it is among those that warm. */
export const ghostCluster = (name: string): Item =>
  clusterItem({
    name,
    altStatName: refusedLateMark,
    clusterDiscoveryType: { $case: 'type', value: DiscoveryType.STATIC },
    lbPolicy: LbPolicy.RING_HASH,
    lbConfig: {
      $case: 'ringHashLbConfig',
      value: { minimumRingSize: 10n, maximumRingSize: 5n },
    },
  })

/** A cluster that does not pass the validation that comes before everything else. */
export const invalidCluster = (name: string): Item =>
  edsCluster(name, { altStatName: refusedWholeMark, connectTimeout: { seconds: -1n } })

const load = (name: string, backends: ReadonlyArray<Backend>): ClusterLoadAssignment => ({
  clusterName: name,
  endpoints: [
    {
      lbEndpoints: backends.map((backend) => ({
        hostIdentifier: { $case: 'endpoint', value: { address: addressOf(backend) } },
      })),
    },
  ],
})

/** The endpoints of a cluster. */
export const assignment = (name: string, ...backends: ReadonlyArray<Backend>): Item => ({
  name,
  bytes: ClusterLoadAssignment.encode(load(name, backends)).finish(),
})

/** Endpoints that are refused when they are put to use. */
export const badAssignment = (name: string): Item =>
  assignment(name, { address: refusedMark, port: 80 })

/** An HTTP listener on `127.0.0.1`. */
export const listener = (name: string, port: number, table: string, settings = {}): Item =>
  listenerItem(name, port, manager(table, settings))

/** Another form of it. */
export const changedListener = (name: string, port: number, table: string): Item =>
  listener(name, port, table, { serverName: 'changed' })

/** A listener that is refused, and harms no other. */
export const badListener = (name: string, port: number): Item =>
  listenerItem(name, port, { typeUrl: `type.googleapis.com/${refusedMark}` })

const listenerItem = (name: string, port: number, filter: Any): Item => ({
  name,
  bytes: Listener.encode({
    name,
    address: addressOf({ address: '127.0.0.1', port }),
    filterChains: [
      { filters: [{ name: 'filter', configType: { $case: 'typedConfig', value: filter } }] },
    ],
  }).finish(),
})

const manager = (routeConfigName: string, settings: HttpConnectionManager): Any => ({
  typeUrl: `type.googleapis.com/${HttpConnectionManager.$type}`,
  value: Buffer.from(
    HttpConnectionManager.encode({
      statPrefix: 'http',
      routeSpecifier: { $case: 'rds', value: { configSource: adsSource, routeConfigName } },
      httpFilters: [routerFilter],
      ...settings,
    }).finish(),
  ),
})

export const routerFilter: HttpFilter = {
  name: 'router',
  configType: {
    $case: 'typedConfig',
    value: {
      typeUrl: `type.googleapis.com/${Router.$type}`,
      value: Buffer.from(Router.encode({}).finish()),
    },
  },
}

/** What a path leads to: `to` a cluster, or `say`, a fixed answer. */
export type Target = { readonly to: string } | { readonly say: string }

/** A route table for every host: path → target, each path by itself. */
export const table = (name: string, routes: Readonly<Record<string, Target>>): Item =>
  tableItem(name, [{ name: 'all', domains: ['*'], routes: Object.entries(routes).map(route) }])

/** A table that is refused when it is put to use. */
export const badTable = (name: string): Item =>
  tableItem(name, [
    { name: 'one', domains: ['*'] },
    { name: 'other', domains: ['*'] },
  ])

/** A table that does not pass the validation that comes before everything else. */
export const invalidTable = (name: string): Item =>
  tableItem(name, [{ name: 'nowhere', domains: [] }])

/** A route table with these virtual hosts. */
export const tableItem = (
  name: string,
  virtualHosts: NonNullable<RouteConfiguration['virtualHosts']>,
  settings: RouteConfiguration = {},
): Item => ({
  name,
  bytes: RouteConfiguration.encode({ name, virtualHosts, ...settings }).finish(),
})

const route = ([path, target]: readonly [string, Target]): Route => ({
  match: { pathSpecifier: { $case: 'path', value: path } },
  action:
    'to' in target
      ? { $case: 'route', value: { clusterSpecifier: { $case: 'cluster', value: target.to } } }
      : {
          $case: 'directResponse',
          value: {
            status: 200,
            body: { specifier: { $case: 'inlineString', value: target.say } },
          },
        },
})
