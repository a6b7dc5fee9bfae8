import type { EdgeRouteSpec } from '../../../src/core/edge-route.js'
import type { Condition } from '../../../src/core/status.js'

/** An EdgeRoute as the API server shows it. */
export interface EdgeRouteObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly generation: number
    readonly resourceVersion: string
    readonly finalizers?: ReadonlyArray<string>
    readonly deletionTimestamp?: string
  }
  readonly spec: Partial<EdgeRouteSpec>
  readonly status?: { readonly conditions?: ReadonlyArray<Condition> }
}

/** What one condition of an object says; `undefined` where it has none of this type. */
export const conditionOf = (
  object: EdgeRouteObject | undefined,
  type: string,
): Condition | undefined => object?.status?.conditions?.find((each) => each.type === type)

/** True of an object whose `Programmed` is true for the generation that it has. */
export const isProgrammed = (object: EdgeRouteObject | undefined): boolean => {
  const programmed = conditionOf(object, 'Programmed')
  return (
    programmed?.status === 'True' && programmed.observedGeneration === object?.metadata.generation
  )
}

/** Anything that is applied. */
export type Manifest = Readonly<Record<string, unknown>>

/** A route, as somebody writes it. */
export const routeManifest = (namespace: string, name: string, spec: Manifest): Manifest => ({
  apiVersion: 'net.10xdev.io/v1',
  kind: 'EdgeRoute',
  metadata: { namespace, name },
  spec,
})

/** A route for one prefix to one Service. */
export const prefixRoute = (namespace: string, name: string, service: string = name): Manifest =>
  routeManifest(namespace, name, {
    matches: [{ path: { prefix: `/${name}` } }],
    backends: [{ service: { name: service, port: 80 } }],
  })

/** A Service whose endpoints are written by hand, since there are no Pods. */
export const serviceManifest = (namespace: string, name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: { ports: [{ name: 'http', port: 80 }] },
})

export interface SliceEndpoint {
  readonly address: string
  readonly ready?: boolean
  readonly serving?: boolean
  readonly terminating?: boolean
}

/** The endpoints of a Service, all on one port. */
export const sliceManifest = (
  namespace: string,
  service: string,
  port: number,
  endpoints: ReadonlyArray<SliceEndpoint>,
  suffix = 'a',
): Manifest => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace,
    name: `${service}-${suffix}`,
    labels: { 'kubernetes.io/service-name': service },
  },
  addressType: 'IPv4',
  ports: [{ name: 'http', port, protocol: 'TCP' }],
  endpoints: endpoints.map(({ address, ...conditions }) => ({
    addresses: [address],
    conditions: { ready: true, ...conditions },
  })),
})

/** A route for the prefix of its name, and a Service of that name for it with one endpoint. */
export const servedRoute = (
  namespace: string,
  name: string,
  port: number,
  address: string,
): ReadonlyArray<Manifest> => [
  ...serviceWith(namespace, name, port, [address]),
  prefixRoute(namespace, name),
]

/** A Service with its endpoints. */
export const serviceWith = (
  namespace: string,
  name: string,
  port: number,
  addresses: ReadonlyArray<string>,
): ReadonlyArray<Manifest> => [
  serviceManifest(namespace, name),
  sliceManifest(
    namespace,
    name,
    port,
    addresses.map((address) => ({ address })),
  ),
]
