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
 */
export const indexEndpoints = ({ services, endpointSlices }: Context): Endpoints => {
  const byName = new Map(
    services.map((service) => [`${service.namespace}/${service.name}`, service]),
  )
  const slices = new Map<string, Array<EndpointSlice>>()
  for (const slice of endpointSlices) {
    const key = `${slice.namespace}/${slice.service}`
    slices.set(key, [...(slices.get(key) ?? []), slice])
  }
  return ({ namespace, name, port }) => {
    const key = `${namespace}/${name}`
    return resolve(key, port, byName.get(key), slices.get(key) ?? [])
  }
}

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

const nowhere = (reason: UnresolvedRef['reason'], message: string): Resolution => ({
  addresses: [],
  problem: { reason, message },
})

const listPorts = ({ ports }: Service): string =>
  ports.length === 0
    ? 'it has none'
    : `it has ${ports.map(({ name, port }) => (name === '' ? port : `${port} (${name})`)).join(', ')}`

const readyAddresses = (
  slices: ReadonlyArray<EndpointSlice>,
  portName: string,
): ReadonlyArray<Address> => {
  const found = new Map<string, Address>()
  for (const slice of slices)
    for (const { name, port } of slice.ports)
      if (name === portName)
        for (const endpoint of slice.endpoints)
          if (endpoint.ready)
            for (const address of endpoint.addresses)
              found.set(`${address} ${port}`, { address, port })
  return [...found.entries()].sort(([a], [b]) => compareStrings(a, b)).map(([, value]) => value)
}
