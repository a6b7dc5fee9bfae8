import { type Either, left, right } from 'fp-ts/lib/Either.js'
import { ipBytes, showIpBytes } from '../codec/check/ip.js'
import { show } from '../codec/show.js'

/** A block of addresses: those that begin with the same bits. */
export interface Cidr {
  /** The first address of the block: four bytes or sixteen. */
  readonly first: ReadonlyArray<number>
  /** How many bits are the same in all of them. */
  readonly prefixBits: number
}

/**
 * The bytes of an IP address: four, or sixteen; undefined of what is none.
 *
 * An IPv4-mapped IPv6 address gives four, since a connection to it is one to the IPv4 address.
 */
export const addressBytes = (text: string): ReadonlyArray<number> | undefined => {
  const bytes = ipBytes(text)
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(mappedBits / 8) : bytes
}

/** True if an address, as `addressBytes` gives it, is in a block. Costs no more than its bytes. */
export const contains = ({ first, prefixBits }: Cidr, bytes: ReadonlyArray<number>): boolean => {
  if (bytes.length !== first.length) return false
  const masked = mask(bytes, prefixBits)
  return first.every((byte, index) => byte === masked[index])
}

/** True if all of `inner` is in `outer`. */
export const covers = (outer: Cidr, inner: Cidr): boolean =>
  inner.prefixBits >= outer.prefixBits && contains(outer, inner.first)

/**
 * Reads a block such as `10.0.0.0/8`; on the left is what is wrong with it, in words that say what would be
 * right. A block of IPv4-mapped addresses is the IPv4 block.
 */
export const parseCidr = (text: string): Either<string, Cidr> => {
  const [address = '', prefix, ...more] = text.split('/')
  const bytes = ipBytes(address)
  if (bytes === undefined || more.length > 0)
    return left(`must be a block of addresses such as "10.0.0.0/8", not ${show(text)}`)
  const all = bytes.length * 8
  if (prefix === undefined) return left(`must have a prefix: write ${show(`${address}/${all}`)}`)
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > all)
    return left(`must have a prefix from 0 to ${all}, not ${show(prefix)}`)
  const prefixBits = Number(prefix)
  const first = mask(bytes, prefixBits)
  if (first.some((byte, index) => byte !== bytes[index]))
    return left(`has bits behind its prefix: write ${show(`${showIpBytes(first)}/${prefix}`)}`)
  return right(
    prefixBits >= mappedBits && isMapped(first)
      ? { first: first.slice(mappedBits / 8), prefixBits: prefixBits - mappedBits }
      : { first, prefixBits },
  )
}

/** `::ffff:0:0/96`, of RFC 4291, section 2.5.5.2. */
const mappedBits = 96

const isMapped = (bytes: ReadonlyArray<number>): boolean =>
  bytes.length === 16 &&
  bytes.slice(0, 10).every((byte) => byte === 0) &&
  bytes[10] === 0xff &&
  bytes[11] === 0xff

const mask = (bytes: ReadonlyArray<number>, prefixBits: number): ReadonlyArray<number> =>
  bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefixBits - index * 8))
    return byte & (0xff << (8 - kept))
  })
