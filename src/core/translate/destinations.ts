import { allowedBy, whyNeverAllowed } from '../address-policy.js'
import type { AddressPolicy, Context } from '../context.js'
import type { Target } from '../rule.js'
import { type Endpoints, indexEndpoints, type Resolution, type WhyNot } from './endpoints.js'

/** Where the backends of one data plane lead. */
export type Destinations = (target: Target) => Resolution

/**
 * Prepares the search for what is behind backends: Services by their endpoints, addresses by what each data
 * plane allows.
 *
 * Where a data plane has a policy for addresses, endpoints of Services are held to what no policy allows as
 * well: who may write slices must not reach the machine of the Envoy by them.
 */
export const destinationsOf = (context: Context): ((dataPlane: string) => Destinations) =>
  destinationsBy(context.dataPlanes, indexEndpoints(context))

/** `destinationsOf` with a search for endpoints of one's own. */
export const destinationsBy = (
  dataPlanes: Context['dataPlanes'],
  endpoints: (whyNot: WhyNot) => Endpoints,
): ((dataPlane: string) => Destinations) => {
  const open = endpoints(() => undefined)
  const guarded = endpoints(whyNeverAllowed)
  const known = new Map<string, Destinations>()
  const ofPlane = (name: string): Destinations => {
    const policy = dataPlanes.get(name)?.addresses
    return policy === undefined
      ? destinations(open, () => undefined)
      : destinations(guarded, refusalOf(name, policy))
  }
  return (name) => {
    const result = known.get(name) ?? ofPlane(name)
    known.set(name, result)
    return result
  }
}

/** Says why a host must not be sent to, if so it is. */
type Refusal = (host: string) => string | undefined

const destinations =
  (endpoints: Endpoints, refusal: Refusal): Destinations =>
  (target) => {
    if (target._tag === 'Service') return endpoints(target)
    const host = target._tag === 'Ip' ? target.address : target.host
    const message = refusal(host)
    return message === undefined
      ? { addresses: [{ address: host, port: target.port, zone: undefined }], problem: undefined }
      : { addresses: [], problem: { reason: 'AddressNotAllowed', message } }
  }

const refusalOf = (dataPlane: string, policy: AddressPolicy): Refusal => {
  const isAllowed = allowedBy(policy)
  return (host) => {
    if (isAllowed(host)) return undefined
    const why = whyNeverAllowed(host)
    return why === undefined
      ? `${host} is not among the addresses that data plane ${dataPlane} allows: ${showPolicy(policy)}`
      : `${host} is ${why}, which no route may send to: ${instead}`
  }
}

/** How many entries of a policy are named; the rest is counted. */
const maxNamedEntries = 5

const instead = 'name a Service'

const showPolicy = ({ cidrs, suffixes }: AddressPolicy): string => {
  const all = [...cidrs, ...suffixes]
  if (all.length === 0) return `there are none; ${instead}`
  const others = all.length - maxNamedEntries
  const named = all.slice(0, maxNamedEntries).join(', ')
  return `use one in ${named}${others > 0 ? ` (and ${others} more)` : ''}, or ${instead}`
}
