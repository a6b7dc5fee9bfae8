import fc from 'fast-check'
import type { EdgeRoute, EdgeRouteSpec, Match } from 'edgewright'
import type { SendOptions } from './edge.js'

/** Routes of many hosts, and requests that name these hosts in every way that a client may, and others. */
export interface FormWorld {
  readonly routes: ReadonlyArray<EdgeRoute>
  readonly requests: ReadonlyArray<Required<SendOptions>>
}

/** So many that some share a shard of a few, and some do not. */
const exact = [
  'a.test',
  'b.test',
  'c.a.test',
  'd.c.a.test',
  'x-1.test',
  'test',
  '10.0.0.1',
  'zz.org',
]
const wildcards = ['*.test', '*.a.test', '*.c.a.test', '*.org']

const hostnames = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  {
    weight: 5,
    arbitrary: fc.uniqueArray(fc.constantFrom(...exact, ...wildcards), {
      minLength: 1,
      maxLength: 3,
    }),
  },
)

const matches: fc.Arbitrary<ReadonlyArray<Match>> = fc.constantFrom(
  [{}],
  [{ path: { prefix: '/a' } }],
  [{ path: { exact: '/a/b' } }, { path: { prefix: '/c' }, methods: ['POST'] }],
  [{ headers: [{ name: 'x-a', exact: '1' }] }],
)

/** What its answers say of the request beside the name of the route. */
type Answering = (uid: string) => EdgeRouteSpec

const named = (uid: string) => ({ set: [{ name: 'x-route', value: uid }] })

const forwarding: Answering = (uid) => ({
  backends: [{ service: { name: 'echo', port: 80 } }],
  headers: { request: named(uid), response: named(uid) },
})

const answering: fc.Arbitrary<Answering> = fc.constantFrom<Answering>(
  (uid) => ({ respond: { code: 200, body: uid } }),
  forwarding,
  (uid) => ({ ...forwarding(uid), rewrite: { host: 'in.test' } }),
  (uid) => ({ redirect: { scheme: 'https', path: `/${uid}` } }),
)

const routes = fc
  .array(fc.record({ hostnames, matches, answering }), { minLength: 1, maxLength: 12 })
  .map((all) =>
    all.map(({ hostnames: names, matches: own, answering: specOf }, index): EdgeRoute => {
      const uid = `r${index}`
      return {
        metadata: { namespace: 'test', name: uid, uid, generation: 1, finalizers: [] },
        spec: {
          ...specOf(uid),
          matches: own,
          ...(names === undefined ? {} : { hostnames: names }),
        },
      }
    }),
  )

/** Of names that are claimed, of some below them, of others, and of what is no name. */
const asked = fc.constantFrom(
  ...exact,
  ...wildcards.map((host) => host.replace('*', 'any')),
  ...wildcards.map((host) => host.replace('*', 'any.more')),
  '10.0.0.2',
  '[::1]',
  '[2001:db8::1]',
  'elsewhere',
  'a.test.',
  '_',
)

const capitals = (host: string): string => host.toUpperCase()
const half = (host: string): string => capitals(host.slice(0, 2)) + host.slice(2)
const ways: ReadonlyArray<(host: string) => string> = [
  (host) => host,
  capitals,
  half,
  ...[':80', ':18080', ':', ':0', ':port', ':1:2', '.', '.:80', '..'].flatMap((tail) => [
    (host: string) => host + tail,
    (host: string) => half(host) + tail,
  ]),
]

const request: fc.Arbitrary<Required<SendOptions>> = fc.record({
  host: fc.tuple(asked, fc.constantFrom(...ways)).map(([host, way]) => way(host)),
  path: fc.constantFrom('/', '/a', '/a/b', '/c', '/ab?v=1'),
  method: fc.constantFrom('GET', 'POST'),
  headers: fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    { 'x-a': '1' },
    { 'x-edgewright-scope': '7-1' },
    { 'X-Edgewright-Scope': 'nowhere', 'x-a': '1' },
  ),
})

export const formWorlds: fc.Arbitrary<FormWorld> = fc.record({
  routes,
  requests: fc.array(request, { minLength: 15, maxLength: 30 }),
})
