import fc from 'fast-check'
import {
  apiVersion,
  type Backend,
  type EdgeRoute,
  type EdgeRouteSpec,
  type HeaderChanges,
  type Headers,
  kind,
  type Match,
  type PathMatch,
  type Redirect,
  type Respond,
  type Retries,
  type Rewrite,
  showKey,
  type Timeouts,
  type ValueMatch,
} from '../../src/core/edge-route.js'

// Small alphabets on purpose: routes must collide, or nearly collide, often.

/** Plain objects: one with a null prototype is never equal in a strict comparison. */
const plain = { noNullPrototype: true } as const
const allOptional: { readonly noNullPrototype: true; readonly requiredKeys: [] } = {
  noNullPrototype: true,
  requiredKeys: [],
}

const hostnames: fc.Arbitrary<ReadonlyArray<string>> = fc.uniqueArray(
  fc.constantFrom('a.test', 'b.test', '*.test'),
  { minLength: 1, maxLength: 2 },
)

const literalPaths = ['/', '/a', '/a/', '/a/b', '/ab', '/a%2Fb'] as const

const pathMatch: fc.Arbitrary<PathMatch> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ prefix: fc.constantFrom(...literalPaths) }, plain) },
  { weight: 3, arbitrary: fc.record({ exact: fc.constantFrom(...literalPaths) }, plain) },
  { weight: 1, arbitrary: fc.record({ regex: fc.constantFrom('/a.*', '/[ab]+', '.*') }, plain) },
)

const predicates = (names: ReadonlyArray<string>): fc.Arbitrary<ReadonlyArray<ValueMatch>> => {
  const name = fc.constantFrom(...names)
  const value = fc.constantFrom('1', '12', 'x')
  const predicate: fc.Arbitrary<ValueMatch> = fc.oneof(
    fc.record({ name, exact: value }, plain),
    fc.record({ name, prefix: value }, plain),
    fc.record({ name, regex: fc.constantFrom('[0-9]+', '1|x') }, plain),
    fc.record({ name, present: fc.constant<true>(true) }, plain),
  )
  return fc.uniqueArray(predicate, { maxLength: 2, selector: (one) => one.name.toLowerCase() })
}

const match: fc.Arbitrary<Match> = fc.record(
  {
    path: pathMatch,
    methods: fc.uniqueArray(fc.constantFrom('GET', 'POST', 'DELETE'), {
      minLength: 1,
      maxLength: 2,
    }),
    headers: predicates(['x-a', 'X-A', 'x-b']),
    query: predicates(['v', 'V']),
  },
  allOptional,
)

/** A claim of one match, in a form that is equal for equal claims. */
const claims = ({ path = { prefix: '/' }, methods = [''], headers = [], query = [] }: Match) => {
  const prefix = path.prefix === undefined || path.prefix === '/' ? path.prefix : trim(path.prefix)
  const where = [prefix ?? null, path.exact ?? null, path.regex ?? null]
  const named = (one: ValueMatch, name: string): string =>
    JSON.stringify([name, one.exact ?? null, one.prefix ?? null, one.regex ?? null])
  const headerParts = headers.map((one) => named(one, one.name.toLowerCase())).sort()
  const queryParts = query.map((one) => named(one, one.name)).sort()
  return methods.map((method) => JSON.stringify([where, method, headerParts, queryParts]))
}

const trim = (path: string): string => path.replace(/\/$/, '')

const overlap = (a: Match, b: Match): boolean => {
  const taken = new Set(claims(a))
  return claims(b).some((claim) => taken.has(claim))
}

const matches: fc.Arbitrary<ReadonlyArray<Match>> = fc.uniqueArray(match, {
  minLength: 1,
  maxLength: 3,
  comparator: overlap,
})

const service = fc.record(
  { name: fc.constantFrom('one', 'two'), port: fc.constantFrom<string | number>(80, 8080, 'http') },
  plain,
)

const address = fc.record(
  {
    host: fc.constantFrom('10.0.0.1', '10.0.0.2', '::1', '0:0::0:1', 'one.test', 'One.test'),
    port: fc.constantFrom(80, 8080),
  },
  plain,
)

const weight = fc.constantFrom(0, 1, 3, 90)

const backend: fc.Arbitrary<Backend> = fc
  .tuple(
    fc.oneof(fc.record({ service }, plain), fc.record({ address }, plain)),
    fc.record({ weight }, allOptional),
  )
  .map(([target, share]) => ({ ...target, ...share }))

const backends: fc.Arbitrary<ReadonlyArray<Backend>> = fc
  .array(backend, { minLength: 1, maxLength: 3 })
  .map((all) => (all.every((one) => one.weight === 0) ? [{ ...all[0], weight: 1 }] : all))

