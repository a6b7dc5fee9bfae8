import fc from 'fast-check'
import type { Request } from '../../adapters/memory/index.js'
import { type Context, defaultContext } from '../../core/context.js'
import {
  defaultDataPlane,
  type EdgeRoute,
  type Match,
  type PathMatch,
  type ValueMatch,
} from '../../core/edge-route.js'
import type { RoutingWorld } from './world.js'

/** A header or a query parameter: a name and its value. */
type Pair = readonly [name: string, value: string]

/** Numbers that a request is made of, once the world is known for which it is meant. */
interface Seed {
  readonly dataPlane: number
  readonly claim: number
  readonly host: number
  readonly path: number
  readonly method: string | undefined
  readonly follows: boolean
  readonly headers: ReadonlyArray<Pair>
  readonly query: ReadonlyArray<Pair>
}

const pairs = (...names: ReadonlyArray<string>): fc.Arbitrary<ReadonlyArray<Pair>> =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom('1', '12', 'x', 'zz')), {
    maxLength: 2,
    selector: ([name]) => name,
  })

const seed: fc.Arbitrary<Seed> = fc.record({
  dataPlane: fc.nat(1),
  claim: fc.nat(99),
  host: fc.nat(99),
  path: fc.nat(99),
  method: fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'DELETE', 'PUT') },
  ),
  follows: fc.oneof(
    { weight: 3, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  headers: pairs('x-a', 'x-b', 'x-c'),
  query: pairs('v', 'V'),
})

const seeds: fc.Arbitrary<ReadonlyArray<Seed>> = fc.array(seed, { minLength: 4, maxLength: 12 })

/** A request before it has the form in which an Envoy gets it. */
export interface RequestParts {
  readonly dataPlane: string
  /** The `Host` header. */
  readonly host: string
  /** Without the query. */
  readonly path: string
  readonly method: string
  /** Names in lower case. */
  readonly headers: ReadonlyArray<Pair>
  readonly query: ReadonlyArray<Pair>
}

/** A request, and the fleet that it is meant for. */
export interface RoutedRequest extends Request {
  readonly dataPlane: string
}

type RoutesOf = Pick<RoutingWorld, 'routes' | 'context'> & Partial<Pick<RoutingWorld, 'broken'>>

/**
 * Requests that are made for these routes: most of them meet what one of them claims, or miss it narrowly, by
 * the host, the path, the method, a header or a query parameter. What a regular expression matches is guessed.
 *
 * ```ts
 * import assert from 'node:assert/strict'
 * import fc from 'fast-check'
 * import { snapshotOf } from 'edgewright'
 * import { edgeRoutes, memoryControlPlane, requestsTo, takerOf } from 'edgewright/testing'
 *
 * const routed = edgeRoutes.chain((routes) => fc.tuple(fc.constant(routes), requestsTo(routes)))
 * fc.assert(
 *   fc.property(routed, ([routes, requests]) => {
 *     const plane = memoryControlPlane()
 *     const envoy = plane.connect({ node: { id: 'e', cluster: 'edge-envoy' }, variant: 'delta' })
 *     plane.publish(snapshotOf(routes))
 *     plane.settle()
 *     const taker = takerOf(routes)
 *     for (const request of requests)
 *       assert.equal(envoy.request(request)._tag === 'NotFound', taker(request) === undefined)
 *   }),
 *   { numRuns: 20 },
 * )
 * ```
 */
export const requestsTo = (
  routes: ReadonlyArray<EdgeRoute>,
  context: Context = defaultContext,
): fc.Arbitrary<ReadonlyArray<RoutedRequest>> =>
  requestPartsTo({ routes, context }).map((all) =>
    all.map((parts, index) => toRequest(parts, context, index)),
  )

/** The same for routes that are generated, too, as parts. */
export const withRequestParts = <World extends RoutesOf>(
  worlds: fc.Arbitrary<World>,
): fc.Arbitrary<readonly [World, ReadonlyArray<RequestParts>]> =>
  fc.tuple(worlds, seeds).map(([world, some]) => [world, some.map((one) => requestFor(world, one))])

