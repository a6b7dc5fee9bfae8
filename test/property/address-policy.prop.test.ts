import { fc, test } from '@fast-check/vitest'
import { allowedBy, parseAddressPolicy, whyNeverAllowed } from 'edgewright'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect } from 'vitest'
import { showIpBytes } from '../../src/core/codec/check/ip.js'
import type { AddressPolicy } from '../../src/core/context.js'
import {
  isForbidden,
  isInBlock,
  mayBeNamed,
  numberOf,
  rangeOf,
} from '../support/oracle/addresses.js'

const runs = { numRuns: 2_000 }

/** The text of an address of so many bytes. */
const showNumber = (value: bigint, length: 4 | 16): string =>
  showIpBytes(
    Array.from({ length }, (_, at) => Number((value >> BigInt(8 * (length - 1 - at))) & 255n)),
  )

/** Bytes that are often at the edge of a block. */
const byte = fc.oneof(
  fc.constantFrom(0, 1, 10, 127, 128, 169, 254, 255),
  fc.integer({ min: 0, max: 255 }),
)
const bytesOf = (length: 4 | 16) =>
  fc.array(byte, { minLength: length, maxLength: length }).map(showIpBytes)
const ipv4 = bytesOf(4)
const mapped = ipv4.map((text) => `::ffff:${text}`)
const nat64 = ipv4.map((text) => `64:ff9b::${text}`)
const address = fc.oneof(ipv4, bytesOf(16), mapped, nat64)

/** A block, and an address that is as likely in it as not: next to its ends, or anywhere. */
const blockAndAddress = fc
  .tuple(fc.oneof(ipv4, bytesOf(16), mapped), fc.nat(128), address, fc.constantFrom(-1n, 0n, 1n))
  .map(([base, bits, anywhere, step]) => {
    const isLong = base.includes(':')
    const length = isLong ? 16 : 4
    const prefix = bits % (length * 8 + 1)
    const [first, last] = rangeOf(`${base}/${prefix}`)
    const start = isLong ? first : first - (numberOf('0.0.0.0') ?? 0n)
    const cidr = `${showNumber(start, length)}/${prefix}`
    const max = 2n ** 128n - 1n
    const near = [first + step, last + step].map((value) =>
      showNumber(value < 0n ? 0n : value > max ? max : value, 16),
    )
    return { cidr, hosts: [anywhere, ...near] }
  })

const label = fc.constantFrom('a', 'b', 'example', 'com', 'bad-example', 'localhost', 'internal')
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
const suffix = fc.tuple(fc.constantFrom('', '.'), name).map(([dot, domain]) => dot + domain)

const open: AddressPolicy = {
  cidrs: ['0.0.0.0/0', '::/0'],
  suffixes: ['localhost', 'internal', 'com', '.localhost'],
}

describe('an address policy', () => {
  test.prop([blockAndAddress], runs)(
    'has in a block what lies between its first and its last address, IPv4 apart from IPv6',
    ({ cidr, hosts }) => {
      const isAllowed = allowedBy({ cidrs: [cidr], suffixes: ['com'] })
      for (const host of hosts)
        expect([host, isAllowed(host)]).toEqual([host, isInBlock(host, cidr) && !isForbidden(host)])
    },
  )

  test.prop([fc.array(suffix, { maxLength: 3 }), name], runs)(
    'allows names by whole labels, however they are written',
    (suffixes, host) => {
      const policy = { cidrs: open.cidrs, suffixes }
      const expected = mayBeNamed(host, policy)
      expect(allowedBy(policy)(host)).toBe(expected)
      expect(allowedBy(policy)(host.toUpperCase())).toBe(expected)
      const starred = suffixes.map((each) => (each.startsWith('.') ? `*${each}` : each))
      expect(allowedBy({ cidrs: [], suffixes: starred })(host)).toBe(expected)
    },
  )

  test.prop([fc.oneof(address, name)], runs)(
    'never allows the machine itself, its link, or a metadata service, whatever it says',
    (host) => {
      const why = whyNeverAllowed(host)
      expect(why !== undefined).toBe(isForbidden(host))
      if (why !== undefined)
        expect(allowedBy({ ...open, suffixes: [...open.suffixes, host] })(host)).toBe(false)
    },
  )

  test.prop([blockAndAddress, suffix], runs)(
    'allows the same after it was read as what was written, and reads its own text again',
    ({ cidr, hosts }, ending) => {
      const written = { cidrs: [cidr], suffixes: [ending] }
      const entries = [cidr, ending].filter((entry) => E.isRight(parseAddressPolicy([entry])))
      const read = parseAddressPolicy(entries.map((entry) => ` ${entry.toUpperCase()}`))
      if (E.isLeft(read)) throw new Error(JSON.stringify(read.left))
      const { cidrs, suffixes } = read.right
      expect(parseAddressPolicy([...suffixes, ...cidrs, ...suffixes])).toEqual(read)
      for (const host of [...hosts, `x${ending}`, `x.${ending.replace(/^\./, '')}`])
        expect(allowedBy(read.right)(host)).toBe(allowedBy(written)(host))
    },
  )

  test.prop([fc.array(fc.oneof(fc.string(), address, name), { maxLength: 3 }), fc.string()], runs)(
    'is total, whatever stands in it, and what it cannot read allows nothing',
    (texts, host) => {
      const read = parseAddressPolicy(texts)
      if (E.isLeft(read)) for (const { path } of read.left) expect(path).toMatch(/^\[\d\]$/)
      const blocks = texts.filter((text) => !/\/\d+$/.test(text))
      expect(allowedBy({ cidrs: blocks, suffixes: [] })(host)).toBe(false)
    },
  )
})