const timeouts: fc.Arbitrary<Timeouts> = fc.record(
  { request: fc.constantFrom('0s', '250ms', '1m30s', '1.5s', '90s') },
  allOptional,
)

const retries: fc.Arbitrary<Retries> = fc.record(
  {
    attempts: fc.integer({ min: 1, max: 3 }),
    on: fc.uniqueArray(fc.constantFrom('5xx', 'connect-failure', 'reset', 'unavailable'), {
      minLength: 1,
      maxLength: 3,
    }),
  },
  { noNullPrototype: true, requiredKeys: ['attempts'] },
)

const rewrite: fc.Arbitrary<Rewrite> = fc.oneof(
  fc.record({ prefix: fc.constantFrom('/', '/a', '/new/') }, plain),
  fc.record({ host: fc.constantFrom('in.test', 'in.test:8080') }, plain),
  fc.record({ prefix: fc.constant('/a'), host: fc.constant('in.test') }, plain),
)

const redirect: fc.Arbitrary<Redirect> = fc
  .record(
    {
      scheme: fc.constantFrom<'http' | 'https'>('http', 'https'),
      host: fc.constantFrom('a.test', 'www.test'),
      path: fc.constantFrom('/', '/new'),
      code: fc.constantFrom<301 | 302 | 303 | 307 | 308>(301, 302, 303, 307, 308),
    },
    allOptional,
  )
  .map((one) =>
    one.scheme === undefined && one.host === undefined && one.path === undefined
      ? { ...one, path: '/new' }
      : one,
  )

const respond: fc.Arbitrary<Respond> = fc.record(
  { code: fc.constantFrom(200, 410, 503), body: fc.constantFrom('', 'gone', 'naïve ☕') },
  { noNullPrototype: true, requiredKeys: ['code'] },
)

const headerValues = fc.uniqueArray(
  fc.record(
    { name: fc.constantFrom('x-a', 'X-A', 'x-b'), value: fc.constantFrom('1', '', '50%', 'a\tb') },
    plain,
  ),
  { maxLength: 2, selector: ({ name }) => name.toLowerCase() },
)

const headerChanges: fc.Arbitrary<HeaderChanges> = fc.record(
  {
    set: headerValues,
    add: headerValues,
    remove: fc.uniqueArray(fc.constantFrom('x-c', 'X-D', 'server'), { maxLength: 2 }),
  },
  allOptional,
)

const headers: fc.Arbitrary<Headers> = fc.record(
  { request: headerChanges, response: headerChanges },
  allOptional,
)

const shared = fc.record({ hostnames, matches, headers }, allOptional)
const forward = fc.record(
  { backends, timeouts, retries, rewrite },
  { noNullPrototype: true, requiredKeys: ['backends'] },
)

/** What `rewrite.prefix` stands in place of is not known where a regex matches. */
const withoutUselessRewrite = (spec: EdgeRouteSpec): EdgeRouteSpec => {
  const regex = spec.matches?.some(({ path }) => path?.regex !== undefined) === true
  if (!regex || spec.rewrite?.prefix === undefined) return spec
  const { rewrite: dropped, ...rest } = spec
  return dropped.host === undefined ? rest : { ...rest, rewrite: { host: dropped.host } }
}

/** A valid spec, of every shape that the language has. */
export const edgeRouteSpec: fc.Arbitrary<EdgeRouteSpec> = fc
  .tuple(
    shared,
    fc.oneof(
      { weight: 4, arbitrary: forward },
      { weight: 1, arbitrary: fc.record({ redirect }, plain) },
      { weight: 1, arbitrary: fc.record({ respond }, plain) },
    ),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.constant({ dataPlane: 'edge-envoy' }) },
    ),
  )
  .map(([common, action, plane]) => withoutUselessRewrite({ ...plane, ...common, ...action }))

const timestamps = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', '2026-02-03T04:05:06Z'] as const

const metadata: fc.Arbitrary<EdgeRoute['metadata']> = fc
  .tuple(
    fc.record(
      {
        namespace: fc.constantFrom('a', 'b'),
        name: fc.constantFrom('a', 'b', 'c', 'ab', 'a-b', 'a.b'),
        uid: fc.integer({ min: 0, max: 40 }).map((n) => `uid-${n}`),
        generation: fc.integer({ min: 1, max: 3 }),
        finalizers: fc.constantFrom<ReadonlyArray<string>>([], ['net.10xdev.io/deprogram']),
      },
      plain,
    ),
    fc.record({ creationTimestamp: fc.constantFrom(...timestamps) }, allOptional),
    fc.oneof(
      { weight: 5, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.constant({ deletionTimestamp: '2026-03-01T00:00:00Z' }) },
    ),
  )
  .map(([always, created, deleted]) => ({ ...always, ...created, ...deleted }))

