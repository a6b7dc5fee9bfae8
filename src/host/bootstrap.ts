import { defaultDataPlane } from '../core/edge-route.js'
import type { Variant } from '../core/xds/messages.js'
import type { HostPort } from '../ports/host-port.js'

export { type HostPort, showHostPort } from '../ports/host-port.js'

/** What an Envoy's bootstrap says. */
export interface BootstrapOptions {
  /**
   * The Envoy's own name. No two running Envoys may share one: a control plane could not tell what
   * either of them holds.
   */
  readonly id: string
  /** The data plane that it belongs to; `edge-envoy` if absent. */
  readonly dataPlane?: string
  /** Where the control plane listens. */
  readonly xds: HostPort
  /** Where the admin interface listens, and there is none if absent: it can stop the Envoy. */
  readonly admin?: HostPort
  /** The protocol's variant; `delta` if absent. */
  readonly variant?: Variant
  /** How many connections of clients may be open at a time; `defaultMaxConnections` if absent. */
  readonly maxConnections?: number
}

/**
 * A flood of connections would end with the memory of the machine, and take all of them down; with
 * a limit only the newest are refused. An idle connection costs an Envoy 18 KB, so these fit into
 * 1 GB.
 */
export const defaultMaxConnections = 50_000

/**
 * Makes the bootstrap of an Envoy that gets its listeners, route tables, clusters and endpoints
 * from a control plane, over one aggregated stream (ADS).
 *
 * The result is plain data: `JSON.stringify` makes of it a file for `envoy -c file.json`. What has
 * a good default in Envoy is left out, `initial_fetch_timeout` (15 s) above all: without it an
 * Envoy that finds no control plane would never come up.
 */
export const bootstrap = (options: BootstrapOptions): BootstrapConfig => ({
  node: { id: options.id, cluster: options.dataPlane ?? defaultDataPlane },
  ...(options.admin === undefined ? {} : { admin: adminConfig(options.admin) }),
  dynamic_resources: {
    ads_config: adsConfig(options.variant ?? 'delta'),
    cds_config: { resource_api_version: 'V3', ads: {} },
    lds_config: { resource_api_version: 'V3', ads: {} },
  },
  static_resources: { clusters: [xdsCluster(options.xds)] },
  overload_manager: overloadManager(options.maxConnections ?? defaultMaxConnections),
})

/** `envoy.config.bootstrap.v3.Bootstrap` in its JSON form. */
export type BootstrapConfig = Readonly<Record<string, unknown>>

/** The cluster that stands for the control plane itself. */
const xdsClusterName = 'xds_cluster'

/** Within the node's region; a control plane that takes longer is tried again. */
const connectTimeout = '5s'

/**
 * A half-open connection would keep an Envoy on old routes for hours. With these an Envoy notices
 * after 40 s at most, at the price of one small frame each 30 s.
 */
const keepaliveInterval = '30s'
const keepaliveTimeout = '10s'

/** The pause before an Envoy dials again. Envoy's own bound of 30 s would make restarts felt. */
const redialBase = '0.5s'
const redialMax = '10s'

const adsConfig = (variant: Variant): object => ({
  api_type: variant === 'delta' ? 'DELTA_GRPC' : 'GRPC',
  transport_api_version: 'V3',
  set_node_on_first_message_only: true,
  grpc_services: [
    {
      envoy_grpc: {
        cluster_name: xdsClusterName,
        // Here, and not beside `envoy_grpc`: there Envoy takes it, and does not use it for its streams.
        retry_policy: { retry_back_off: { base_interval: redialBase, max_interval: redialMax } },
      },
    },
  ],
})

const xdsCluster = (xds: HostPort): object => ({
  name: xdsClusterName,
  connect_timeout: connectTimeout,
  ...(isIp(xds.host) ? { type: 'STATIC' } : { type: 'STRICT_DNS', dns_lookup_family: 'ALL' }),
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: {
        http2_protocol_options: {
          connection_keepalive: { interval: keepaliveInterval, timeout: keepaliveTimeout },
        },
      },
    },
  },
  load_assignment: {
    cluster_name: xdsClusterName,
    endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(xds) } }] }],
  },
})

/** An Envoy that is full must still say so, and take the order to end. */
const adminConfig = (admin: HostPort): object => ({
  address: socketAddress(admin),
  ignore_global_conn_limit: true,
})

const connectionLimit =
  'envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig'

const overloadManager = (maxConnections: number): object => ({
  resource_monitors: [
    {
      name: 'envoy.resource_monitors.global_downstream_max_connections',
      typed_config: {
        '@type': `type.googleapis.com/${connectionLimit}`,
        max_active_downstream_connections: maxConnections,
      },
    },
  ],
})

const socketAddress = ({ host, port }: HostPort): object => ({
  socket_address: { address: host, port_value: port },
})

const isIp = (host: string): boolean => host.includes(':') || /^\d+(\.\d+){3}$/.test(host)
