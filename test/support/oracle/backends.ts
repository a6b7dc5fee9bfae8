import type { Context, Service } from '../../../src/core/context.js'
import type { AddressRef, Backend, EdgeRoute, ServiceRef } from '../../../src/core/edge-route.js'
import type { UnresolvedRef } from '../../../src/core/verdict.js'

/** A backend that cannot be reached, and why. */
export type Unreachable = Pick<UnresolvedRef, 'path' | 'reason'>

/** The backends of a route that cannot be reached by their names, in order. */
export const unreachable = (route: EdgeRoute, context: Context): ReadonlyArray<Unreachable> =>
  (route.spec.backends ?? []).flatMap(({ service }, index): ReadonlyArray<Unreachable> => {
    if (service === undefined) return []
    const found = lookUp(route.metadata.namespace, service, context)
    const path = `spec.backends[${index}]`
    if (typeof found === 'string') return [{ path, reason: found }]
    return found.endpoints.length === 0 ? [{ path, reason: 'NoReadyEndpoints' }] : []
  })

/** Where a backend's requests may end, sorted; empty where they get a 503. */
export const endpointsOf = (
  { service, address }: Backend,
  namespace: string,
  context: Context,
): string => {
  if (address !== undefined) return sayAddress(address)
  if (service === undefined) return ''
  const found = lookUp(namespace, service, context)
  return typeof found === 'string' ? '' : found.endpoints.join(' ')
}

/** A host that is no IP address is looked up in DNS, by the Envoy. */
export const sayAddress = ({ host, port }: AddressRef): string => {
  if (host.includes(':')) return `${new URL(`http://[${host}]`).hostname}:${port}`
  return /^[\d.]+$/.test(host) ? `${host}:${port}` : `dns ${host.toLowerCase()}:${port}`
}

const lookUp = (
  namespace: string,
  { name, port }: ServiceRef,
  context: Context,
): 'ServiceNotFound' | 'PortNotFound' | { readonly endpoints: ReadonlyArray<string> } => {
  const service = context.services.find((one) => one.namespace === namespace && one.name === name)
  if (service === undefined) return 'ServiceNotFound'
  const named = portName(service, port)
  return named === undefined ? 'PortNotFound' : { endpoints: ready(service, named, context) }
}

const portName = ({ ports }: Service, wanted: number | string): string | undefined =>
  ports.find(({ name, port }) => (typeof wanted === 'number' ? port : name) === wanted)?.name

const ready = (service: Service, portNamed: string, context: Context): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const slice of context.endpointSlices)
    if (slice.namespace === service.namespace && slice.service === service.name)
      for (const { name, port } of slice.ports)
        if (name === portNamed)
          for (const endpoint of slice.endpoints)
            if (endpoint.ready)
              for (const host of endpoint.addresses) found.add(sayAddress({ host, port }))
  return [...found].sort()
}
