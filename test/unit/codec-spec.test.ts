import { describe, expect, test } from 'vitest'
import { checkSpec, decodeEdgeRoute } from '../../src/core/codec.js'
import type { EdgeRouteSpec } from '../../src/core/edge-route.js'
import type { FieldError } from '../../src/core/field-error.js'

const backends = [{ service: { name: 'one', port: 80 } }]

const decodeSpec = (spec: unknown): ReadonlyArray<FieldError> => {
  const decoded = decodeEdgeRoute({
    apiVersion: 'net.10xdev.io/v1',
    kind: 'EdgeRoute',
    metadata: { name: 'route' },
    spec,
  })
  return decoded._tag === 'Left' ? decoded.left : []
}

/** A bad spec, the path of its error, and words that its message has. */
type Row = readonly [spec: unknown, path: string, message: string]

const forward = (fields: object): object => ({ backends, ...fields })
const hostname = (name: unknown): object => forward({ hostnames: [name] })
const match = (fields: object): object => forward({ matches: [fields] })
const path = (fields: object): object => match({ path: fields })
const header = (fields: object): object => match({ headers: [fields] })
const query = (fields: object): object => match({ query: [fields] })
const backend = (fields: object): object => ({ backends: [fields] })
const address = (host: unknown, port: unknown = 80): object => backend({ address: { host, port } })
const service = (name: unknown, port: unknown = 80): object => backend({ service: { name, port } })
const request = (fields: object): object => forward({ headers: { request: fields } })

const many = (count: number, item: (index: number) => unknown): ReadonlyArray<unknown> =>
  Array.from({ length: count }, (_, index) => item(index))

