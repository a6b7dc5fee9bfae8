import { canonicalIp } from '../codec/check/ip.js'
import type { Context, Endpoint, EndpointSlice, Service, ServicePort } from '../context.js'
import { compareStrings } from '../order.js'
import type { ServiceTarget } from '../rule.js'
import type { UnresolvedRef } from '../verdict.js'

export interface Address {
  readonly address: string
  readonly port: number
  readonly zone: string | undefined
}

/** Where a backend leads, or why it leads nowhere. */
export interface Resolution {
  /** Sorted, and each address and port once; empty if there is nothing to send a request to. */
  readonly addresses: ReadonlyArray<Address>
  readonly problem: Omit<UnresolvedRef, 'path'> | undefined
}

/** Finds the endpoints of Services. */
export type Endpoints = (target: ServiceTarget) => Resolution

/** Says in words what an address is that must not be sent to; nothing of all others. */
export type WhyNot = (address: string) => string | undefined

/** Of one name: the Services, of which one counts, and the slices. A changed state is another object. */
export interface ServiceState {
  readonly services: ReadonlyArray<Service>
  readonly slices: ReadonlyArray<EndpointSlice>
}

export const serviceKey = ({
  namespace,
  name,
}: {
  readonly namespace: string
  readonly name: string
}): string => `${namespace}/${name}`

/** The key of the Service that a slice belongs to. */
export const serviceKeyOf = ({ namespace, service }: EndpointSlice): string =>
  serviceKey({ namespace, name: service })

/** Prepares the search for the endpoints of what there is, as `endpointsBy` finds them. */
export const indexEndpoints = ({
  services,
  endpointSlices,
}: Context): ((whyNot: WhyNot) => Endpoints) => {
  const states = new Map<string, { services: Array<Service>; slices: Array<EndpointSlice> }>()
  const stateOf = (key: string): { services: Array<Service>; slices: Array<EndpointSlice> } => {
    const known = states.get(key) ?? { services: [], slices: [] }
    states.set(key, known)
    return known
  }
  for (const service of services) stateOf(serviceKey(service)).services.push(service)
  for (const slice of endpointSlices) stateOf(serviceKeyOf(slice)).slices.push(slice)
  return endpointsBy((key) => states.get(key))
}

/**
 * Finds endpoints as Kubernetes means it: a Service's port leads to the ports of the
 * same name in all slices of the Service, at the endpoints that are ready; where none is, at those that
 * still serve while they end. (A list of ports without names has one entry, with the empty name.)
 *
 * Each port of a state is resolved once, however many routes lead there. Of several Services with one name the
 * same one counts always. What `whyNot` speaks against is left out.
 */
export const endpointsBy =
  (find: (key: string) => ServiceState | undefined) =>
  (whyNot: WhyNot): Endpoints => {
    const known = new WeakMap<ServiceState, Map<number | string, Resolution>>()
    return ({ namespace, name, port }) => {
      const key = serviceKey({ namespace, name })
      const state = find(key) ?? nothing
      const ports = known.get(state) ?? new Map<number | string, Resolution>()
      if (state !== nothing) known.set(state, ports)
      const resolution = ports.get(port) ?? resolve(key, port, state, whyNot)
      if (state !== nothing) ports.set(port, resolution)
      return resolution
    }
  }

const nothing: ServiceState = { services: [], slices: [] }

const countingOne = (services: ReadonlyArray<Service>): Service | undefined => {
  const [first, ...others] = services
  return others.reduce(
    (least, each) => (least === undefined || textOf(each) < textOf(least) ? each : least),
    first,
  )
}

const textOf = ({ ports, ipFamilies = [] }: Service): string =>
  JSON.stringify([ports.map(({ name, port }) => [name, port]), ipFamilies])

const resolve = (
  key: string,
  port: number | string,
  { services, slices }: ServiceState,
  whyNot: WhyNot,
): Resolution => {
  const service = countingOne(services)
  if (service === undefined) return nowhere('ServiceNotFound', `there is no Service ${key}`)
  const found = service.ports.find((candidate) => isPort(candidate, port))
  if (found === undefined)
    return nowhere('PortNotFound', `Service ${key} has no port ${port}; ${listPorts(service)}`)
  const candidates = candidatesIn(slices, found.name, service)
  const addresses = merged(best(candidates.filter(({ address }) => whyNot(address) === undefined)))
  if (addresses.length > 0) return { addresses, problem: undefined }
  const message = `Service ${key} has no ready endpoint for port ${port}`
  return nowhere('NoReadyEndpoints', `${message}${showLeftOut(candidates, whyNot)}`)
}

