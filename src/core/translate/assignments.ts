import type { ClusterLoadAssignment } from '../../gen/envoy/config/endpoint/v3/endpoint.js'
import type {
  LbEndpoint,
  LocalityLbEndpoints,
} from '../../gen/envoy/config/endpoint/v3/endpoint_components.js'
import { compareStrings } from '../order.js'
import type { Address } from './endpoints.js'

/** The endpoints of a cluster. Without any: an explicit "there is none", which Envoy answers with 503. */
export const assignment = (
  clusterName: string,
  addresses: ReadonlyArray<Address>,
): ClusterLoadAssignment => ({ clusterName, endpoints: localitiesOf(addresses) })

/**
 * The endpoints by zone, in the order of the zones; those without one come first, in no locality.
 *
 * No locality has a weight: Envoy spreads requests over all endpoints alike, wherever these are, unless its
 * bootstrap says that it is to prefer its own zone.
 */
const localitiesOf = (addresses: ReadonlyArray<Address>): ReadonlyArray<LocalityLbEndpoints> => {
  const zones = new Map<string, Array<LbEndpoint>>()
  for (const { zone = '', ...address } of addresses) {
    const others = zones.get(zone)
    if (others === undefined) zones.set(zone, [lbEndpoint(address)])
    else others.push(lbEndpoint(address))
  }
  return [...zones]
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([zone, lbEndpoints]) =>
      zone === '' ? { lbEndpoints } : { locality: { zone }, lbEndpoints },
    )
}

const lbEndpoint = ({ address, port }: Omit<Address, 'zone'>): LbEndpoint => ({
  hostIdentifier: {
    $case: 'endpoint',
    value: {
      address: {
        address: {
          $case: 'socketAddress',
          value: { address, portSpecifier: { $case: 'portValue', value: port } },
        },
      },
    },
  },
})
