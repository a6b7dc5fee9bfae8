import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import type { Context } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import * as PM from '../../src/core/persistent-map.js'
import { encodeContent } from '../../src/core/resource.js'
import { snapshotOf } from '../../src/core/translate.js'
import { clusterType, endpointType, type TypeUrl } from '../../src/core/type-url.js'
import { edgeRouteSpec } from '../support/arbitraries.js'
import { oracleVerdicts } from '../support/oracle.js'
import { world } from '../support/oracle/world.js'

const runs = { numRuns: 1000 }

/** Every resource of a type in all data planes: name, version and bytes. */
const resourcesOf = (
  typeUrl: TypeUrl,
  routes: ReadonlyArray<EdgeRoute>,
  context: Context,
): ReadonlyArray<string> =>
  [...snapshotOf(routes, context).dataPlanes].flatMap(([plane, view]) =>
    [...PM.entries(view[typeUrl])].map(({ name, version, content }) => {
      const bytes = Buffer.from(encodeContent(content)).toString('hex')
      return [plane, name, version, bytes].join(' ')
    }),
  )

const namesOf = (route: EdgeRoute, context: Context): ReadonlyArray<string> =>
  resourcesOf(clusterType, [route], context).map((one) => one.split(' ').slice(0, 2).join(' '))

test.prop([world], runs)(
  'the clusters and endpoints of a world are those of its serving routes alone, whatever stands beside them',
  ({ routes, broken, context }) => {
    const verdicts = oracleVerdicts({ routes, broken, context })
    const serving = routes.filter(({ metadata }) => {
      const verdict = verdicts.get(metadata.uid)
      return verdict?._tag === 'Accepted' || (verdict?._tag === 'Conflicted' && verdict.kept > 0)
    })
    for (const typeUrl of [clusterType, endpointType]) {
      const together = resourcesOf(typeUrl, routes, context)
      const alone = serving.flatMap((route) => resourcesOf(typeUrl, [route], context))
      expect(together).toStrictEqual([...new Set(alone)].sort(byPlaneAndName))
    }
  },
)

const byPlaneAndName = (a: string, b: string): number => {
  const [[planeOfA = '', nameOfA = ''], [planeOfB = '', nameOfB = '']] = [
    a.split(' '),
    b.split(' '),
  ]
  const [first, second] = planeOfA === planeOfB ? [nameOfA, nameOfB] : [planeOfA, planeOfB]
  return first < second ? -1 : first > second ? 1 : 0
}

/** All that a route may say beside its backends. */
const beside = fc
  .record({ spec: edgeRouteSpec, weights: fc.array(fc.constantFrom(1, 2, 50), { minLength: 3 }) })
  .map(({ spec, weights }) => ({
    weights,
    rest: {
      ...(spec.timeouts && { timeouts: spec.timeouts }),
      ...(spec.retries && { retries: spec.retries }),
      ...(spec.headers && { headers: spec.headers }),
    },
  }))

test.prop([world, beside], runs)(
  'a change of weights, timeouts, retries or headers keeps the names of all clusters',
  ({ routes, broken, context }, { weights, rest }) => {
    for (const route of routes) {
      const { backends, matches, hostnames, dataPlane, rewrite } = route.spec
      if (broken.has(route.metadata.uid) || backends === undefined) continue
      const heavier = backends.map((one, index) => ({ ...one, weight: weights[index] ?? 1 }))
      const changed = {
        ...route,
        spec: {
          backends: heavier,
          ...(matches && { matches }),
          ...(hostnames && { hostnames }),
          ...(dataPlane !== undefined && { dataPlane }),
          ...(rewrite && { rewrite }),
          ...rest,
        },
      }
      expect(namesOf(changed, context)).toStrictEqual(namesOf(route, context))
    }
  },
)

test.prop([world, fc.nat()], runs)(
  'the order of the backends of a route keeps its clusters',
  ({ routes, broken, context }, turn) => {
    for (const route of routes) {
      const { backends } = route.spec
      if (broken.has(route.metadata.uid) || backends === undefined) continue
      const at = turn % backends.length
      const turned = [...backends.slice(at), ...backends.slice(0, at)]
      const changed = { ...route, spec: { ...route.spec, backends: turned } }
      const before = resourcesOf(clusterType, [route], context)
      expect(resourcesOf(clusterType, [changed], context)).toStrictEqual(before)
    }
  },
)
