import fc from 'fast-check'
import {
  defaultDataPlane,
  type EdgeRoute,
  type EdgeRouteSpec,
  showKey,
} from '../../core/edge-route.js'
import { backends, headers, redirect, respond, retries, rewrite, timeouts } from './actions.js'
import { hostnames, matches } from './matches.js'
import { allOptional, plain } from './plain.js'

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

const distinct = {
  comparator: (a: EdgeRoute, b: EdgeRoute): boolean =>
    a.metadata.uid === b.metadata.uid || showKey(a.metadata) === showKey(b.metadata),
}

/** Valid routes as a source holds them: each uid once, and each namespace and name once. */
export const edgeRoutes: fc.Arbitrary<ReadonlyArray<EdgeRoute>> = fc.uniqueArray(edgeRoute, {
  ...distinct,
  maxLength: 10,
})

/** The same items in any order. */
export const shuffled = <A>(items: ReadonlyArray<A>): fc.Arbitrary<ReadonlyArray<A>> =>
  fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length })

/** The route as if nobody had asked for its deletion. */
export const living = ({ metadata, spec }: EdgeRoute): EdgeRoute => {
  const { uid, namespace: space, name, generation, finalizers, creationTimestamp } = metadata
  const always = { uid, namespace: space, name, generation, finalizers }
  const age = creationTimestamp === undefined ? {} : { creationTimestamp }
  return { metadata: { ...always, ...age }, spec }
}

/**
 * Two routes or more of which at least one finds that another one has what it asks for: the first two claim the
 * same on the same hosts, the others may. None is terminating.
 */
export const conflictingRoutes: fc.Arbitrary<ReadonlyArray<EdgeRoute>> = fc
  .tuple(fc.uniqueArray(edgeRoute, { ...distinct, minLength: 2, maxLength: 6 }), matches, hostnames)
  .map(([routes, claimed, hosts]) =>
    routes.map((route, index) => {
      const { metadata: meta, spec } = living(route)
      const shared = index < 2 ? { hostnames: hosts, matches: claimed } : {}
      const all = { ...spec, dataPlane: defaultDataPlane, ...shared }
      return { metadata: meta, spec: withoutUselessRewrite(all) }
    }),
  )
