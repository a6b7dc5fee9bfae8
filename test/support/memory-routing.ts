import type { Answer, Forwarded, Request } from 'edgewright/memory'
import { answer, type EncodedResources } from '../../src/adapters/memory/envoy/routing/answer.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
} from '../../src/core/type-url.js'
import {
  Cluster,
  Cluster_DiscoveryType as DiscoveryType,
} from '../../src/gen/envoy/config/cluster/v3/cluster.js'
import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.js'
import { Listener } from '../../src/gen/envoy/config/listener/v3/listener.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import type {
  Route,
  RouteAction,
  RouteMatch,
  VirtualHost,
} from '../../src/gen/envoy/config/route/v3/route_components.js'
import { HttpConnectionManager } from '../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'

const port = 10000

const socket = (address: string, portValue: number) => ({
  address: {
    $case: 'socketAddress' as const,
    value: { address, portSpecifier: { $case: 'portValue' as const, value: portValue } },
  },
})

export const endpointsAt = (
  ...ports: ReadonlyArray<number>
): ClusterLoadAssignment['endpoints'] => [
  {
    lbEndpoints: ports.map((each) => ({
      hostIdentifier: { $case: 'endpoint', value: { address: socket('10.0.0.1', each) } },
    })),
  },
]

export const staticCluster = (name: string, ...ports: ReadonlyArray<number>): Cluster => ({
  name,
  clusterDiscoveryType: { $case: 'type', value: DiscoveryType.STATIC },
  loadAssignment: { clusterName: name, endpoints: endpointsAt(...ports) },
})

export const edsCluster = (name: string, serviceName = ''): Cluster => ({
  name,
  clusterDiscoveryType: { $case: 'type', value: DiscoveryType.EDS },
  edsClusterConfig: { serviceName },
})

export const listener = (manager: HttpConnectionManager): Listener => ({
  name: 'http',
  address: socket('0.0.0.0', port),
  filterChains: [
    {
      filters: [
        {
          configType: {
            $case: 'typedConfig',
            value: {
              typeUrl: `type.googleapis.com/${HttpConnectionManager.$type}`,
              value: Buffer.from(HttpConnectionManager.encode(manager).finish()),
            },
          },
        },
      ],
    },
  ],
})

export const manager: HttpConnectionManager = {
  routeSpecifier: { $case: 'rds', value: { routeConfigName: 'table' } },
  httpFilters: [
    {
      name: 'router',
      configType: {
        $case: 'typedConfig',
        value: { typeUrl: 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' },
      },
    },
  ],
}

/** What an Envoy holds; three clusters with an endpoint each if nothing is said of them. */
export interface World {
  readonly table?: RouteConfiguration
  readonly manager?: HttpConnectionManager
  readonly clusters?: ReadonlyArray<Cluster>
  readonly assignments?: ReadonlyArray<ClusterLoadAssignment>
}

const named = <A>(
  items: ReadonlyArray<A>,
  nameOf: (item: A) => string | undefined,
  encode: (item: A) => { finish: () => Uint8Array },
): ReadonlyMap<string, { readonly bytes: Uint8Array }> =>
  new Map(items.map((item) => [nameOf(item) ?? '', { bytes: encode(item).finish() }]))

const encoded = (world: World): EncodedResources => ({
  [clusterType]: named(
    world.clusters ?? [staticCluster('a', 1), staticCluster('b', 2), staticCluster('c', 3)],
    ({ name }) => name,
    (item) => Cluster.encode(item),
  ),
  [endpointType]: named(
    world.assignments ?? [],
    ({ clusterName }) => clusterName,
    (item) => ClusterLoadAssignment.encode(item),
  ),
  [listenerType]: named(
    [listener({ ...manager, ...world.manager })],
    ({ name }) => name,
    (item) => Listener.encode(item),
  ),
  [scopeType]: new Map(),
  [routeType]: named(
    world.table === undefined ? [] : [world.table],
    ({ name }) => name,
    (item) => RouteConfiguration.encode(item),
  ),
})

export const to = (cluster: string, action: RouteAction = {}): NonNullable<Route['action']> => ({
  $case: 'route',
  value: { clusterSpecifier: { $case: 'cluster', value: cluster }, ...action },
})

export const route = (
  match: RouteMatch['pathSpecifier'],
  action: NonNullable<Route['action']>,
  others: Route = {},
): Route => ({ match: { pathSpecifier: match }, action, ...others })

export const all: NonNullable<RouteMatch['pathSpecifier']> = { $case: 'prefix', value: '/' }

export const tableOf = (
  routes: ReadonlyArray<Route>,
  host: VirtualHost = {},
): RouteConfiguration => ({
  name: 'table',
  virtualHosts: [{ name: 'host', domains: ['*'], routes, ...host }],
})

/** What becomes of a request: a GET of `/` on `example.com` if nothing else is said. */
export const ask = (world: World, request: Partial<Request> = {}): Answer => asking(world)(request)

/** The same for many requests: the world is read once. */
export const asking = (world: World): ((request: Partial<Request>) => Answer) => {
  const resources = encoded(world)
  return (request) =>
    answer(resources, { listener: port, host: 'example.com', path: '/', ...request })
}

/** The cluster that a request goes to, or the tag of what it gets instead. */
export const whereTo = (world: World, request: Partial<Request> = {}): string => {
  const result = ask(world, request)
  return result._tag === 'Forwarded' ? result.cluster : result._tag
}

export const forwarded = (world: World, request: Partial<Request> = {}): Forwarded => {
  const result = ask(world, request)
  if (result._tag !== 'Forwarded') throw new Error(`not forwarded: ${JSON.stringify(result)}`)
  return result
}
