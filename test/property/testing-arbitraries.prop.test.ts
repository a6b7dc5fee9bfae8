import { test } from '@fast-check/vitest'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type EdgeRoute, showKey } from '../../src/core/edge-route.js'
import { translate } from '../../src/core/translate.js'
import {
  conflictingRoutes,
  edgeRoutes,
  requestsTo,
  routeChanges,
  routesAfter,
  takerOf,
} from '../../src/testing/index.js'
import { oracleAnswers, type World } from '../support/oracle.js'
import { queryOf, type Request } from '../support/oracle/answer.js'
import { withRequests } from '../support/oracle/requests.js'
import { world } from '../support/oracle/world.js'

test.prop([conflictingRoutes])('of conflicting routes at least one is told so', (routes) => {
  const verdicts = [...translate(routes).verdicts.values()]
  expect(verdicts.map(({ accepted }) => accepted._tag)).toContain('Conflicted')
  expect(verdicts.map(({ accepted }) => accepted._tag)).not.toContain('Invalid')
})

test.prop([routeChanges])(
  'each change changes what is there, and no uid comes twice',
  (changes) => {
    const gone = new Set<string>()
    changes.forEach((change, index) => {
      const before = routesAfter(changes.slice(0, index))
      const after = routesAfter(changes.slice(0, index + 1))
      expect(after).not.toEqual(before)
      expect(routesAfter([change], before)).toEqual(after)
      const uids = after.map(({ metadata }) => metadata.uid)
      expect(new Set(uids).size).toBe(uids.length)
      expect(new Set(after.map(({ metadata }) => showKey(metadata))).size).toBe(after.length)
      for (const { metadata } of before) if (!uids.includes(metadata.uid)) gone.add(metadata.uid)
      expect(uids.filter((uid) => gone.has(uid))).toEqual([])
    })
  },
)

test.prop([routeChanges])('a change of a route is of a later generation', (changes) => {
  changes.forEach((change, index) => {
    if (change._tag === 'Delete') return
    const { uid, generation } = change.route.metadata
    const known = routesAfter(changes.slice(0, index)).find(({ metadata }) => metadata.uid === uid)
    expect(generation).toBe((known?.metadata.generation ?? 0) + 1)
  })
})

test('every kind of change is common', () => {
  const all = fc.sample(routeChanges, { numRuns: 200, seed: 1 }).flat()
  const applied = all.flatMap((change) => (change._tag === 'Apply' ? [change.route.metadata] : []))
  expect(all.length - applied.length).toBeGreaterThan(100)
  expect(applied.filter(({ generation }) => generation > 1).length).toBeGreaterThan(100)
})

test('of the requests to routes most are taken by one of them, and some are not', () => {
  const routed = edgeRoutes.chain((routes) => fc.tuple(fc.constant(routes), requestsTo(routes)))
  const taken = fc.sample(routed, { numRuns: 200, seed: 1 }).flatMap(([routes, requests]) => {
    const taker = takerOf(routes)
    return requests.map((request) => taker(request) !== undefined)
  })
  const share = taken.filter((one) => one).length / taken.length
  expect(share).toBeGreaterThan(0.5)
  expect(share).toBeLessThan(0.95)
})

/** Every route says whose it is. */
const saying = ({ metadata, spec }: EdgeRoute): EdgeRoute => {
  const { backends, redirect, timeouts, retries, rewrite, headers, ...claims } = spec
  const dropped = [backends, redirect, timeouts, retries, rewrite, headers]
  expect(dropped).toHaveLength(6)
  return { metadata, spec: { ...claims, respond: { code: 200, body: metadata.uid } } }
}

const expectedTakers = (one: World, requests: ReadonlyArray<Request>): ReadonlyArray<string> =>
  oracleAnswers(
    { ...one, routes: one.routes.map((route) => (isBroken(one, route) ? route : saying(route))) },
    requests,
  ).map((answer) => (answer._tag === 'Responded' ? answer.body : answer._tag))

const isBroken = ({ broken }: World, { metadata }: EdgeRoute): boolean => broken.has(metadata.uid)

test.prop([withRequests(world)], { numRuns: 500 })(
  'the taker of a request is the route that its author would name',
  ([one, requests]) => {
    const taker = takerOf(one.routes, one.context)
    const listenerOf = ({ dataPlane }: Request): string | undefined =>
      one.context.dataPlanes.get(dataPlane)?.listeners[0]?.name
    const heard = requests.filter((request) => listenerOf(request) !== undefined)
    const takers = heard.map((request) => {
      const { path, headers, ...rest } = request
      const listener = listenerOf(request) ?? ''
      const asked = { ...rest, listener, headers, path: path + queryOf(request) }
      return taker(asked)?.metadata.uid ?? 'NotFound'
    })
    expect(takers).toEqual(expectedTakers(one, heard))
  },
)
