/**
 * The resource types that edgewright serves, as the type URLs that stand on the wire.
 *
 * The order is the one in which a stream sends them when several have changed at once: a type stands
 * behind the types that it refers to (Envoy, xDS protocol, "Eventual consistency considerations":
 * CDS, EDS, LDS, RDS).
 */
export const typeUrls = [
  'type.googleapis.com/envoy.config.cluster.v3.Cluster',
  'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
  'type.googleapis.com/envoy.config.listener.v3.Listener',
  'type.googleapis.com/envoy.config.route.v3.RouteConfiguration',
] as const

export type TypeUrl = (typeof typeUrls)[number]

export const clusterType: TypeUrl = typeUrls[0]
export const endpointType: TypeUrl = typeUrls[1]
export const listenerType: TypeUrl = typeUrls[2]
export const routeType: TypeUrl = typeUrls[3]

/** True for a type URL that this control plane serves. */
export const isTypeUrl = (value: string): value is TypeUrl =>
  (typeUrls as ReadonlyArray<string>).includes(value)

/**
 * True for the types of which a state-of-the-world response is the whole truth: a resource that it
 * leaves out is deleted in the client. Of the other types a response may hold only what changed.
 */
export const isFullState = (typeUrl: TypeUrl): boolean =>
  typeUrl === clusterType || typeUrl === listenerType

/** A short name for people: `Cluster`, `RouteConfiguration`, … */
export const showTypeUrl = (typeUrl: TypeUrl): string => typeUrl.slice(typeUrl.lastIndexOf('.') + 1)
