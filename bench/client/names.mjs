import { BinaryReader } from '@bufbuild/protobuf/wire'
import { Cluster } from '../../dist/gen/envoy/config/cluster/v3/cluster.js'
import { Listener } from '../../dist/gen/envoy/config/listener/v3/listener.js'
import { ScopedRouteConfiguration } from '../../dist/gen/envoy/config/route/v3/scoped_route.js'
import { HttpConnectionManager } from '../../dist/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'

export const scopedRouteType = 'type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration'

/** The name of a resource of any type that is served here: the first field of each. */
export const nameOf = (bytes) => {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (field === 1) return reader.string()
    reader.skip(wireType)
  }
  return ''
}

/** Reads the same bytes once: many Envoys in one process are sent the same, and must not be slow to answer. */
const onceForBytes = (read) => {
  const known = new Map()
  return (bytes) => {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).latin1Slice()
    if (!known.has(key)) known.set(key, read(bytes))
    return known.get(key)
  }
}

/** The endpoints that a cluster asks for, if it does. */
export const endpointNames = onceForBytes((bytes) => {
  const { name, edsClusterConfig } = Cluster.decode(bytes)
  return edsClusterConfig === undefined ? [] : [edsClusterConfig.serviceName || name]
})

/** The tables that a listener names, and whether it asks for scopes that name others. */
export const routesOfListener = onceForBytes((bytes) => {
  const managers = Listener.decode(bytes)
    .filterChains.flatMap(({ filters }) => filters)
    .filter(({ name }) => name === 'envoy.filters.network.http_connection_manager')
    .map(({ configType }) => HttpConnectionManager.decode(configType.value.value))
  const specifiers = managers.map(({ routeSpecifier }) => routeSpecifier)
  return {
    tables: specifiers.flatMap(({ $case, value }) =>
      $case === 'rds' ? [value.routeConfigName] : [],
    ),
    isScoped: specifiers.some(({ $case }) => $case === 'scopedRoutes'),
  }
})

/** The table that a scope leads to. */
export const tableOfScope = onceForBytes(
  (bytes) => ScopedRouteConfiguration.decode(bytes).routeConfigurationName,
)
