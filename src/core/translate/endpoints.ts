import { canonicalIp } from '../codec/check/ip.js'
import type { Context, EndpointSlice, Service, ServicePort } from '../context.js'
import { compareStrings } from '../order.js'
import type { Target } from '../rule.js'
import type { UnresolvedRef } from '../verdict.js'

export interface Address {
  readonly address: string
  readonly port: number
}

/** Where a Service's port leads, or why it leads nowhere. */
export interface Resolution {
  /** Sorted, and without repetition; empty if there is nothing to send a request to. */
  readonly addresses: ReadonlyArray<Address>
  readonly problem: Omit<UnresolvedRef, 'path'> | undefined
}

/** Finds the endpoints of Services. */
export type Endpoints = (target: Target & { readonly _tag: 'Service' }) => Resolution

/**
 * Prepares the search for endpoints, as Kubernetes means it: a Service's port leads to the ports of the
 * same name in all slices of the Service, at the endpoints that are ready. (A list of ports
 * without names has one entry, with the empty name.)
 *
 * Each Service's port is resolved once, however many routes lead there. Of several Services with one name the
 * same one counts always.
 */
export const indexEndpoints = ({ services, endpointSlices }: Context): Endpoints => {
  const byName = new Map<string, Service>()
  for (const service of services) {
    const key = `${service.namespace}/${service.name}`
    const other = byName.get(key)
    if (other === undefined || textOf(service) < textOf(other)) byName.set(key, service)
  }
  const slices = new Map<string, Array<EndpointSlice>>()
  for (const slice of endpointSlices) {
    const key = `${slice.namespace}/${slice.service}`
    const others = slices.get(key)
    if (others === undefined) slices.set(key, [slice])
    else others.push(slice)
  }
  const known = new Map<string, Resolution>()
  return ({ namespace, name, port }) => {
    const key = `${namespace}/${name}`
    const id = `${key}/${port}`
    const resolution = known.get(id) ?? resolve(key, port, byName.get(key), slices.get(key) ?? [])
    known.set(id, resolution)
    return resolution
  }
}

const textOf = ({ ports }: Service): string =>
  JSON.stringify(ports.map(({ name, port }) => [name, port]))

const resolve = (
  key: string,
  port: number | string,
  service: Service | undefined,
  slices: ReadonlyArray<EndpointSlice>,
): Resolution => {
  if (service === undefined) return nowhere('ServiceNotFound', `there is no Service ${key}`)
  const found = service.ports.find((candidate) => isPort(candidate, port))
  if (found === undefined)
    return nowhere('PortNotFound', `Service ${key} has no port ${port}; ${listPorts(service)}`)
  const addresses = readyAddresses(slices, found.name)
  return addresses.length === 0
    ? nowhere('NoReadyEndpoints', `Service ${key} has no ready endpoint for port ${port}`)
    : { addresses, problem: undefined }
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

/**
 * One address of each ready endpoint: several of one endpoint are alternatives. Envoy refuses an assignment as
 * a whole for one that is no IP address, so such an endpoint (`addressType: FQDN`) is passed over.
 */
const readyAddresses = (
  slices: ReadonlyArray<EndpointSlice>,
  portName: string,
): ReadonlyArray<Address> => {
  const found = new Map<string, Address>()
  for (const { ports, endpoints } of slices)
    for (const { port } of ports.filter(
      (each) => each.name === portName && isPortNumber(each.port),
    ))
      for (const { ready, addresses } of endpoints) {
        const address = canonicalIp(addresses[0] ?? '')
        if (ready && address !== undefined) found.set(`${address} ${port}`, { address, port })
      }
  return [...found.entries()].sort(([a], [b]) => compareStrings(a, b)).map(([, value]) => value)
}
