import { isLeft } from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { compileRoute } from '../../src/core/compile.js'
import { canonicalIp } from '../../src/core/codec/check/ip.js'
import type { EdgeRoute, EdgeRouteSpec, Metadata } from '../../src/core/edge-route.js'
import type { Rule } from '../../src/core/rule.js'

const metadata: Metadata = {
  namespace: 'shop',
  name: 'checkout',
  uid: 'u',
  generation: 1,
  finalizers: [],
}
const backends = [{ service: { name: 'one', port: 80 } }]

const compiled = (spec: EdgeRouteSpec, extra: Partial<Metadata> = {}): Rule => {
  const result = compileRoute({ metadata: { ...metadata, ...extra }, spec })
  if (isLeft(result)) throw new Error(JSON.stringify(result.left))
  return result.right
}

test('every default is explicit in a rule', () => {
  expect(compiled({ backends })).toStrictEqual({
    owner: {
      kind: 'EdgeRoute',
      uid: 'u',
      key: { namespace: 'shop', name: 'checkout' },
      createdAtMs: Infinity,
    },
    dataPlane: 'edge-envoy',
    hosts: ['*'],
    matches: [{ path: { _tag: 'Prefix', value: '/' }, method: undefined, headers: [], query: [] }],
    action: {
      _tag: 'Forward',
      backends: [
        {
          field: 'spec.backends[0]',
          target: { _tag: 'Service', namespace: 'shop', name: 'one', port: 80 },
          weight: 1,
        },
      ],
      timeoutMs: 15_000,
      retries: undefined,
      rewritePath: undefined,
      rewriteHost: undefined,
    },
    requestHeaders: { set: [], add: [], remove: [] },
    responseHeaders: { set: [], add: [], remove: [] },
  } satisfies Rule)
})

test('what is written is kept', () => {
  const rule = compiled(
    {
      dataPlane: 'inner',
      hostnames: ['*.test', 'a.test'],
      backends,
      timeouts: { request: '1m30s' },
      retries: { attempts: 2, on: ['reset', '5xx'] },
      rewrite: { prefix: '/new/', host: 'in.test:81' },
    },
    { creationTimestamp: '2026-01-01T00:00:01+01:00' },
  )
  expect(rule.dataPlane).toBe('inner')
  expect(rule.hosts).toEqual(['*.test', 'a.test'])
  expect(rule.owner.createdAtMs).toBe(Date.UTC(2025, 11, 31, 23, 0, 1))
  expect(rule.action).toMatchObject({
    timeoutMs: 90_000,
    retries: { attempts: 2, on: ['5xx', 'reset'] },
    rewritePath: '/new/',
    rewriteHost: 'in.test:81',
  })
})

test('retries without conditions are those that repeat no request', () => {
  expect(compiled({ backends, retries: { attempts: 3 } }).action).toMatchObject({
    retries: { attempts: 3, on: ['connect-failure', 'refused-stream', 'reset-before-request'] },
  })
})

test('a timeout of zero is none, not the default', () => {
  expect(compiled({ backends, timeouts: { request: '0s' } }).action).toMatchObject({ timeoutMs: 0 })
})

test('a match becomes one per method, in order', () => {
  const { matches } = compiled({ backends, matches: [{ methods: ['POST', 'GET'] }, {}] })
  expect(matches.map(({ method }) => method)).toEqual(['POST', 'GET', undefined])
})

test('paths and predicates are in canonical form', () => {
  const { matches } = compiled({
    backends,
    matches: [
      {
        path: { prefix: '/a/' },
        headers: [
          { name: 'X-B', present: true },
          { name: 'X-A', regex: 'A' },
        ],
        query: [
          { name: 'b', prefix: 'B' },
          { name: 'B', exact: 'b' },
        ],
      },
      { path: { exact: '/a/' } },
      { path: { regex: '/a/' } },
      { path: { prefix: '/' } },
    ],
  })
  expect(matches[0]).toStrictEqual({
    path: { _tag: 'Prefix', value: '/a' },
    method: undefined,
    headers: [
      { _tag: 'Regex', name: 'x-a', value: 'A' },
      { _tag: 'Present', name: 'x-b' },
    ],
    query: [
      { _tag: 'Exact', name: 'B', value: 'b' },
      { _tag: 'Prefix', name: 'b', value: 'B' },
    ],
  })
  expect(matches.slice(1).map(({ path }) => path)).toEqual([
    { _tag: 'Exact', value: '/a/' },
    { _tag: 'Regex', value: '/a/' },
    { _tag: 'Prefix', value: '/' },
  ])
})