/** A valid route over the whole language; one in six is terminating. */
export const edgeRoute: fc.Arbitrary<EdgeRoute> = fc.record(
  { metadata, spec: edgeRouteSpec },
  plain,
)

/** Valid routes as a source holds them: each uid once, and each namespace and name once. */
export const edgeRoutes: fc.Arbitrary<ReadonlyArray<EdgeRoute>> = fc.uniqueArray(edgeRoute, {
  maxLength: 10,
  comparator: (a, b) =>
    a.metadata.uid === b.metadata.uid || showKey(a.metadata) === showKey(b.metadata),
})

/** The same items in any order. */
export const shuffled = <A>(items: ReadonlyArray<A>): fc.Arbitrary<ReadonlyArray<A>> =>
  fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length })

type Break = (spec: EdgeRouteSpec) => EdgeRouteSpec

const withPath =
  (path: PathMatch): Break =>
  (spec) => ({ ...spec, matches: [{ path }, ...(spec.matches ?? [])] })

const withMatch =
  (extra: Match): Break =>
  (spec) => ({ ...spec, matches: [...(spec.matches ?? []), extra] })

const withBackends =
  (...all: ReadonlyArray<Backend>): Break =>
  ({ hostnames: hosts, matches: some }) => ({
    backends: all,
    ...(hosts === undefined ? {} : { hostnames: hosts }),
    ...(some === undefined ? {} : { matches: some }),
  })

/** Each makes any valid spec invalid. */
const breaks: ReadonlyArray<Break> = [
  ({ dataPlane = 'edge-envoy' }) => ({ dataPlane }),
  (spec) => ({ ...spec, redirect: { path: '/new' }, respond: { code: 200 } }),
  (spec) => ({ ...spec, dataPlane: 'Not A Name' }),
  (spec) => ({ ...spec, hostnames: [] }),
  (spec) => ({ ...spec, hostnames: ['*'] }),
  (spec) => ({ ...spec, hostnames: ['a.test', 'a.test'] }),
  (spec) => ({ ...spec, hostnames: ['A.test:80'] }),
  (spec) => ({ ...spec, matches: [] }),
  (spec) => ({ ...spec, matches: [{}, { path: { prefix: '/' } }] }),
  withPath({}),
  withPath({ prefix: 'a' }),
  withPath({ exact: '/a?b' }),
  withPath({ exact: '/a', prefix: '/a' }),
  withPath({ regex: '/(' }),
  withPath({ regex: '/a(?=b)' }),
  withMatch({ methods: [] }),
  withMatch({ methods: ['get'] }),
  withMatch({ headers: [{ name: 'host', exact: 'a.test' }] }),
  withMatch({ headers: [{ name: 'x-a' }] }),
  withMatch({ query: [{ name: '', exact: '1' }] }),
  withBackends(),
  withBackends({ weight: 1 }),
  withBackends({ address: { host: '10.0.0.1', port: 0 } }),
  withBackends({ address: { host: '10.0.0.256', port: 80 } }),
  withBackends({ service: { name: 'one', port: 70_000 } }),
  withBackends({ service: { name: 'one', port: 80 }, weight: 0 }),
  withBackends({ service: { name: 'one', port: 80 }, weight: Number.NaN }),
  (spec) => ({ ...withBackends(okBackend)(spec), timeouts: { request: '15' } }),
  (spec) => ({ ...withBackends(okBackend)(spec), retries: { attempts: 0 } }),
  (spec) => ({ ...withBackends(okBackend)(spec), retries: { attempts: 1, on: ['teapot'] } }),
  (spec) => ({ ...withBackends(okBackend)(spec), rewrite: {} }),
  (spec) => ({ ...spec, headers: { request: { set: [{ name: 'x a', value: '' }] } } }),
  (spec) => ({ ...spec, headers: { response: { add: [{ name: 'x-a', value: 'a\r\nb' }] } } }),
]

const okBackend: Backend = { service: { name: 'one', port: 80 } }

/** A route whose spec cannot be served, for one of many reasons. */
export const invalidRoute: fc.Arbitrary<EdgeRoute> = fc
  .tuple(edgeRoute, fc.constantFrom(...breaks))
  .map(([route, damage]) => ({ ...route, spec: damage(route.spec) }))

/** A route as it stands in a file or at an API server. */
export const envelopeOf = ({
  metadata: meta,
  spec,
}: EdgeRoute): Readonly<Record<string, unknown>> => ({
  apiVersion,
  kind,
  metadata: meta,
  spec,
})

/** The object that the text of a valid route parses to. */
export const edgeRouteYamlObject: fc.Arbitrary<Readonly<Record<string, unknown>>> =
  edgeRoute.map(envelopeOf)
