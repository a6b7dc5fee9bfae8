import fc from 'fast-check'
import { isLeft, isRight } from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { checkSpec, compileRoute, decodeEdgeRoute } from '../../src/core/codec.js'
import { matchKey } from '../../src/core/codec/canonical.js'
import {
  edgeRoute,
  edgeRoutes,
  edgeRouteYamlObject,
  envelopeOf,
  invalidRoute,
} from '../support/arbitraries.js'

const runs = { numRuns: 1000 }

test('a valid route decodes from its own envelope to itself, without a warning', () => {
  fc.assert(
    fc.property(edgeRoute, (route) => {
      const decoded = decodeEdgeRoute(JSON.parse(JSON.stringify(envelopeOf(route))))
      expect(decoded).toStrictEqual({ _tag: 'Right', right: { route, warnings: [] } })
    }),
    runs,
  )
})

test('decoding what was decoded changes nothing', () => {
  const sparse = fc.record({ route: edgeRoute, dropped: fc.subarray([...optionalMetadata]) })
  fc.assert(
    fc.property(sparse, ({ route, dropped }) => {
      const metadata = Object.fromEntries(
        Object.entries(route.metadata).filter(([field]) => !dropped.includes(field)),
      )
      const once = decodeEdgeRoute({ ...envelopeOf(route), metadata })
      if (isLeft(once)) throw new Error(JSON.stringify(once.left))
      expect(decodeEdgeRoute(envelopeOf(once.right.route))).toStrictEqual(once)
    }),
    runs,
  )
})

const optionalMetadata = ['namespace', 'uid', 'generation', 'creationTimestamp', 'finalizers']

test('null says the same as a field that is absent', () => {
  const fields = fc.constantFrom('dataPlane', 'hostnames', 'matches', 'timeouts', 'headers')
  fc.assert(
    fc.property(edgeRoute, fields, (route, field) => {
      const without = Object.fromEntries(
        Object.entries(route.spec).filter(([name]) => name !== field),
      )
      const absent = decodeEdgeRoute({ ...envelopeOf(route), spec: without })
      const nulled = decodeEdgeRoute({ ...envelopeOf(route), spec: { ...without, [field]: null } })
      expect(nulled).toStrictEqual(absent)
    }),
    runs,
  )
})

test('nothing that is decoded makes the decoder throw, and each error has a message', () => {
  const options = fc.constantFrom(
    { unknownFields: 'refuse' } as const,
    {
      unknownFields: 'warn',
    } as const,
  )
  const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true })
  fc.assert(
    fc.property(fc.oneof(anything, mutated(anything)), options, (value, option) => {
      const decoded = decodeEdgeRoute(value, option)
      const problems = isLeft(decoded) ? decoded.left : decoded.right.warnings
      for (const { message } of problems) expect(message).toMatch(/\S/)
      if (isLeft(decoded)) expect(decoded.left.length).toBeGreaterThan(0)
    }),
    { numRuns: 3000 },
  )
})

/** A valid object of which one part, at any depth, is something else. */
const mutated = (other: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(edgeRouteYamlObject, fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), other)
    .map(([object, way, replacement]) => replaced(object, way, replacement))

const replaced = (value: unknown, way: ReadonlyArray<number>, by: unknown): unknown => {
  const [turn, ...rest] = way
  if (turn === undefined || typeof value !== 'object' || value === null) return by
  const entries: ReadonlyArray<readonly [string, unknown]> = Object.entries(value)
  const [key, inner] = entries[turn % Math.max(entries.length, 1)] ?? ['extra', undefined]
  const next = replaced(inner, rest, by)
  if (!Array.isArray(value)) return { ...value, [key]: next }
  return entries.map(([index, item]) => (index === key ? next : item))
}

test('an invalid route has an error under spec, and is not compiled', () => {
  fc.assert(
    fc.property(invalidRoute, (route) => {
      const errors = checkSpec(route.spec)
      expect(errors.length).toBeGreaterThan(0)
      for (const { path } of errors) expect(path).toMatch(/^spec\b/)
      expect(compileRoute(route)).toStrictEqual({ _tag: 'Left', left: errors })
      const decoded = decodeEdgeRoute(envelopeOf(route))
      expect(decoded).toStrictEqual({ _tag: 'Left', left: errors })
    }),
    runs,
  )
})

test('a valid route compiles to distinct matches, sorted predicates and a positive weight', () => {
  fc.assert(
    fc.property(edgeRoute, (route) => {
      const compiled = compileRoute(route)
      if (isLeft(compiled)) throw new Error(JSON.stringify(compiled.left))
      const { matches, action, owner } = compiled.right
      expect(new Set(matches.map(matchKey)).size).toBe(matches.length)
      for (const { headers } of matches) {
        const names = headers.map(({ name }) => name)
        expect(names).toEqual([...names].map((name) => name.toLowerCase()).sort())
      }
      expect(owner.createdAtMs === Infinity).toBe(route.metadata.creationTimestamp === undefined)
      if (action._tag === 'Forward')
        expect(action.backends.reduce((sum, { weight }) => sum + weight, 0)).toBeGreaterThan(0)
    }),
    runs,
  )
})

test('the order of header and query predicates, and the case of header names, say nothing', () => {
  fc.assert(
    fc.property(edgeRoute, (route) => {
      const matches = route.spec.matches?.map((match) => ({
        ...match,
        ...(match.headers && {
          headers: match.headers
            .toReversed()
            .map((one) => ({ ...one, name: one.name.toUpperCase() })),
        }),
        ...(match.query && { query: match.query.toReversed() }),
      }))
      const turned = { ...route, spec: { ...route.spec, ...(matches && { matches }) } }
      expect(compileRoute(turned)).toStrictEqual(compileRoute(route))
    }),
    runs,
  )
})

test('a route object is compiled once', () => {
  fc.assert(
    fc.property(edgeRoute, (route) => {
      expect(compileRoute(route)).toBe(compileRoute(route))
      expect(compileRoute({ ...route })).not.toBe(compileRoute(route))
      expect(compileRoute({ ...route })).toStrictEqual(compileRoute(route))
    }),
  )
})

test('routes of one source have each uid once and each name once, and near misses are common', () => {
  const all = fc.sample(edgeRoutes, { numRuns: 300, seed: 7 })
  for (const routes of all) {
    expect(new Set(routes.map(({ metadata }) => metadata.uid)).size).toBe(routes.length)
    const names = routes.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    expect(new Set(names).size).toBe(routes.length)
  }
  const colliding = all.filter((routes) => {
    const claims = routes.flatMap((route) => {
      const compiled = compileRoute(route)
      return isRight(compiled)
        ? compiled.right.hosts.flatMap((host) =>
            compiled.right.matches.map((match) => host + matchKey(match)),
          )
        : []
    })
    return new Set(claims).size < claims.length
  })
  expect(colliding.length).toBeGreaterThan(all.length / 10)
})