const tables: Readonly<Record<string, ReadonlyArray<Row>>> = {
  'the action': [
    [{}, 'spec', 'must have one of backends, redirect or respond'],
    [forward({ respond: { code: 200 } }), 'spec', 'has backends and respond: keep only one'],
    [{ respond: { code: 200 }, timeouts: {} }, 'spec.timeouts', 'goes only with backends'],
    [{ respond: { code: 200 }, retries: { attempts: 1 } }, 'spec.retries', 'only with backends'],
    [{ respond: { code: 200 }, rewrite: { prefix: '/' } }, 'spec.rewrite', 'only with backends'],
    ['backends', 'spec', 'must be an object with backends, redirect or respond, not "backends"'],
    [[], 'spec', 'not a list'],
    [null, 'spec', 'is required'],
  ],
  dataPlane: [
    [forward({ dataPlane: '' }), 'spec.dataPlane', 'lower-case letters'],
    [forward({ dataPlane: 'Edge' }), 'spec.dataPlane', 'not "Edge"'],
    [forward({ dataPlane: 'a.b' }), 'spec.dataPlane', 'lower-case letters'],
    [forward({ dataPlane: 'x'.repeat(64) }), 'spec.dataPlane', 'has 64 characters: at most 63'],
    [forward({ dataPlane: 7 }), 'spec.dataPlane', 'must be a string: write "7" in quotes'],
  ],
  hostnames: [
    [forward({ hostnames: [] }), 'spec.hostnames', 'must not be empty'],
    [forward({ hostnames: 'a.test' }), 'spec.hostnames', 'must be a list, not "a.test"'],
    [forward({ hostnames: many(65, (n) => `h${n}.test`) }), 'spec.hostnames', 'at most 64'],
    [forward({ hostnames: ['a.test', 'b.test', 'a.test'] }), 'spec.hostnames[2]', 'of item 0'],
    [hostname('*'), 'spec.hostnames[0]', 'leave hostnames out for every host'],
    [hostname('Shop.test'), 'spec.hostnames[0]', 'write "shop.test"'],
    [hostname('a.test:8080'), 'spec.hostnames[0]', 'leave ":8080" out'],
    [hostname('https://a.test'), 'spec.hostnames[0]', 'leave "https://" out'],
    [hostname('a.test.'), 'spec.hostnames[0]', 'write "a.test"'],
    [hostname('münchen.test'), 'spec.hostnames[0]', 'punycode'],
    [hostname('a.*.test'), 'spec.hostnames[0]', 'only as its first label'],
    [hostname('a*.test'), 'spec.hostnames[0]', 'only as its first label'],
    [hostname('*.10.0.0.1'), 'spec.hostnames[0]', 'an IP address has no wildcard'],
    [hostname('*.'), 'spec.hostnames[0]', 'must be a host name'],
    [hostname(''), 'spec.hostnames[0]', 'must be a host name'],
    [hostname('a..test'), 'spec.hostnames[0]', 'must be a host name'],
    [hostname('-a.test'), 'spec.hostnames[0]', 'must be a host name'],
    [hostname('a_b.test'), 'spec.hostnames[0]', 'must be a host name'],
    [hostname('a.test/x'), 'spec.hostnames[0]', 'must be a host name'],
    [hostname('10.0.0.256'), 'spec.hostnames[0]', 'looks like an IPv4 address'],
    [hostname('10.0.0'), 'spec.hostnames[0]', 'looks like an IPv4 address'],
    [hostname('[::1]'), 'spec.hostnames[0]', 'must be a host name'],
    [hostname(`${'x'.repeat(64)}.test`), 'spec.hostnames[0]', 'at most 63 characters'],
    [hostname(`${'x.'.repeat(127)}test`), 'spec.hostnames[0]', 'at most 253'],
    [hostname(1.5), 'spec.hostnames[0]', 'must be a string'],
    [hostname(null), 'spec.hostnames[0]', 'must be a string, not null'],
  ],
  'matches and paths': [
    [forward({ matches: [] }), 'spec.matches', 'must not be empty'],
    [forward({ matches: {} }), 'spec.matches', 'must be a list, not an object'],
    [forward({ matches: ['/a'] }), 'spec.matches[0]', 'must be an object with path'],
    [forward({ matches: many(65, () => ({})) }), 'spec.matches', 'at most 64'],
    [path({}), 'spec.matches[0].path', 'must have one of prefix, exact or regex'],
    [path({ prefix: '/a', exact: '/a' }), 'spec.matches[0].path', 'has prefix and exact'],
    [
      match({ path: '/a' }),
      'spec.matches[0].path',
      'must be an object with prefix, exact or regex',
    ],
    [path({ prefix: 'checkout' }), 'spec.matches[0].path.prefix', 'write "/checkout"'],
    [path({ prefix: '' }), 'spec.matches[0].path.prefix', 'must start with "/": write "/"'],
    [path({ exact: '/a?b=1' }), 'spec.matches[0].path.exact', 'write "/a", without "?b=1"'],
    [path({ exact: '/a#b' }), 'spec.matches[0].path.exact', 'without "#b"'],
    [path({ prefix: '/a b' }), 'spec.matches[0].path.prefix', 'write "%20" for " "'],
    [path({ prefix: '/café' }), 'spec.matches[0].path.prefix', 'write "%C3%A9" for "é"'],
    [path({ prefix: '/☕' }), 'spec.matches[0].path.prefix', 'write "%E2%98%95"'],
    [path({ prefix: '/\ud800' }), 'spec.matches[0].path.prefix', 'half a character'],
    [path({ prefix: '/a\n' }), 'spec.matches[0].path.prefix', 'write "%0A"'],
    [path({ prefix: '/a%' }), 'spec.matches[0].path.prefix', 'no escape'],
    [path({ prefix: '/a%zz' }), 'spec.matches[0].path.prefix', 'has "%zz"'],
    [path({ prefix: '/a%00' }), 'spec.matches[0].path.prefix', 'has "%00"'],
    [path({ prefix: '/a//b' }), 'spec.matches[0].path.prefix', 'write "/a/b"'],
    [path({ prefix: '//' }), 'spec.matches[0].path.prefix', 'write "/"'],
    [path({ prefix: '/a/../b' }), 'spec.matches[0].path.prefix', 'write "/b"'],
    [path({ prefix: '/a/./b' }), 'spec.matches[0].path.prefix', 'write "/a/b"'],
    [path({ prefix: '/a/.' }), 'spec.matches[0].path.prefix', 'write "/a/"'],
    [path({ prefix: '/a/..' }), 'spec.matches[0].path.prefix', 'write "/"'],
    [path({ prefix: '/%2e%2E/a' }), 'spec.matches[0].path.prefix', 'write "/a"'],
    [path({ exact: '/%61' }), 'spec.matches[0].path.exact', 'write "/a"'],
    [path({ exact: '/{id}' }), 'spec.matches[0].path.exact', 'write "/%7Bid%7D"'],
    [path({ exact: '/a\\b' }), 'spec.matches[0].path.exact', 'write "/a/b"'],
    [path({ exact: `/${'x'.repeat(1024)}` }), 'spec.matches[0].path.exact', 'at most 1024'],
    [path({ regex: '/(' }), 'spec.matches[0].path.regex', 'missing closing )'],
    [path({ regex: 'a.*' }), 'spec.matches[0].path.regex', 'starts with "/"'],
    [path({ prefix: 7 }), 'spec.matches[0].path.prefix', 'must be a string: write "7"'],
  ],
  'the same claim twice': [
    [forward({ matches: [{}, { path: { prefix: '/' } }] }), 'spec.matches[1]', 'spec.matches[0]'],
    [
      forward({ matches: [{ path: { prefix: '/a' } }, {}, { path: { prefix: '/a/' } }] }),
      'spec.matches[2]',
      'says the same as spec.matches[0]',
    ],
    [
      forward({ matches: [{ path: { exact: '/a' } }, {}, { path: { prefix: '/' } }] }),
      'spec.matches[2]',
      'says the same as spec.matches[1]',
    ],
    [
      forward({ matches: [{ methods: ['GET', 'POST'] }, { methods: ['PUT', 'POST'] }] }),
      'spec.matches[1]',
      'says the same as spec.matches[0]',
    ],
    [
      forward({
        matches: [
          {
            headers: [
              { name: 'a', exact: '1' },
              { name: 'b', present: true },
            ],
          },
          {
            headers: [
              { name: 'B', present: true },
              { name: 'A', exact: '1' },
            ],
          },
        ],
      }),
      'spec.matches[1]',
      'says the same as spec.matches[0]',
    ],
  ],
  'methods, headers and query': [
    [match({ methods: [] }), 'spec.matches[0].methods', 'must not be empty'],
    [match({ methods: ['get'] }), 'spec.matches[0].methods[0]', 'write "GET"'],
    [match({ methods: ['CONNECT'] }), 'spec.matches[0].methods[0]', 'must not be CONNECT'],
    [match({ methods: ['GET', 'GET'] }), 'spec.matches[0].methods[1]', 'repeats the method'],
    [match({ methods: ['G T'] }), 'spec.matches[0].methods[0]', 'must be a method'],
    [match({ methods: many(17, (n) => `M${n}`) }), 'spec.matches[0].methods', 'at most 16'],
    [match({ methods: 'GET' }), 'spec.matches[0].methods', 'must be a list, not "GET"'],
    [header({ exact: '1' }), 'spec.matches[0].headers[0].name', 'is required'],
    [header({ name: 'x-a' }), 'spec.matches[0].headers[0]', 'must have one of exact, prefix'],
    [header({ name: 'x-a', exact: '1', present: true }), 'spec.matches[0].headers[0]', 'keep only'],
    [header({ name: 'x-a', present: false }), 'spec.matches[0].headers[0].present', 'must be true'],
    [header({ name: 'Host', exact: 'a' }), 'spec.matches[0].headers[0].name', 'use hostnames'],
    [
      header({ name: 'X-Edgewright-Scope', present: true }),
      'spec.matches[0].headers[0].name',
      'must not be x-edgewright-scope: edgewright writes it for itself',
    ],
    [header({ name: ':path', exact: '/' }), 'spec.matches[0].headers[0].name', 'pseudo header'],
    [header({ name: 'x a', exact: '1' }), 'spec.matches[0].headers[0].name', 'name of a header'],
    [header({ name: '', exact: '1' }), 'spec.matches[0].headers[0].name', 'name of a header'],
    [header({ name: 'x'.repeat(257), exact: '1' }), 'spec.matches[0].headers[0].name', '257'],
    [header({ name: 'x-a', exact: '' }), 'spec.matches[0].headers[0].exact', 'present: true'],
    [header({ name: 'x-a', exact: 'é' }), 'spec.matches[0].headers[0].exact', 'visible ASCII'],
    [header({ name: 'x-a', exact: ' a ' }), 'spec.matches[0].headers[0].exact', 'write "a"'],
    [match({ query: [{ name: 'v', exact: 'a b' }] }), 'spec.matches[0].query[0].exact', '"a%20b"'],
    [
      match({ query: [{ name: 'v', prefix: 'ü' }] }),
      'spec.matches[0].query[0].prefix',
      'percent-encoded',
    ],
    [match({ query: [{ name: 'a=b', exact: '1' }] }), 'spec.matches[0].query[0].name', '"a%3Db"'],
    [header({ name: 'x-a', prefix: 'a\n' }), 'spec.matches[0].headers[0].prefix', 'visible ASCII'],
    [header({ name: 'x-a', exact: 'x'.repeat(4097) }), 'spec.matches[0].headers[0].exact', '4096'],
    [header({ name: 'x-a', exact: 1 }), 'spec.matches[0].headers[0].exact', 'write "1" in quotes'],
    [header({ name: 'x-a', exact: true }), 'spec.matches[0].headers[0].exact', 'write "true"'],
    [header({ name: 'x-a', regex: '[' }), 'spec.matches[0].headers[0].regex', 'RE2'],
    [
      match({
        headers: [
          { name: 'x-a', exact: '1' },
          { name: 'X-A', exact: '2' },
        ],
      }),
      'spec.matches[0].headers[1].name',
      'repeats the header "x-a" of item 0',
    ],
    [
      match({ headers: many(17, (n) => ({ name: `x-${n}`, present: true })) }),
      'spec.matches[0].headers',
      'has 17 headers: at most 16',
    ],
    [query({ name: '', present: true }), 'spec.matches[0].query[0].name', 'must not be empty'],
    [query({ name: 'é'.repeat(513), present: true }), 'spec.matches[0].query[0].name', '1026'],
    [query({ name: 'a\u0000', present: true }), 'spec.matches[0].query[0].name', 'control'],
    [query({ name: 'v', exact: '' }), 'spec.matches[0].query[0].exact', 'must not be empty'],
    [query({ name: 'v', exact: '\udfff' }), 'spec.matches[0].query[0].exact', 'surrogate'],
    [query({ name: 'v', regex: '(?=a)' }), 'spec.matches[0].query[0].regex', 'RE2'],
    [
      match({
        query: [
          { name: 'v', exact: '1' },
          { name: 'v', exact: '2' },
        ],
      }),
      'spec.matches[0].query[1].name',
      'repeats the parameter',
    ],
  ],
  backends: [
    [{ backends: [] }, 'spec.backends', 'must not be empty'],
    [{ backends: many(65, () => backends[0]) }, 'spec.backends', 'has 65 backends: at most 64'],
    [backend({}), 'spec.backends[0]', 'must have one of service or address'],
    [backend({ weight: 1 }), 'spec.backends[0]', 'must have one of service or address'],
    [
      backend({ service: { name: 'a', port: 1 }, address: { host: 'b', port: 1 } }),
      'spec.backends[0]',
      'has service and address',
    ],
    [
      { backends: [{ ...backends[0], weight: -1 }] },
      'spec.backends[0].weight',
      'from 0 to 1000000',
    ],
    [{ backends: [{ ...backends[0], weight: 0.5 }] }, 'spec.backends[0].weight', 'whole number'],
    [{ backends: [{ ...backends[0], weight: 1e9 }] }, 'spec.backends[0].weight', 'not 1000000000'],
    [{ backends: [{ ...backends[0], weight: NaN }] }, 'spec.backends[0].weight', 'not NaN'],
    [{ backends: [{ ...backends[0], weight: '9' }] }, 'spec.backends[0].weight', 'write 9 without'],
    [{ backends: [{ ...backends[0], weight: 0 }] }, 'spec.backends', 'only weights of 0'],
    [service('One'), 'spec.backends[0].service.name', 'lower-case letters'],
    [service('one.ns'), 'spec.backends[0].service.name', 'lower-case letters'],
    [service(undefined), 'spec.backends[0].service.name', 'is required'],
    [service('one', 0), 'spec.backends[0].service.port', 'from 1 to 65535, not 0'],
    [service('one', 70_000), 'spec.backends[0].service.port', 'not 70000'],
    [service('one', '80'), 'spec.backends[0].service.port', 'write 80 without quotes'],
    [service('one', 'HTTP'), 'spec.backends[0].service.port', 'number or name'],
    [service('one', 'a--b'), 'spec.backends[0].service.port', 'number or name'],
    [service('one', 'x'.repeat(16)), 'spec.backends[0].service.port', 'at most 15'],
    [service('one', true), 'spec.backends[0].service.port', 'by number or by name, not true'],
    [address('a.test', 0), 'spec.backends[0].address.port', 'from 1 to 65535, not 0'],
    [address('a.test', 70_000), 'spec.backends[0].address.port', 'not 70000'],
    [address('a.test', 80.5), 'spec.backends[0].address.port', 'whole number'],
    [address('a.test', '80'), 'spec.backends[0].address.port', 'write 80 without quotes'],
    [address('a.test', null), 'spec.backends[0].address.port', 'is required'],
    [address('[::1]'), 'spec.backends[0].address.host', 'must have no brackets: write "::1"'],
    [address('10.0.0.256'), 'spec.backends[0].address.host', 'looks like an IPv4 address'],
    [address('010.0.0.1'), 'spec.backends[0].address.host', 'looks like an IPv4 address'],
    [address('1::2::3'), 'spec.backends[0].address.host', 'must be a host name'],
    [address('fe80::1%eth0'), 'spec.backends[0].address.host', 'must be a host name'],
    [address('a.test:80'), 'spec.backends[0].address.host', 'leave ":80" out'],
    [address('http://a.test'), 'spec.backends[0].address.host', 'leave "http://" out'],
    [address(''), 'spec.backends[0].address.host', 'must be a host name'],
  ],
  'timeouts, retries and rewrite': [
    [forward({ timeouts: { request: '15' } }), 'spec.timeouts.request', 'write "15s"'],
    [forward({ timeouts: { request: 15 } }), 'spec.timeouts.request', 'missing unit: write "15s"'],
    [forward({ timeouts: { request: '-1s' } }), 'spec.timeouts.request', 'must not be negative'],
    [forward({ timeouts: { request: '1us' } }), 'spec.timeouts.request', 'whole milliseconds'],
    [forward({ timeouts: { request: {} } }), 'spec.timeouts.request', 'must be a duration'],
    [forward({ retries: {} }), 'spec.retries.attempts', 'is required'],
    [forward({ retries: { attempts: 0 } }), 'spec.retries.attempts', 'from 1 to 10, not 0'],
    [forward({ retries: { attempts: 11 } }), 'spec.retries.attempts', 'from 1 to 10, not 11'],
    [forward({ retries: { attempts: Infinity } }), 'spec.retries.attempts', 'not Infinity'],
    [forward({ retries: { attempts: 1, on: [] } }), 'spec.retries.on', 'must not be empty'],
    [forward({ retries: { attempts: 1, on: ['5XX'] } }), 'spec.retries.on[0]', 'mean "5xx"'],
    [forward({ retries: { attempts: 1, on: ['teapot'] } }), 'spec.retries.on[0]', 'gateway-error'],
    [
      forward({ retries: { attempts: 1, on: ['retriable-status-codes'] } }),
      'spec.retries.on[0]',
      'must be one of',
    ],
    [forward({ retries: { attempts: 1, on: ['5xx', '5xx'] } }), 'spec.retries.on[1]', 'repeats'],
    [forward({ rewrite: {} }), 'spec.rewrite', 'must have prefix or host'],
    [forward({ rewrite: { prefix: 'x' } }), 'spec.rewrite.prefix', 'write "/x"'],
    [forward({ rewrite: { host: 'a.test:99999' } }), 'spec.rewrite.host', 'port 99999'],
    [forward({ rewrite: { host: 'A.test' } }), 'spec.rewrite.host', 'lower case'],
    [
      forward({ matches: [{}, { path: { regex: '/a.*' } }], rewrite: { prefix: '/' } }),
      'spec.rewrite.prefix',
      'spec.matches[1].path is a regex',
    ],
  ],
  'header changes': [
    [
      request({ set: [{ name: 'host', value: 'a' }] }),
      'spec.headers.request.set[0].name',
      'rewrite.host',
    ],
    [request({ remove: ['Host'] }), 'spec.headers.request.remove[0]', 'rewrite.host'],
    [
      request({ add: [{ name: ':path', value: 'a' }] }),
      'spec.headers.request.add[0].name',
      'pseudo',
    ],
    [
      request({ set: [{ name: 'x-edgewright-scope', value: '7-1' }] }),
      'spec.headers.request.set[0].name',
      'must not be x-edgewright-scope',
    ],
    [
      request({ remove: ['X-Edgewright-Scope'] }),
      'spec.headers.request.remove[0]',
      'must not be x-edgewright-scope',
    ],
    [request({ remove: ['Content-Length'] }), 'spec.headers.request.remove[0]', 'the connection'],
    [request({ set: [{ name: 'x a', value: '' }] }), 'spec.headers.request.set[0].name', 'header'],
    [request({ set: [{ name: 'x-a' }] }), 'spec.headers.request.set[0].value', 'is required'],
    [
      request({ set: [{ name: 'x-a', value: 'a\r\nb' }] }),
      'spec.headers.request.set[0].value',
      '"\\r"',
    ],
    [
      request({ set: [{ name: 'x-a', value: '\u0000' }] }),
      'spec.headers.request.set[0].value',
      'control',
    ],
    [
      request({ set: [{ name: 'x-a', value: '\u007f' }] }),
      'spec.headers.request.set[0].value',
      'control',
    ],
    [
      request({ set: [{ name: 'x-a', value: '\ud800' }] }),
      'spec.headers.request.set[0].value',
      'surrogate',
    ],
    [
      request({ set: [{ name: 'x-a', value: 'é'.repeat(8193) }] }),
      'spec.headers.request.set[0].value',
      '16386',
    ],
    [
      request({ set: [{ name: 'x-a', value: '%'.repeat(8193) }] }),
      'spec.headers.request.set[0].value',
      '16386',
    ],
    [
      request({
        add: [
          { name: 'x-a', value: '1' },
          { name: 'X-A', value: '2' },
        ],
      }),
      'spec.headers.request.add[1].name',
      'repeats the header',
    ],
    [request({ remove: ['x-a', 'X-A'] }), 'spec.headers.request.remove[1]', 'repeats the header'],
    [
      request({ set: [{ name: 'X-A', value: '1' }], remove: ['x-b', 'x-a'] }),
      'spec.headers.request.remove[1]',
      'is in set as well',
    ],
    [
      request({ remove: many(65, (n) => `x-${n}`) }),
      'spec.headers.request.remove',
      'has 65 headers: at most 64',
    ],
    [forward({ headers: { response: [] } }), 'spec.headers.response', 'must be an object with set'],
  ],
  'redirect and respond': [
    [{ redirect: {} }, 'spec.redirect', 'must have scheme, host or path'],
    [{ redirect: { code: 301 } }, 'spec.redirect', 'must have scheme, host or path'],
    [{ redirect: { scheme: 'ftp' } }, 'spec.redirect.scheme', 'must be http or https, not "ftp"'],
    [{ redirect: { host: 'a.test:80' } }, 'spec.redirect.host', 'leave ":80" out'],
    [{ redirect: { host: '::1' } }, 'spec.redirect.host', 'write "[::1]"'],
    [{ redirect: { path: 'new' } }, 'spec.redirect.path', 'write "/new"'],
    [{ redirect: { path: '/new?a=1' } }, 'spec.redirect.path', 'without "?a=1"'],
    [{ redirect: { path: '/', code: 300 } }, 'spec.redirect.code', '301, 302, 303, 307 or 308'],
    [{ redirect: { path: '/', code: '301' } }, 'spec.redirect.code', 'not "301"'],
    [{ respond: {} }, 'spec.respond.code', 'is required'],
    [{ respond: { code: 199 } }, 'spec.respond.code', 'from 200 to 599, not 199'],
    [{ respond: { code: 600 } }, 'spec.respond.code', 'from 200 to 599, not 600'],
    [{ respond: { code: 200, body: 'é'.repeat(2049) } }, 'spec.respond.body', 'has 4098 bytes'],
    [{ respond: { code: 200, body: '\ud83d' } }, 'spec.respond.body', 'surrogate'],
    [{ respond: { code: 204, body: 'x' } }, 'spec.respond.body', 'a response 204 has no body'],
    [{ respond: { code: 200, body: 5 } }, 'spec.respond.body', 'must be a string'],
  ],
  'the number of claims': [
    [
      forward({
        hostnames: many(64, (n) => `h${n}.test`),
        matches: many(64, (n) => ({ path: { exact: `/${n}` }, methods: ['GET', 'POST'] })),
      }),
      'spec',
      'stands for 8192 claims',
    ],
    [
      forward({
        hostnames: many(32, (n) => `h${n}.test`),
        matches: many(32, (n) => ({ path: { exact: `/${n}` } })),
        headers: { request: { set: [{ name: 'x-a', value: 'x'.repeat(5000) }] } },
      }),
      'spec',
      'KiB of every route table',
    ],
    [
      forward({
        hostnames: many(2, (n) => `h${n}.test`),
        matches: many(64, (n) => ({ path: { exact: `/${n}` } })),
        headers: {
          request: { set: many(5, (n) => ({ name: `x-${n}`, value: '語'.repeat(5_400) })) },
        },
      }),
      'spec',
      'KiB of every route table',
    ],
    [
      {
        hostnames: many(64, (n) => `h${n}.test`),
        matches: many(64, (n) => ({ path: { exact: `/${n}` } })),
        backends: many(64, (n) => ({ service: { name: `s${n}`, port: 80 } })),
      },
      'spec',
      'at most 4096 KiB',
    ],
  ],
}

