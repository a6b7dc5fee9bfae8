import type {
  EnvoyOptions,
  EnvoyState,
  ReceivedResource,
  ReceivedResponse,
} from 'edgewright/memory'
import * as memoryEnvoy from '../../src/adapters/memory/envoy/client/index.js'
import type { EnvoyEvent } from '../../src/adapters/memory/envoy/client/messages.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
  showTypeUrl,
  type TypeUrl,
} from '../../src/core/type-url.js'
import type { DiscoveryRequest } from '../../src/core/xds/messages.js'
import {
  Cluster,
  Cluster_DiscoveryType as DiscoveryType,
} from '../../src/gen/envoy/config/cluster/v3/cluster.js'
import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.js'
import { Listener } from '../../src/gen/envoy/config/listener/v3/listener.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { ScopedRouteConfiguration } from '../../src/gen/envoy/config/route/v3/scoped_route.js'
import { HttpConnectionManager } from '../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'

export { clusterType, endpointType, listenerType, routeType, scopeType }

const socket = (host: string, port: number): NonNullable<Listener['address']> => ({
  address: {
    $case: 'socketAddress',
    value: { address: host, portSpecifier: { $case: 'portValue', value: port } },
  },
})

const address = (port: number): NonNullable<Listener['address']> => socket('10.0.0.1', port)

export const edsCluster = (name: string, settings: Cluster = {}): Cluster => ({
  name,
  clusterDiscoveryType: { $case: 'type', value: DiscoveryType.EDS },
  ...settings,
})

export const staticCluster = (name: string): Cluster => ({
  name,
  clusterDiscoveryType: { $case: 'type', value: DiscoveryType.STATIC },
  loadAssignment: assignment(name, 1),
})

export const dnsCluster = (name: string, host: string, settings: Cluster = {}): Cluster => ({
  name,
  clusterDiscoveryType: { $case: 'type', value: DiscoveryType.STRICT_DNS },
  loadAssignment: {
    clusterName: name,
    endpoints: [
      {
        lbEndpoints: [
          { hostIdentifier: { $case: 'endpoint', value: { address: socket(host, 80) } } },
        ],
      },
    ],
  },
  ...settings,
})

export const assignment = (
  clusterName: string,
  ...ports: ReadonlyArray<number>
): ClusterLoadAssignment => ({
  clusterName,
  endpoints: ports.map((port) => ({
    lbEndpoints: [{ hostIdentifier: { $case: 'endpoint', value: { address: address(port) } } }],
  })),
})

/** An HTTP listener, or one without any filters where `table` is absent. */
export const listener = (name: string, port: number, table?: string): Listener => ({
  name,
  address: address(port),
  filterChains: table === undefined ? [] : [{ filters: [{ configType: manager(table) }] }],
})

const manager = (routeConfigName: string) => ({
  $case: 'typedConfig' as const,
  value: {
    typeUrl: `type.googleapis.com/${HttpConnectionManager.$type}`,
    value: Buffer.from(
      HttpConnectionManager.encode({
        routeSpecifier: { $case: 'rds', value: { routeConfigName } },
      }).finish(),
    ),
  },
})

/** A table that sends everything to one cluster, or nothing anywhere. */
export const table = (name: string, cluster?: string): RouteConfiguration => ({
  name,
  virtualHosts: [
    {
      name: 'all',
      domains: ['*'],
      routes:
        cluster === undefined
          ? []
          : [
              {
                match: { pathSpecifier: { $case: 'prefix', value: '/' } },
                action: {
                  $case: 'route',
                  value: { clusterSpecifier: { $case: 'cluster', value: cluster } },
                },
              },
            ],
    },
  ],
})

type Message =
  Cluster | ClusterLoadAssignment | Listener | RouteConfiguration | ScopedRouteConfiguration

/** A message as it stands in a response, in version 1 unless another is given. */
export const item = (typeUrl: TypeUrl, message: Message, version = '1'): ReceivedResource => {
  const name = 'clusterName' in message ? message.clusterName : (message as Cluster).name
  return { name: name ?? '', version, typeUrl, bytes: encode(typeUrl, message) }
}

