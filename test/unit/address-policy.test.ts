import { allowedBy, parseAddressPolicy, whyNeverAllowed } from 'edgewright'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { showFieldError } from '../../src/core/field-error.js'

describe('a policy as people write it', () => {
  test('is sorted, in lower case, and has each entry once', () => {
    const entries = ['*.B.test', '10.0.0.0/8', ' .b.test', 'a.test', 'FD00::/8', '10.0.0.0/8']
    expect(parseAddressPolicy(entries)).toEqual(
      E.right({ cidrs: ['10.0.0.0/8', 'fd00::/8'], suffixes: ['.b.test', 'a.test'] }),
    )
    expect(parseAddressPolicy([])).toEqual(E.right({ cidrs: [], suffixes: [] }))
  })

  test.each([
    ['', 'is empty: write a block such as "10.0.0.0/8", or ".example.com"'],
    ['10.0.0.7', 'must have a prefix: write "10.0.0.7/32"'],
    ['fd00::7', 'must have a prefix: write "fd00::7/128"'],
    ['10.0.0.7/8', 'has bits behind its prefix: write "10.0.0.0/8"'],
    ['2001:db8::1/32', 'has bits behind its prefix: write "2001:db8::/32"'],
    ['10.0.0.0/33', 'must have a prefix from 0 to 32, not "33"'],
    ['10.0.0.0/08', 'must have a prefix from 0 to 32, not "08"'],
    ['10.0.0.0/255.0.0.0', 'must have a prefix from 0 to 32, not "255.0.0.0"'],
    ['10.0.0/8', 'must be a block of addresses such as "10.0.0.0/8", not "10.0.0/8"'],
    ['http://a.test', 'must be a block of addresses such as "10.0.0.0/8", not "http://a.test"'],
    ['*', 'must end in a domain, as in ".example.com": "*" is every name there is'],
    ['*.', 'must end in a domain, as in ".example.com": "*." is every name there is'],
    ['a.*.test', 'must be a host name in lower case, such as "shop.example.com", not "a.*.test"'],
    ['a.test.', 'must not end with a dot: write "a.test"'],
    ['a.test:80', 'must be a host without a port: leave ":80" out'],
    ['127.1.0.0/16', 'can never be allowed: "127.1.0.0/16" is a loopback address; leave it out'],
    [
      '::ffff:127.0.0.0/104',
      'can never be allowed: "::ffff:127.0.0.0/104" is a loopback address; ',
    ],
    ['fe80::/64', 'can never be allowed: "fe80::/64" is a link-local address; leave it out'],
    ['.localhost', 'can never be allowed: "localhost" is a name of the machine itself; '],
  ])('is told what is wrong with %j', (entry, message) => {
    const read = parseAddressPolicy(['10.0.0.0/8', entry])
    const errors = E.isLeft(read) ? read.left.map(showFieldError) : []
    expect(errors).toHaveLength(1)
    expect(errors[0]).toContain(`[1]: ${message}`)
  })

  test('may allow a block in which there is what is never allowed', () => {
    const read = parseAddressPolicy(['0.0.0.0/0'])
    const isAllowed = allowedBy(E.isRight(read) ? read.right : { cidrs: [], suffixes: [] })
    expect(
      ['192.0.2.1', '::ffff:192.0.2.1', '127.0.0.1', '::1', '2001:db8::1'].filter(isAllowed),
    ).toEqual(['192.0.2.1', '::ffff:192.0.2.1'])
  })
})

test.each([
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['::1', 'a loopback address'],
  ['::ffff:127.0.0.1', 'a loopback address'],
  ['0:0:0:0:0:ffff:7f00:1', 'a loopback address'],
  ['64:ff9b::127.0.0.1', 'a loopback address'],
  ['0.0.0.0', 'an unspecified address'],
  ['::', 'an unspecified address'],
  ['::127.0.0.1', 'an IPv4 address in disguise'],
  ['64:ff9b:1::7f00:1', 'an IPv4 address in disguise'],
  ['2002:7f00:1::1', 'an IPv4 address in disguise'],
  ['::ffff:0:127.0.0.1', 'an IPv4 address in disguise'],
  ['169.254.169.254', 'a link-local address'],
  ['64:ff9b::a9fe:a9fe', 'a link-local address'],
  ['fe80::1', 'a link-local address'],
  ['febf::1', 'a link-local address'],
  ['224.0.0.1', 'a multicast address'],
  ['ff02::1', 'a multicast address'],
  ['255.255.255.255', 'the broadcast address'],
  ['fd00:ec2::254', 'the address of a metadata service'],
  ['localhost', 'a name of the machine itself'],
  ['a.localhost', 'a name of the machine itself'],
])('%s is never allowed: it is %s', (host, why) => {
  expect(whyNeverAllowed(host)).toBe(why)
})

test.each(['10.0.0.1', 'fd00::1', 'fec0::1', '223.255.255.255', 'notlocalhost', 'localhost.test'])(
  '%s may be allowed',
  (host) => {
    expect(whyNeverAllowed(host)).toBeUndefined()
  },
)