for (const [about, rows] of Object.entries(tables)) {
  describe(`a spec is refused for ${about}`, () => {
    test.each(rows.map(([spec, where, message]) => ({ where, message, spec })))(
      '$where: $message',
      ({ where, message, spec }) => {
        const errors = decodeSpec(spec)
        expect(errors.map((error) => error.path)).toEqual([where])
        expect(errors[0]?.message).toContain(message)
      },
    )
  })
}

const accepted: ReadonlyArray<readonly [what: string, spec: EdgeRouteSpec]> = [
  ['every host by name', { backends, hostnames: ['localhost', 'a.test', '*.test', '10.0.0.1'] }],
  ['punycode', { backends, hostnames: ['xn--mnchen-3ya.test'] }],
  ['63 characters in a label', { backends, hostnames: [`${'x'.repeat(63)}.test`] }],
  ['an empty match', { backends, matches: [{}] }],
  ['a trailing slash', { backends, matches: [{ path: { prefix: '/a/' } }] }],
  ['escapes that stay', { backends, matches: [{ path: { exact: '/a%2Fb%20c' } }] }],
  ['dots that are no segment', { backends, matches: [{ path: { exact: '/.a/b../...' } }] }],
  ['a regex of anything', { backends, matches: [{ path: { regex: '.*' } }] }],
  [
    'the same path, exact and as a prefix',
    {
      backends,
      matches: [{ path: { exact: '/a' } }, { path: { prefix: '/a' } }],
    },
  ],
  ['all methods, and one of them', { backends, matches: [{}, { methods: ['GET'] }] }],
  ['empty lists of predicates', { backends, matches: [{ headers: [], query: [] }] }],
  [
    'parameters that differ in case',
    {
      backends,
      matches: [
        {
          query: [
            { name: 'v', present: true },
            { name: 'V', present: true },
          ],
        },
      ],
    },
  ],
  ['a tab in a header', { backends, matches: [{ headers: [{ name: 'x', exact: 'a\tb' }] }] }],
  ['IPv6', { backends: [{ address: { host: 'FE80::1', port: 1 } }] }],
  ['a name in capitals', { backends: [{ address: { host: 'One.Test', port: 65_535 } }] }],
  ['a weight of 0 among others', { backends: [{ ...backends[0], weight: 0 }, ...backends] }],
  ['a port by name', { backends: [{ service: { name: 'one', port: 'http-2' } }] }],
  ['no timeout', { backends, timeouts: { request: '0s' } }],
  ['an empty object of timeouts', { backends, timeouts: {} }],
  ['empty header changes', { backends, headers: { request: { set: [], add: [] }, response: {} } }],
  ['a percent sign', { backends, headers: { request: { set: [{ name: 'x', value: '50%' }] } } }],
  [
    'a header that is set and added',
    {
      backends,
      headers: { request: { set: [{ name: 'x', value: '' }], add: [{ name: 'x', value: 'é' }] } },
    },
  ],
  ['a rewrite of host and port', { backends, rewrite: { host: 'a.test:8080' } }],
  [
    'a rewrite of the host under a regex',
    {
      backends,
      matches: [{ path: { regex: '/a' } }],
      rewrite: { host: '10.0.0.1' },
    },
  ],
  ['headers beside a redirect', { redirect: { host: '[::1]' }, headers: {} }],
  ['a response without a body', { respond: { code: 204, body: '' } }],
  ['a body of 4096 bytes', { respond: { code: 200, body: 'é'.repeat(2048) } }],
]

describe('a spec is accepted with', () => {
  test.each(accepted)('%s', (_, spec) => {
    expect(decodeSpec(spec)).toEqual([])
    expect(checkSpec(spec)).toEqual([])
  })
})