const encode = (typeUrl: TypeUrl, message: Message): Uint8Array => {
  if (typeUrl === clusterType) return Cluster.encode(message as Cluster).finish()
  if (typeUrl === endpointType)
    return ClusterLoadAssignment.encode(message as ClusterLoadAssignment).finish()
  if (typeUrl === listenerType) return Listener.encode(message as Listener).finish()
  if (typeUrl === scopeType)
    return ScopedRouteConfiguration.encode(message as ScopedRouteConfiguration).finish()
  return RouteConfiguration.encode(message as RouteConfiguration).finish()
}

/** A response in version 1 with these messages; its nonce must be new. */
export const response = (
  typeUrl: TypeUrl,
  nonce: string,
  messages: ReadonlyArray<Message>,
  others: Partial<ReceivedResponse> = {},
): ReceivedResponse => ({
  typeUrl,
  nonce,
  version: '1',
  resources: messages.map((message) => item(typeUrl, message, others.version)),
  removed: [],
  ...others,
})

export interface Played {
  readonly state: EnvoyState
  /** What it sent, event by event, as `show` says it. */
  readonly sent: ReadonlyArray<ReadonlyArray<string>>
}

/** Plays a response for an event: most events are one. */
export type Happening = ReceivedResponse | EnvoyEvent

export const node = { id: 'envoy-1', cluster: 'edge' }

/** Starts an Envoy, connects it, and lets these things happen to it. */
export const play = (
  options: Omit<EnvoyOptions, 'node'>,
  ...happenings: ReadonlyArray<Happening>
): Played =>
  goOn({ state: memoryEnvoy.start({ node, ...options }), sent: [] }, connected, ...happenings)

/** Lets more things happen; `sent` says only what is sent from here on. */
export const goOn = ({ state }: Played, ...happenings: ReadonlyArray<Happening>): Played => {
  let current = state
  const sent = happenings.map((happening) => {
    const event: EnvoyEvent =
      '_tag' in happening ? happening : { _tag: 'ResponseReceived', response: happening }
    const [next, effects] = memoryEnvoy.step(current, event)
    current = next
    return effects.map(({ request }) => show(request))
  })
  return { state: current, sent }
}

export const connected: EnvoyEvent = { _tag: 'Connected' }
export const disconnected: EnvoyEvent = { _tag: 'Disconnected' }

/** It is this late now, in milliseconds since the start. */
export const at = (nowMs: number): EnvoyEvent => ({ _tag: 'TimePassed', nowMs })

/**
 * What becomes of a request to a listener, or on a connection: the cluster that it goes to, the flag of a 503
 * with its cluster, or the tag of the answer.
 */
export const ask = ({ state }: Played, listener: string | number, connection?: number): string => {
  const answer = memoryEnvoy.request(state, {
    listener,
    host: 'x',
    path: '/',
    ...(connection === undefined ? {} : { connection }),
  })
  switch (answer._tag) {
    case 'Forwarded':
      return answer.cluster
    case 'ServiceUnavailable':
      return `${answer.flag} ${answer.cluster}`
    case 'Redirected':
    case 'Responded':
    case 'NotFound':
    case 'ConnectionRefused':
      return answer._tag
  }
}

/**
 * A request in one line: its type, the names, then what else is there. `Cluster [a] v=1 n=2`, or in
 * delta `Cluster +[a] -[b] held a=1 n=2`, and `!` with the refusal.
 */
export const show = (request: DiscoveryRequest): string =>
  [
    showTypeUrl(request.typeUrl as TypeUrl),
    ...(request.node === undefined ? [] : [`of ${request.node.id}`]),
    ...(request._tag === 'Sotw'
      ? [`[${request.resourceNames.join()}]`, ...field('v', request.versionInfo)]
      : [
          ...list('+', request.subscribe),
          ...list('-', request.unsubscribe),
          ...[...request.initialResourceVersions].map(([name, version]) => `${name}=${version}`),
        ]),
    ...field('n', request.responseNonce),
    ...(request.errorDetail === undefined ? [] : [`! ${request.errorDetail.message}`]),
  ].join(' ')

const field = (name: string, value: string): ReadonlyArray<string> =>
  value === '' ? [] : [`${name}=${value}`]

const list = (sign: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0 ? [] : [`${sign}[${names.join()}]`]

/** The names that an Envoy holds of a type, each with its version. */
export const heldOf = ({ state }: Played, typeUrl: TypeUrl): ReadonlyArray<string> =>
  [...memoryEnvoy.held(state)[typeUrl]].map(([name, { version }]) => `${name}=${version}`).sort()
