import { expect, test } from 'vitest'
import type { Schema } from '../../src/core/crd.js'
import { refusalsOf } from '../support/crd/agreement.js'
import { admitNew, objectSchema } from '../support/crd/offline-server.js'

type Json = Readonly<Record<string, unknown>>

const backends = [{ service: { name: 'one', port: 80 } }]
const forward = (fields: Json): Json => ({ backends, ...fields })
const match = (fields: Json): Json => forward({ matches: [fields] })
const prefix = (path: string): Json => match({ path: { prefix: path } })
const header = (fields: Json): Json => match({ headers: [{ exact: 'a', ...fields }] })
const request = (fields: Json): Json => forward({ headers: { request: fields } })
const set = (name: string, value = 'a'): Json => request({ set: [{ name, value }] })
const hostname = (name: string): Json => forward({ hostnames: [name] })
const rewriteHost = (host: string): Json => forward({ rewrite: { host } })
const address = (host: string): Json => ({ backends: [{ address: { host, port: 80 } }] })
const waiting = (time: string): Json => forward({ timeouts: { request: time } })
const many = (count: number, item: (index: number) => unknown): ReadonlyArray<unknown> =>
  Array.from({ length: count }, (_, index) => item(index))
const long = `${'a'.repeat(49)}.`.repeat(6).slice(0, 254)

/** By the beginning of what a rule says: specs that are refused by it and by nothing else. */
const broken: Readonly<Record<string, ReadonlyArray<Json>>> = {
  'must have exactly one of backends, redirect and respond': [
    {},
    forward({ respond: { code: 200 } }),
    { redirect: { host: 'a.test' }, respond: { code: 200 } },
  ],
  'has timeouts, which goes only with backends': [{ respond: { code: 200 }, timeouts: {} }],
  'has retries, which goes only with backends': [
    { respond: { code: 200 }, retries: { attempts: 1 } },
  ],
  'has rewrite, which goes only with backends': [
    { respond: { code: 200 }, rewrite: { prefix: '/' } },
  ],
  'has rewrite.prefix, and a regex in matches': [
    forward({ matches: [{ path: { regex: '/a' } }], rewrite: { prefix: '/' } }),
  ],
  'must stand for at most 4096 claims': [
    forward({
      hostnames: many(64, (i) => `h${i}.test`),
      matches: many(64, (i) => ({
        path: { exact: `/${i}` },
        ...(i === 0 && { methods: ['A', 'B'] }),
      })),
    }),
    forward({
      matches: many(64, (i) => ({ path: { exact: `/${i}` }, methods: ['A', 'B'] })),
      hostnames: many(33, (i) => `h${i}.test`),
    }),
  ],
  'must be a host name in lower case, such as': ['*', 'a.test:80', 'A.test', '*.*.test', '-a'].map(
    hostname,
  ),
  'looks like an IPv4 address, but is none': [
    ...['1.2.3', '1.2.3.256', 'a.1', '*.1'].map(hostname),
    ...['1.2.3', '300.1.1.1:80'].map(rewriteHost),
    { redirect: { host: '1.2.3.400' } },
    address('1.2.3.4.5'),
  ],
  'has a name of more than 253 characters': [hostname(long), rewriteHost(long)],
  'must start with "/"': [prefix('a'), { redirect: { path: '' } }],
  'must be ASCII in normal form': ['/\u00e9', '/%zz', '/%41', '/%00', '/ ', '/"'].map(prefix),
  'must have no empty, "." or ".." segment': ['//', '/a/./b', '/a/..', '/.', '/a//b'].map(prefix),
  'must be printable ASCII': [
    match({ path: { regex: '/\u00e9' } }),
    match({ query: [{ name: 'a', regex: '\t' }] }),
  ],
  'must have exactly one of prefix, exact and regex': [
    match({ path: {} }),
    match({ path: { prefix: '/', exact: '/' } }),
  ],
  'must be the name of a header': [header({ name: 'a b' }), header({ name: '' }), set('a:b')],
  'must not be host: use hostnames': [header({ name: 'Host' })],
  'must not be host: use rewrite.host': [set('hOst'), request({ remove: ['host'] })],
  'must not be a header that belongs to the connection': [
    ...['Connection', 'content-length', 'Keep-Alive', 'proxy-connection'].map((name) => set(name)),
    request({ remove: ['upgrade'] }),
    request({ add: [{ name: 'Transfer-Encoding', value: 'a' }] }),
  ],
  'must have exactly one of exact, prefix, regex and present': [
    header({ name: 'a', present: true }),
    match({ query: [{ name: 'a' }] }),
  ],
  'must not name a header twice, in whatever case': [
    match({ headers: ['a', 'A'].map((name) => ({ name, exact: 'a' })) }),
    request({ add: ['a', 'A'].map((name) => ({ name, value: 'a' })) }),
    request({ remove: ['a', 'A'] }),
  ],
  'must not set and remove one header': [
    request({ set: [{ name: 'a', value: 'a' }], remove: ['A'] }),
  ],
  'is compared as it was sent': [
    match({ query: [{ name: 'a&b', exact: 'a' }] }),
    match({ query: [{ name: 'a=b', exact: 'a' }] }),
    match({ query: [{ name: 'a', exact: 'a b' }] }),
    match({ query: [{ name: 'a', prefix: '\u00e9' }] }),
  ],
  'must not be CONNECT': [match({ methods: ['GET', 'CONNECT'] })],
  'must have at most 16384 bytes': [
    set('a', '%'.repeat(8_193)),
    set('a', '\u00e9'.repeat(8_193)),
    set('a', `%${'a'.repeat(16_383)}`),
  ],
  'must have no control characters': ['\u0000', 'a\nb', '\u007f', '\u0085'].map((value) =>
    set('a', value),
  ),
  'must have exactly one of service and address': [
    { backends: [{ weight: 1 }] },
    { backends: [{ ...backends[0], address: { host: 'a.test', port: 80 } }] },
  ],
  'must not have only weights of 0': [{ backends: [{ ...backends[0], weight: 0 }] }],
  'must be a host name or an IP address, without scheme': [
    'a_b',
    '[::1]',
    '1::2::3',
    '',
    ':::',
  ].map(address),
  'must be a host name in lower case, an IPv4 address, or an IPv6 address': [
    ...['A', '::1', '[1]', '[::g]', 'a:80'].map((host) => ({ redirect: { host } })),
  ],
  'must be a host name in lower case or an IPv4 address': ['A', 'a:', 'a:999999', '::1'].map(
    rewriteHost,
  ),
  'has a port that must be from 1 to 65535': ['a:0', 'a:65536', '1.2.3.4:99999'].map(rewriteHost),
  'must have scheme, host or path': [{ redirect: {} }, { redirect: { code: 302 } }],
  'must have prefix or host': [forward({ rewrite: {} })],
  'must have no body: a response': [204, 205, 304].map((code) => ({
    respond: { code, body: 'a' },
  })),
  'must have at most 4096 bytes': [{ respond: { code: 200, body: '\u00e9'.repeat(2_049) } }],
  'must be a duration of at most 24h': ['', '1', '-1s', '1 s', '1d', '24h1ms', '.s'].map(waiting),
  'must be whole milliseconds': ['1.5ms', '1us', '1ns', '0.0001s', '1.0005s'].map(waiting),
}

