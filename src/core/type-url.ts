export const clusterType = 'type.googleapis.com/envoy.config.cluster.v3.Cluster' as const
export const endpointType =
  'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment' as const
export const listenerType = 'type.googleapis.com/envoy.config.listener.v3.Listener' as const
export const scopeType =
  'type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration' as const
export const routeType = 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration' as const

/** A resource type that edgewright serves, as the URL that stands on the wire. */
export type TypeUrl =
  | typeof clusterType
  | typeof endpointType
  | typeof listenerType
  | typeof scopeType
  | typeof routeType

/**
 * All of them, in the order in which a stream sends them when several have changed at once: a type stands
 * behind the types that it refers to (Envoy, xDS protocol, "Eventual consistency considerations":
 * CDS, EDS, LDS, RDS; scopes stand between listeners and the tables that they name).
 */
export const typeUrls: readonly [
  typeof clusterType,
  typeof endpointType,
  typeof listenerType,
  typeof scopeType,
  typeof routeType,
] = [clusterType, endpointType, listenerType, scopeType, routeType]

/** Makes a record with something for each type. */
export const perType = <A>(make: (typeUrl: TypeUrl) => A): Readonly<Record<TypeUrl, A>> => ({
  [clusterType]: make(clusterType),
  [endpointType]: make(endpointType),
  [listenerType]: make(listenerType),
  [scopeType]: make(scopeType),
  [routeType]: make(routeType),
})

/** True for a type URL that this control plane serves. */
export const isTypeUrl = (value: string): value is TypeUrl =>
  typeUrls.some((typeUrl) => typeUrl === value)

/**
 * True for the types of which a state-of-the-world response is the whole truth: a resource that it
 * leaves out is deleted in the client. Of the other types a response may hold only what changed.
 */
export const isFullState = (typeUrl: TypeUrl): boolean =>
  typeUrl === clusterType || typeUrl === listenerType || typeUrl === scopeType

/** A short name for people: `Cluster`, `RouteConfiguration`, … */
export const showTypeUrl = (typeUrl: TypeUrl): string => typeUrl.slice(typeUrl.lastIndexOf('.') + 1)
