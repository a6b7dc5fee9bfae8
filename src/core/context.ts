import { defaultDataPlane } from './edge-route.js'
import type { TableForm } from './table-form.js'

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
  /**
   * Which addresses routes may name as their backends. Absent: every one, as where those who write the routes
   * own the machine too. In a cluster of many tenants it must be there.
   */
  readonly addresses?: AddressPolicy
  /**
   * Into how many tables its hosts may be put once they are many, at most 4,096; absent or 0: they stay in one
   * table for each listener. Its Envoys are offered the scopes of so many, so that it should rarely change.
   */
  readonly shards?: number
  /** The form of its tables that is in force; absent: whole. It makes no difference to any request. */
  readonly form?: TableForm
}

/**
 * The addresses that routes may send to beside Services; without an entry, none.
 *
 * Whatever it says, nothing is sent to addresses that mean the Envoy's own machine or its metadata service, as
 * loopback and link-local ones do: `whyNeverAllowed` knows them. An entry that cannot be read allows nothing;
 * `parseAddressPolicy` says what is wrong with it.
 */
export interface AddressPolicy {
  /** IPv4 and IPv6, as in `10.0.0.0/8`. An IPv4-mapped IPv6 address is the IPv4 address in it. */
  readonly cidrs: ReadonlyArray<string>
  /**
   * `.example.com` for every name below it; `example.com` for that one too. The Envoy resolves names by itself:
   * who controls the DNS below a suffix decides where it leads.
   */
  readonly suffixes: ReadonlyArray<string>
}

export interface HttpListener {
  /** Unique in its data plane; also the name of its route table, where it has one of its own. */
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
  /**
   * The first counts: an endpoint with an address in each family is one endpoint. Absent or empty: every
   * address is an endpoint of its own.
   */
  readonly ipFamilies?: ReadonlyArray<IpFamily>
}

export type IpFamily = 'IPv4' | 'IPv6'

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
  /** Names are passed over: Envoy takes addresses. What the addresses say counts if absent. */
  readonly addressType?: IpFamily | 'FQDN'
  /** Named as the Service's ports; the numbers are those of the Pods. */
  readonly ports: ReadonlyArray<ServicePort>
  readonly endpoints: ReadonlyArray<Endpoint>
}

export interface Endpoint {
  /** Alternatives, as Kubernetes means them: the first counts. */
  readonly addresses: ReadonlyArray<string>
  readonly ready: boolean
  /** It answers requests, be it about to end or not; as `ready` if absent. */
  readonly serving?: boolean
  /** It is about to end; false if absent. */
  readonly terminating?: boolean
  /** Where it is, or whom it is meant for: the zone of its locality in Envoy. */
  readonly zone?: string
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
