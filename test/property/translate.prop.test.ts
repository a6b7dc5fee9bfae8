import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import type { Context } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { snapshotOf, translate } from '../../src/core/translate.js'
import type { Verdict } from '../../src/core/verdict.js'
import { edgeRoute, invalidRoute, shuffled } from '../support/arbitraries.js'
import { contentOf, verdictText } from '../support/oracle/content.js'
import { living, world } from '../support/oracle/world.js'

const runs = { numRuns: 1000 }

/** Objects of their own, so that nothing can be remembered by reference. */
const copied = <A>(value: A): A => structuredClone(value)

test.prop([world], runs)(
  'the same input gives the same bytes, versions and verdicts, and is not changed',
  (one) => {
    const copy = copied(one)
    const first = translate(one.routes, one.context)
    const [content, verdicts] = [contentOf(first.snapshot), verdictText(first)]
    const again = translate(one.routes, one.context)
    const ofCopy = translate(copy.routes, copy.context)
    expect(contentOf(again.snapshot)).toBe(content)
    expect(contentOf(ofCopy.snapshot)).toBe(content)
    expect([verdictText(again), verdictText(ofCopy)]).toStrictEqual([verdicts, verdicts])
    expect(contentOf(snapshotOf(one.routes, one.context))).toBe(content)
    expect(one).toStrictEqual(copy)
  },
)

const reordered = (context: Context): fc.Arbitrary<Context> =>
  fc.record({
    dataPlanes: shuffled([...context.dataPlanes]).map((all) => new Map(all)),
    services: shuffled(context.services),
    endpointSlices: shuffled(context.endpointSlices),
  })

const withReordered = world.chain((one) =>
  fc.tuple(fc.constant(one), shuffled(one.routes), reordered(one.context)),
)

test.prop([withReordered], runs)(
  'the order of routes, services, slices and data planes does not matter',
  ([one, routes, context]) => {
    const expected = translate(one.routes, one.context)
    const actual = translate(routes, context)
    expect(contentOf(actual.snapshot)).toBe(contentOf(expected.snapshot))
    expect(verdictText(actual)).toBe(verdictText(expected))
  },
)

test.prop([world], runs)('every uid gets exactly one verdict, which names its object', (one) => {
  const { verdicts } = translate(one.routes, one.context)
  const told = [...verdicts].map(([as, { uid, key, generation }]) => ({
    as,
    uid,
    generation,
    ...key,
  }))
  const expected = one.routes
    .map(({ metadata: { uid, generation, namespace, name } }) => ({
      as: uid,
      uid,
      generation,
      namespace,
      name,
    }))
    .sort((a, b) => (a.uid < b.uid ? -1 : 1))
  expect(told).toStrictEqual(expected)
})

describe('a route that takes no part changes nothing for the others', () => {
  const outsider = 'uid-outsider'
  const named = (route: EdgeRoute): EdgeRoute => ({
    ...route,
    metadata: { ...route.metadata, uid: outsider, creationTimestamp: '2000-01-01T00:00:00Z' },
  })

  /** The world without the outsider and with it, at any place. */
  const joined = (routes: ReadonlyArray<EdgeRoute>, route: EdgeRoute, place: number) => {
    const at = place % (routes.length + 1)
    return [...routes.slice(0, at), named(route), ...routes.slice(at)]
  }

  const others = (verdicts: ReadonlyMap<string, Verdict>): string =>
    JSON.stringify([...verdicts].filter(([uid]) => uid !== outsider))

  const changesNothing = (
    routes: ReadonlyArray<EdgeRoute>,
    context: Context,
    route: EdgeRoute,
    place: number,
  ): Verdict | undefined => {
    const without = translate(routes, context)
    const withIt = translate(joined(routes, route, place), context)
    expect(contentOf(withIt.snapshot)).toBe(contentOf(without.snapshot))
    expect(others(withIt.verdicts)).toBe(others(without.verdicts))
    return withIt.verdicts.get(outsider)
  }

  test.prop([world, invalidRoute, fc.nat()], runs)('an invalid one', (one, invalid, place) => {
    const verdict = changesNothing(one.routes, one.context, living(invalid), place)
    expect(verdict?.accepted._tag).toBe('Invalid')
    expect(verdict?.unresolved).toStrictEqual([])
  })

  test.prop([world, edgeRoute, fc.nat()], runs)('a terminating one', (one, route, place) => {
    const metadata = { ...route.metadata, deletionTimestamp: '2026-03-01T00:00:00Z' }
    const verdict = changesNothing(one.routes, one.context, { ...route, metadata }, place)
    expect(verdict?.accepted).toStrictEqual({ _tag: 'Terminating' })
    expect(verdict?.unresolved).toStrictEqual([])
  })

  test.prop([world, edgeRoute, fc.nat()], runs)(
    'one of a data plane that is not there',
    (one, { metadata, spec }, place) => {
      const route = living({ metadata, spec: { ...spec, dataPlane: 'nowhere' } })
      const verdict = changesNothing(one.routes, one.context, route, place)
      const known = [...one.context.dataPlanes.keys()].sort()
      const accepted = { _tag: 'UnknownDataPlane', dataPlane: 'nowhere', known }
      expect(verdict?.accepted).toStrictEqual(accepted)
      expect(verdict?.unresolved).toStrictEqual([])
    },
  )

  test.prop([world], runs)('all terminating ones at once', (one) => {
    const living = one.routes.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    const all = translate(one.routes, one.context).snapshot
    expect(contentOf(all)).toBe(contentOf(snapshotOf(living, one.context)))
  })
})

test.prop([world, edgeRoute, fc.integer({ min: 1, max: 3 })], runs)(
  'of several objects with one uid the latest generation counts',
  (one, { metadata, spec }, generation) => {
    const older = one.routes.map((route) => ({
      spec,
      metadata: {
        ...metadata,
        uid: route.metadata.uid,
        generation: route.metadata.generation - generation,
      },
    }))
    const expected = translate(one.routes, one.context)
    const actual = translate([...older, ...one.routes], one.context)
    expect(contentOf(actual.snapshot)).toBe(contentOf(expected.snapshot))
    expect(verdictText(actual)).toBe(verdictText(expected))
  },
)
