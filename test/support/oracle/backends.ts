import type { Context, DataPlane, Endpoint, Service } from '../../../src/core/context.js'
import type { AddressRef, Backend, EdgeRoute, ServiceRef } from '../../../src/core/edge-route.js'
import type { UnresolvedRef } from '../../../src/core/verdict.js'
import { isForbidden, mayBeNamed } from './addresses.js'

/** A backend that cannot be reached, and why. */
export type Unreachable = Pick<UnresolvedRef, 'path' | 'reason'>

/** The backends of a route that cannot be reached by their names, in order. */
export const unreachable = (route: EdgeRoute, context: Context): ReadonlyArray<Unreachable> =>
  (route.spec.backends ?? []).flatMap((backend, index): ReadonlyArray<Unreachable> => {
    const found = lookUp(backend, route, context)
    const path = `spec.backends[${index}]`
    if (typeof found === 'string') return [{ path, reason: found }]
    return found.endpoints.length === 0 ? [{ path, reason: 'NoReadyEndpoints' }] : []
  })

/** Where a backend's requests may end, sorted; empty where they get a 503. */
export const endpointsOf = (backend: Backend, route: EdgeRoute, context: Context): string => {
  const found = lookUp(backend, route, context)
  return typeof found === 'string' ? '' : found.endpoints.join(' ')
}

/** A host that is no IP address is looked up in DNS, by the Envoy. */
export const sayAddress = ({ host, port }: AddressRef): string => {
  if (host.includes(':')) return `${new URL(`http://[${host}]`).hostname}:${port}`
  return /^[\d.]+$/.test(host) ? `${host}:${port}` : `dns ${host.toLowerCase()}:${port}`
}

type Found = UnresolvedRef['reason'] | { readonly endpoints: ReadonlyArray<string> }

const lookUp = (
  { service, address }: Backend,
  { metadata, spec }: EdgeRoute,
  context: Context,
): Found => {
  const plane = context.dataPlanes.get(spec.dataPlane ?? 'edge-envoy')
  const policy = plane?.addresses
  if (service !== undefined) return lookUpService(metadata.namespace, service, plane, context)
  if (address === undefined) return { endpoints: [] }
  return policy === undefined || mayBeNamed(address.host, policy)
    ? { endpoints: [sayAddress(address)] }
    : 'AddressNotAllowed'
}

const lookUpService = (
  namespace: string,
  { name, port }: ServiceRef,
  plane: DataPlane | undefined,
  context: Context,
): Found => {
  const service = context.services.find((one) => one.namespace === namespace && one.name === name)
  if (service === undefined) return 'ServiceNotFound'
  const named = portName(service, port)
  if (named === undefined) return 'PortNotFound'
  const all = endpointsBehind(service, named, context).filter(
    ({ host }) => plane?.addresses === undefined || !isForbidden(host),
  )
  return { endpoints: [...new Set(chosen(all, service).map(sayAddress))].sort() }
}

const portName = ({ ports }: Service, wanted: number | string): string | undefined =>
  ports.find(({ name, port }) => (typeof wanted === 'number' ? port : name) === wanted)?.name

interface Behind extends AddressRef {
  readonly is: Endpoint
}

/** All that stands in the slices for a port and has an IP address, in whatever state it is. */
const endpointsBehind = (
  { namespace, name }: Service,
  portNamed: string,
  { endpointSlices }: Context,
): ReadonlyArray<Behind> =>
  endpointSlices
    .filter((slice) => slice.namespace === namespace && slice.service === name)
    .filter(({ addressType }) => addressType !== 'FQDN')
    .flatMap(({ ports, endpoints }) =>
      ports
        .filter((port) => port.name === portNamed)
        .flatMap(({ port }) =>
          endpoints.map((is): Behind => ({ host: is.addresses[0] ?? '', port, is })),
        ),
    )
    .filter(({ host }) => /^[\d.]+$|:/.test(host))

/** Of the first of these kinds of which there are any, all. */
const chosen = (all: ReadonlyArray<Behind>, service: Service): ReadonlyArray<Behind> => {
  const isReady = ({ is }: Behind): boolean => is.ready
  const isEnding = ({ is: { ready, serving, terminating } }: Behind): boolean =>
    !ready && serving === true && terminating === true
  const family = service.ipFamilies?.[0]
  const isOfFamily = ({ host }: Behind): boolean =>
    family === undefined || (family === 'IPv6') === host.includes(':')
  const kinds = [
    (one: Behind): boolean => isReady(one) && isOfFamily(one),
    isReady,
    (one: Behind): boolean => isEnding(one) && isOfFamily(one),
    isEnding,
  ]
  return kinds.map((kind) => all.filter(kind)).find((some) => some.length > 0) ?? []
}