const requestPartsTo = (world: RoutesOf): fc.Arbitrary<ReadonlyArray<RequestParts>> =>
  seeds.map((some) => some.map((one) => requestFor(world, one)))

const toRequest = (
  { dataPlane, host, path, method, headers, query }: RequestParts,
  { dataPlanes }: Context,
  index: number,
): RoutedRequest => {
  const listeners = dataPlanes.get(dataPlane)?.listeners ?? []
  const search = query.map(([name, value]) => `${name}=${value}`).join('&')
  return {
    dataPlane,
    listener: listeners[index % listeners.length]?.name ?? '',
    host,
    path: search === '' ? path : `${path}?${search}`,
    method,
    headers,
  }
}

const requestFor = (world: RoutesOf, one: Seed): RequestParts => {
  const claims = world.routes.filter((route) => mayServe(world, route)).flatMap(wishesOf)
  const claim = claims[one.claim % Math.max(1, claims.length)]
  const wanted = one.follows ? claim : undefined
  const planes = [...world.context.dataPlanes.keys()]
  return {
    dataPlane: claim?.dataPlane ?? planes[one.dataPlane % planes.length] ?? '',
    host: pick(hostsNear(claim?.host ?? '*'), one.host),
    path: pick(pathsNear(claim?.path ?? {}), one.path),
    method: one.method ?? claim?.method ?? 'GET',
    headers: merged(one.headers, (wanted?.headers ?? []).map(lowerName)),
    query: merged(one.query, wanted?.query ?? []),
  }
}

const mayServe = ({ broken, context }: RoutesOf, { metadata, spec }: EdgeRoute): boolean =>
  broken?.has(metadata.uid) !== true &&
  metadata.deletionTimestamp === undefined &&
  context.dataPlanes.has(spec.dataPlane ?? defaultDataPlane)

/** One kind of request that a route asks for, as it stands in its spec. */
interface Wish extends Omit<Match, 'methods'> {
  readonly dataPlane: string | undefined
  readonly host: string
  readonly method: string | undefined
}

const wishesOf = ({ spec }: EdgeRoute): ReadonlyArray<Wish> => {
  const { dataPlane, hostnames = ['*'], matches = [{}] } = spec
  return hostnames.flatMap((host) =>
    matches.flatMap(({ methods = [undefined], ...match }) =>
      methods.map((method) => ({ ...match, dataPlane, host: host.toLowerCase(), method })),
    ),
  )
}

const pick = (from: ReadonlyArray<string>, index: number): string => from[index % from.length] ?? ''

const hostsNear = (pattern: string): ReadonlyArray<string> => {
  const name = pattern === '*' ? 'else.example' : pattern.replace('*', 'x')
  const others = [
    name.toUpperCase(),
    `${name}:10000`,
    `y.${name}`,
    'a.test',
    'test',
    'else.example',
  ]
  return [name, name, name, name, ...others]
}

const pathsNear = ({ prefix, exact, regex }: PathMatch): ReadonlyArray<string> => {
  if (regex !== undefined) return ['/a', '/ab', '/ba', '/abc', '/', '/c']
  const path = prefix ?? exact ?? '/'
  const bare = path.endsWith('/') ? path.slice(0, -1) : path
  const below = ['/', '/x', '//x', '/./x', '/y/../x', '//', '/b'].map((end) => bare + end)
  return [path, path, path, path, ...below, `${path}x`, `/z/..${path}`, '/%61', '/']
}

/** The first value of a name counts. */
const merged = (
  given: ReadonlyArray<Pair>,
  wanted: ReadonlyArray<ValueMatch>,
): ReadonlyArray<Pair> => {
  const values = new Map<string, string>()
  for (const one of wanted) values.set(one.name, one.exact ?? one.prefix ?? '1')
  for (const [name, value] of given) if (!values.has(name)) values.set(name, value)
  return [...values]
}

const lowerName = (one: ValueMatch): ValueMatch => ({ ...one, name: one.name.toLowerCase() })