test('backends keep their order, and say where they stand', () => {
  const { action } = compiled({
    backends: [
      { address: { host: 'One.TEST', port: 80 } },
      { address: { host: 'FE80:0:0::1', port: 81 }, weight: 0 },
      { address: { host: '10.0.0.1', port: 82 }, weight: 7 },
    ],
  })
  if (action._tag !== 'Forward') throw new Error('must forward')
  expect(action.backends).toStrictEqual([
    {
      field: 'spec.backends[0]',
      target: { _tag: 'Dns', host: 'one.test', port: 80 },
      weight: 1,
    },
    { field: 'spec.backends[1]', target: { _tag: 'Ip', address: 'fe80::1', port: 81 }, weight: 0 },
    { field: 'spec.backends[2]', target: { _tag: 'Ip', address: '10.0.0.1', port: 82 }, weight: 7 },
  ])
})

test('header changes are in lower case, sorted by name', () => {
  const { requestHeaders, responseHeaders } = compiled({
    respond: { code: 200 },
    headers: {
      request: {
        set: [
          { name: 'X-B', value: 'B' },
          { name: 'x-a', value: '' },
        ],
      },
      response: { add: [{ name: 'X-C', value: '50%' }], remove: ['Server', 'Date'] },
    },
  })
  expect(requestHeaders.set).toEqual([
    { name: 'x-a', value: '' },
    { name: 'x-b', value: 'B' },
  ])
  expect(responseHeaders).toEqual({
    set: [],
    add: [{ name: 'x-c', value: '50%' }],
    remove: ['date', 'server'],
  })
})

test('a redirect is 301 unless it says otherwise', () => {
  const redirect = { _tag: 'Redirect', scheme: undefined, path: undefined, host: 'a.test' }
  expect(compiled({ redirect: { host: 'a.test' } }).action).toStrictEqual({
    ...redirect,
    code: 301,
  })
  expect(compiled({ redirect: { host: 'a.test', code: 308 } }).action).toStrictEqual({
    ...redirect,
    code: 308,
  })
})

test('a response without a body has an empty one', () => {
  expect(compiled({ respond: { code: 410 } }).action).toStrictEqual({
    _tag: 'Respond',
    code: 410,
    body: '',
  })
})

describe('a route that was put together by hand', () => {
  const route: EdgeRoute = {
    metadata: { ...metadata, creationTimestamp: 'once', name: 'A' },
    spec: { backends: [{ weight: NaN }] },
  }
  test('is refused with all that is wrong with it', () => {
    const result = compileRoute(route)
    expect(isLeft(result) && result.left.map(({ path }) => path)).toEqual([
      'metadata.name',
      'metadata.creationTimestamp',
      'spec.backends[0]',
      'spec.backends[0].weight',
    ])
  })
})

describe('an IP address has one canonical text', () => {
  const rows: ReadonlyArray<readonly [text: string, canonical: string | undefined]> = [
    ['10.0.0.1', '10.0.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['256.0.0.1', undefined],
    ['01.0.0.1', undefined],
    ['1.2.3', undefined],
    ['1.2.3.4.5', undefined],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:DB8::0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:0:2:3:0:0:4', '1::2:3:0:0:4'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['::FFFF:a00:1', '::ffff:10.0.0.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['1:2:3:4:5:6:7:8::', undefined],
    ['1:2:3:4:5:6:7:8:9', undefined],
    ['1:2:3', undefined],
    ['1::2::3', undefined],
    [':::', undefined],
    [':1', undefined],
    ['1:', undefined],
    ['12345::', undefined],
    ['::g', undefined],
    ['::1.2.3.4:5', undefined],
    ['1.2.3.4::', undefined],
    ['fe80::1%eth0', undefined],
    ['[::1]', undefined],
    ['', undefined],
    ['a.test', undefined],
  ]
  test.each(rows)('%s: %s', (text, canonical) => {
    expect(canonicalIp(text)).toBe(canonical)
    if (canonical !== undefined) expect(canonicalIp(canonical)).toBe(canonical)
  })
})
