import { addressBytes, contains, parseCidr } from './address-policy/cidr.js'
import { whyNeverAllowed } from './address-policy/never.js'
import { allowsName } from './address-policy/suffix.js'
import type { AddressPolicy } from './context.js'

export { parseAddressPolicy } from './address-policy/parse.js'
export { whyNeverAllowed } from './address-policy/never.js'

/**
 * Prepares a policy: the result is true of an IP address or a host name that may be sent to.
 *
 * What `whyNeverAllowed` knows is refused whatever the policy says, and an entry that cannot be read allows
 * nothing. IPv4 is never in an IPv6 block, save one of IPv4-mapped addresses. Costs O(entries) for each host.
 */
export const allowedBy = ({ cidrs, suffixes }: AddressPolicy): ((host: string) => boolean) => {
  const blocks = cidrs.flatMap((text) => {
    const parsed = parseCidr(text)
    return parsed._tag === 'Right' ? [parsed.right] : []
  })
  return (host) => {
    const lower = host.toLowerCase()
    if (whyNeverAllowed(lower) !== undefined) return false
    const bytes = addressBytes(lower)
    return bytes === undefined
      ? suffixes.some((suffix) => allowsName(suffix, lower))
      : blocks.some((block) => contains(block, bytes))
  }
}
