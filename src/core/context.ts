import { defaultDataPlane } from './edge-route.js'

/** What a translation needs to know of the world beside the routes. */
export interface Context {
  /** The fleets that there are, by name. */
  readonly dataPlanes: ReadonlyMap<string, DataPlane>
  readonly services: ReadonlyArray<Service>
  readonly endpointSlices: ReadonlyArray<EndpointSlice>
}

/** A fleet of Envoys with one configuration. Listeners belong to it, not to routes. */
export interface DataPlane {
  readonly listeners: ReadonlyArray<HttpListener>
}

export interface HttpListener {
  /** Unique in its data plane; also the name of its route table. */
  readonly name: string
  /** An IP address to listen on. */
  readonly address: string
  readonly port: number
}

/** The parts of a Kubernetes Service that routing needs. */
export interface Service {
  readonly namespace: string
  readonly name: string
  readonly ports: ReadonlyArray<ServicePort>
}

export interface ServicePort {
  /** Empty where the Service has one port without a name. */
  readonly name: string
  readonly port: number
}

/** The parts of a Kubernetes EndpointSlice that routing needs. */
export interface EndpointSlice {
  readonly namespace: string
  readonly name: string
  /** The name of the Service, from the label `kubernetes.io/service-name`. */
  readonly service: string
  /** Named as the Service's ports; the numbers are those of the Pods. */
  readonly ports: ReadonlyArray<ServicePort>
  readonly endpoints: ReadonlyArray<Endpoint>
}

export interface Endpoint {
  /** Alternatives, as Kubernetes means them: the first counts. */
  readonly addresses: ReadonlyArray<string>
  readonly ready: boolean
}

/**
 * The data plane `edge-envoy` with HTTP on port 10000 of every IPv4 address, and nothing else.
 * (Not 10080: browsers and `fetch` refuse that port.)
 */
export const defaultContext: Context = {
  dataPlanes: new Map([
    [defaultDataPlane, { listeners: [{ name: 'http', address: '0.0.0.0', port: 10000 }] }],
  ]),
  services: [],
  endpointSlices: [],
}