const isPort = (candidate: ServicePort, port: number | string): boolean =>
  typeof port === 'number' ? candidate.port === port : candidate.name === port

const isPortNumber = (port: number): boolean => Number.isInteger(port) && port > 0 && port <= 65_535

const nowhere = (reason: UnresolvedRef['reason'], message: string): Resolution => ({
  addresses: [],
  problem: { reason, message },
})

const listPorts = ({ ports }: Service): string =>
  ports.length === 0
    ? 'it has none'
    : `it has ${ports.map(({ name, port }) => (name === '' ? port : `${port} (${name})`)).join(', ')}`

/** Always the same one is named, whatever the order of the slices. */
const showLeftOut = (candidates: ReadonlyArray<Candidate>, whyNot: WhyNot): string => {
  const [first] = merged(candidates)
  return first === undefined
    ? ''
    : ` that may be sent to: ${first.address} is ${whyNot(first.address) ?? 'left out'}`
}

/** An endpoint that serves, or is about to end. */
interface Candidate extends Address {
  readonly rank: number
}

/**
 * One address of each endpoint that can take a request: several of one endpoint are alternatives. Envoy refuses
 * an assignment as a whole for one that is no IP address, so a name is passed over.
 */
const candidatesIn = (
  slices: ReadonlyArray<EndpointSlice>,
  portName: string,
  { ipFamilies }: Service,
): ReadonlyArray<Candidate> =>
  slices.flatMap(({ addressType, ports, endpoints }) =>
    addressType === 'FQDN'
      ? []
      : ports
          .filter(({ name, port }) => name === portName && isPortNumber(port))
          .flatMap(({ port }) => endpoints.flatMap((each) => candidate(each, port, ipFamilies))),
  )

const candidate = (
  endpoint: Endpoint,
  port: number,
  [family]: Service['ipFamilies'] = [],
): ReadonlyArray<Candidate> => {
  const address = canonicalIp(endpoint.addresses[0] ?? '')
  const state = stateRank(endpoint)
  if (address === undefined || state === undefined) return []
  const isOther = family !== undefined && family !== (address.includes(':') ? 'IPv6' : 'IPv4')
  const zone = endpoint.zone === '' ? undefined : endpoint.zone
  return [{ address, port, zone, rank: 2 * state + (isOther ? 1 : 0) }]
}

/**
 * That of an endpoint which may be used; as kube-proxy has it (KEP-1669, terminating endpoints): those that are
 * ready, and where there is none of them, those that are ending and still answer. So nothing fails while the
 * last Pods of a Service shut down in good order.
 */
const stateRank = ({ ready, serving = ready, terminating = false }: Endpoint): 0 | 1 | undefined =>
  ready ? 0 : serving && terminating ? 1 : undefined

/**
 * Those of the first rank that anything has: ready, in the Service's first family; then ready, in the other
 * one; then ending. A Pod with an address in each family stands in two slices and is to be counted once.
 */
const best = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const first = candidates.reduce((rank, each) => Math.min(rank, each.rank), Infinity)
  return candidates.filter(({ rank }) => rank === first)
}

/** Each address once: while an endpoint moves between slices it stands in both. One without a zone gives way. */
const merged = (candidates: ReadonlyArray<Address>): ReadonlyArray<Address> => {
  const found = new Map<string, Address>()
  for (const { address, port, zone } of candidates) {
    const key = `${address} ${port}`
    const other = found.get(key)
    if (other === undefined || isBefore(zone, other.zone)) found.set(key, { address, port, zone })
  }
  return [...found.entries()].sort(([a], [b]) => compareStrings(a, b)).map(([, value]) => value)
}

const isBefore = (zone: string | undefined, other: string | undefined): boolean =>
  zone !== undefined && (other === undefined || zone < other)
