import fc from 'fast-check'
import type { EdgeRoute, PathMatch, ValueMatch } from '../../../src/core/edge-route.js'
import type { World } from '../oracle.js'
import type { Pair, Request } from './answer.js'
import { claimsOf } from './claims.js'

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

/** A world and requests that are made for it: most of them meet a claim, or miss it narrowly. */
export const withRequests = (
  worlds: fc.Arbitrary<World>,
): fc.Arbitrary<readonly [World, ReadonlyArray<Request>]> =>
  fc
    .tuple(worlds, fc.array(seed, { minLength: 4, maxLength: 12 }))
    .map(([world, seeds]) => [world, seeds.map((one) => requestFor(world, one))])

const requestFor = (world: World, one: Seed): Request => {
  const claims = world.routes.filter((route) => mayServe(world, route)).flatMap(claimsOf)
  const claim = claims[one.claim % Math.max(1, claims.length)]
  const wanted = one.follows ? claim : undefined
  const planes = [...world.context.dataPlanes.keys()]
  return {
    dataPlane: claim?.route.spec.dataPlane ?? planes[one.dataPlane % planes.length] ?? '',
    host: pick(hostsNear(claim?.host ?? '*'), one.host),
    path: pick(pathsNear(claim?.path ?? {}), one.path),
    method: one.method ?? claim?.method ?? 'GET',
    headers: merged(one.headers, (wanted?.headers ?? []).map(lowerName)),
    query: merged(one.query, wanted?.query ?? []),
  }
}

const mayServe = ({ broken, context }: World, { metadata, spec }: EdgeRoute): boolean =>
  !broken.has(metadata.uid) &&
  metadata.deletionTimestamp === undefined &&
  context.dataPlanes.has(spec.dataPlane ?? 'edge-envoy')

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
