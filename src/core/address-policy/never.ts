import { addressBytes, type Cidr, contains, covers, parseCidr } from './cidr.js'
import { isBelow } from './suffix.js'

/**
 * What means the Envoy's own machine, everybody on its link, or a service of the cloud that trusts whoever
 * asks. The admin port of an Envoy is on loopback; a metadata service hands out the credentials of the
 * machine.
 */
const never: ReadonlyArray<readonly [cidr: string, what: string]> = [
  ['127.0.0.0/8', 'a loopback address'],
  ['::1/128', 'a loopback address'],
  // Linux connects to its own machine for it. RFC 6890 keeps the rest of the block for the same host.
  ['0.0.0.0/8', 'an unspecified address'],
  ['::/128', 'an unspecified address'],
  // RFC 4291, section 2.5.5.1: IPv4-compatible, and given up.
  ['::/96', 'an IPv4 address in disguise'],
  // What translators and tunnels make an IPv4 address of again: RFC 8215, RFC 3056, RFC 2765.
  ['64:ff9b:1::/48', 'an IPv4 address in disguise'],
  ['2002::/16', 'an IPv4 address in disguise'],
  ['::ffff:0:0:0/96', 'an IPv4 address in disguise'],
  ['169.254.0.0/16', 'a link-local address'],
  ['fe80::/10', 'a link-local address'],
  ['224.0.0.0/4', 'a multicast address'],
  ['ff00::/8', 'a multicast address'],
  ['255.255.255.255/32', 'the broadcast address'],
  // Those of metadata services that are not link-local: Amazon's, Google's, Azure's, Alibaba's.
  ['fd00:ec2::/32', 'the address of a metadata service'],
  ['fd20:ce::254/128', 'the address of a metadata service'],
  ['168.63.129.16/32', 'the address of a metadata service'],
  ['100.100.100.200/32', 'the address of a metadata service'],
]

const blocks: ReadonlyArray<readonly [block: Cidr, what: string]> = never.flatMap(
  ([text, what]) => {
    const parsed = parseCidr(text)
    return parsed._tag === 'Right' ? [[parsed.right, what] as const] : []
  },
)

/** RFC 6052: a translator sends what goes there to the IPv4 address in the last four bytes. */
const nat64: ReadonlyArray<number> = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]

/** Names that mean the same, themselves and all below them (RFC 6761 says so of `localhost`). */
const names: ReadonlyArray<readonly [name: string, what: string]> = [
  ['localhost', 'a name of the machine itself'],
  ['metadata.google.internal', 'the name of a metadata service'],
]

/**
 * What a host is that no address policy allows, as in `a loopback address`; undefined where none of these.
 *
 * `host` is an IP address or a name in lower case. Nobody is asked what a name leads to.
 */
export const whyNeverAllowed = (host: string): string | undefined => {
  const bytes = addressBytes(host)
  if (bytes === undefined) return names.find(([name]) => host === name || isBelow(name, host))?.[1]
  const reached = nat64.every((byte, index) => byte === bytes[index]) ? bytes.slice(-4) : bytes
  return blocks.find(([block]) => contains(block, reached))?.[1]
}

/** The same of a whole block, if it lies in one of those. */
export const whyBlockNeverAllowed = (cidr: Cidr): string | undefined =>
  blocks.find(([block]) => covers(block, cidr))?.[1]