/** Rules that only an update can break. */
const ofUpdates = 'is immutable'

/** What breaks these breaks a stricter one, too, whose message would say less. */
const withOthers: Readonly<Record<string, ReadonlyArray<Json>>> = {
  'must be a path alone, without': ['/a?b', '/#'].map(prefix),
}

const messagesIn = (schema: Schema): ReadonlyArray<string> => [
  ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
  ...Object.values(schema.properties ?? {}).flatMap(messagesIn),
  ...(schema.items === undefined ? [] : messagesIn(schema.items)),
]

const messages = [...new Set(messagesIn(objectSchema))].filter(
  (message) => !message.startsWith(ofUpdates),
)

const saidOf = (spec: Json): ReadonlyArray<string> => [
  ...new Set(admitNew(spec).complaints.map(({ what }) => what)),
]

const rowsOf = (table: typeof broken, message: string): ReadonlyArray<Json> =>
  Object.entries(table).flatMap(([start, specs]) => (message.startsWith(start) ? specs : []))

test.each(messages)('the codec refuses what a rule refuses: %s', (message) => {
  const alone = rowsOf(broken, message)
  const together = rowsOf(withOthers, message)
  expect(alone.length + together.length).toBeGreaterThan(0)
  for (const spec of alone) expect(saidOf(spec), JSON.stringify(spec)).toEqual([message])
  for (const spec of together) expect(saidOf(spec)).toContain(message)
  for (const spec of [...alone, ...together]) expect(refusalsOf(spec)).not.toEqual([])
})
