import type { AddressPolicy } from '../../../src/core/context.js'

/**
 * Every IP address as a number of 128 bits, IPv4 as its IPv4-mapped form; undefined of a name. (What a URL
 * makes of it: nothing of the code that is judged.)
 */
export const numberOf = (host: string): bigint | undefined => {
  const isIpv4 = /^\d+\.\d+\.\d+\.\d+$/.test(host)
  if (!isIpv4 && !host.includes(':')) return undefined
  const text = new URL(`http://[${isIpv4 ? `::ffff:${host}` : host}]`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  const groupsIn = (part: string): ReadonlyArray<string> => (part === '' ? [] : part.split(':'))
  const before = groupsIn(head)
  const after = groupsIn(tail ?? '')
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].reduce(
    (sum, group) => sum * 65_536n + BigInt(`0x${group}`),
    0n,
  )
}

/** The first and the last address of a block. */
export const rangeOf = (cidr: string): readonly [first: bigint, last: bigint] => {
  const [address = '', prefix = ''] = cidr.split('/')
  const all = address.includes(':') ? 128 : 32
  const size = 2n ** BigInt(all - Number(prefix))
  const first = ((numberOf(address) ?? 0n) / size) * size
  return [first, first + size - 1n]
}

const isIn = (address: bigint, cidr: string): boolean => {
  const [first, last] = rangeOf(cidr)
  return address >= first && address <= last
}

const mapped = '::ffff:0:0/96'

/** IPv4 is in no block of IPv6 that is larger than IPv4 is. */
export const isInBlock = (host: string, cidr: string): boolean => {
  const address = numberOf(host)
  if (address === undefined || !isIn(address, cidr)) return false
  const [first, last] = rangeOf(cidr)
  return !isIn(address, mapped) || (isIn(first, mapped) && isIn(last, mapped))
}

const forbidden: ReadonlyArray<string> = [
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32'],
  ...['168.63.129.16/32', '100.100.100.200/32', '::/96', 'fe80::/10', 'ff00::/8'],
  ...['fd00:ec2::/32', 'fd20:ce::254/128'],
]

/** True of what nobody may ever send to where addresses are restricted. */
export const isForbidden = (host: string): boolean => {
  const address = numberOf(host)
  if (address === undefined)
    return ['localhost', 'metadata.google.internal'].some((name) =>
      `.${host.toLowerCase()}`.endsWith(`.${name}`),
    )
  const behindNat64 = isIn(address, '64:ff9b::/96')
    ? (numberOf('::ffff:0.0.0.0') ?? 0n) + (address % 2n ** 32n)
    : address
  return forbidden.some((cidr) => isIn(behindNat64, cidr))
}

/** True if a route may name this host. */
export const mayBeNamed = (host: string, { cidrs, suffixes }: AddressPolicy): boolean => {
  if (isForbidden(host)) return false
  if (numberOf(host) !== undefined) return cidrs.some((cidr) => isInBlock(host, cidr))
  const labels = host.toLowerCase().split('.')
  const ends = labels.map((_, at) => labels.slice(at).join('.'))
  const [whole, ...below] = ends
  return suffixes.some((suffix) => whole === suffix || below.includes(suffix.replace(/^\./, '')))
}
