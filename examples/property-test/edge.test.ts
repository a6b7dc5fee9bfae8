import fc from 'fast-check'
import { refusedRoutes, requestsTo, simulatedHost, takerOf, wrongAnswers } from 'edgewright/testing'
import { snapshotOf } from 'edgewright'
import { expect, test } from 'vitest'
import { routesOf, type Team } from './config.js'
import { sync } from './controller.js'

/** Teams with names and paths of their own, some of them below those of others. */
const teams: fc.Arbitrary<ReadonlyArray<Team>> = fc
  .uniqueArray(fc.constantFrom('/a', '/b', '/ab', '/a/b', '/a/b/c', '/welcome'), { minLength: 1 })
  .chain((paths) =>
    fc.array(fc.nat(2), { minLength: paths.length, maxLength: paths.length }).map((owners) =>
      [0, 1, 2].flatMap((n) => {
        const own = paths.filter((_, index) => owners[index] === n)
        return own.length === 0 ? [] : [{ name: `${n}`, paths: own, port: 8080 + n }]
      }),
    ),
  )

/** `PLANT=shadow npm test` shows how a mistake looks. */
const hostnames = process.env['PLANT'] === 'shadow' ? ['*.shop.test'] : undefined

test('each path that a team asks for reaches that team, on every site', () => {
  fc.assert(
    fc.property(teams, fc.constantFrom('www.shop.test', 'eu.shop.test'), (all, host) => {
      const taker = takerOf(routesOf(all, hostnames))
      for (const { name, paths } of all)
        for (const path of paths) {
          const taken = taker({ listener: 'http', host, path })?.metadata.name
          expect(taken, `${host}${path}`).toBe(`team-${name}`)
        }
    }),
  )
})

test('no route is refused', () => {
  fc.assert(
    fc.property(teams, (all) => {
      expect(refusedRoutes(routesOf(all))).toEqual([])
    }),
  )
})

test('whatever teams come and go, the Envoys follow, and none serves what is gone', async () => {
  const steps = fc.array(teams, { minLength: 1, maxLength: 4 })
  const played = steps.chain((all) =>
    fc.tuple(fc.constant(all), requestsTo(routesOf(all.at(-1) ?? []))),
  )
  await fc.assert(
    fc.asyncProperty(played, async ([all, requests]) => {
      const edge = await simulatedHost()
      const envoys = [await edge.connect(), await edge.connect({ variant: 'sotw' })]
      const objects = {
        list: () => edge.api.list().items,
        apply: edge.apply,
        remove: edge.delete,
      }
      for (const each of all) {
        await sync(routesOf(each), objects)
        await edge.pass(60_000)
      }
      const wanted = snapshotOf(routesOf(all.at(-1) ?? []))
      for (const envoy of envoys) expect(wrongAnswers(envoy.state(), wanted, requests)).toEqual([])
      expect(edge.api.list().items.length).toBe(1 + (all.at(-1)?.length ?? 0))
      await edge.stop()
      expect(edge.violations()).toEqual([])
    }),
    { numRuns: 20 },
  )
})
