import { Cluster } from '../../../../gen/envoy/config/cluster/v3/cluster.js'
import { ClusterLoadAssignment } from '../../../../gen/envoy/config/endpoint/v3/endpoint.js'
import { Listener } from '../../../../gen/envoy/config/listener/v3/listener.js'
import { RouteConfiguration } from '../../../../gen/envoy/config/route/v3/route.js'
import { HttpConnectionManager } from '../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  type TypeUrl,
} from '../../../../core/type-url.js'
import { memoize } from '../memo.js'
import { edsService } from '../routing/cluster.js'

/** What a client reads in a resource before it uses it. */
export interface Inspected {
  readonly name: string
  /** The names that it makes the client ask for: endpoints for a cluster, route tables for a listener. */
  readonly needs: ReadonlyArray<string>
}

/** Reads an encoded resource, each only once. Throws where the bytes are no message of its type. */
export const inspect = (typeUrl: TypeUrl, bytes: Uint8Array): Inspected => readers[typeUrl](bytes)

const readCluster = (bytes: Uint8Array): Inspected => {
  const cluster = Cluster.decode(bytes)
  const service = edsService(cluster)
  return { name: cluster.name ?? '', needs: service === undefined ? [] : [service] }
}

const readListener = (bytes: Uint8Array): Inspected => {
  const { name, filterChains, defaultFilterChain } = Listener.decode(bytes)
  const chains = [...(filterChains ?? []), ...(defaultFilterChain ? [defaultFilterChain] : [])]
  const needs = chains.flatMap(({ filters }) =>
    (filters ?? []).flatMap(({ configType }) => {
      if (configType?.$case !== 'typedConfig' || configType.value.typeUrl !== managerType) return []
      const manager = HttpConnectionManager.decode(configType.value.value ?? new Uint8Array())
      const routes = manager.routeSpecifier
      return routes?.$case === 'rds' ? [routes.value.routeConfigName ?? ''] : []
    }),
  )
  return { name: name ?? '', needs }
}

const managerType = `type.googleapis.com/${HttpConnectionManager.$type}`

const readEndpoints = (bytes: Uint8Array): Inspected => ({
  name: ClusterLoadAssignment.decode(bytes).clusterName ?? '',
  needs: [],
})

const readRoutes = (bytes: Uint8Array): Inspected => ({
  name: RouteConfiguration.decode(bytes).name ?? '',
  needs: [],
})

const readers: Readonly<Record<TypeUrl, (bytes: Uint8Array) => Inspected>> = {
  [clusterType]: memoize(readCluster),
  [endpointType]: memoize(readEndpoints),
  [listenerType]: memoize(readListener),
  [routeType]: memoize(readRoutes),
}
