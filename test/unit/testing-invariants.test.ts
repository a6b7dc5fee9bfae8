import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import type { EdgeRoute, EdgeRouteSpec } from '../../src/core/edge-route.js'
import { emptySnapshot, type Snapshot, view } from '../../src/core/snapshot.js'
import { finalizer } from '../../src/core/stored-object.js'
import { snapshotOf } from '../../src/core/translate.js'
import { bytesResource } from '../../src/core/resource.js'
import { clusterType, endpointType, routeType } from '../../src/core/type-url.js'
import {
  edgeRoutes,
  type Law,
  memoryApiServer,
  memoryControlPlane,
  type MemoryEnvoy,
  openReferences,
  refusedRoutes,
  requestsTo,
  type ServedObjects,
  servedObjects,
  stillServed,
  translationFaults,
  unknownClusters,
  type Violation,
  virtualClock,
  watchReleases,
  wrongAnswers,
} from '../../src/testing/index.js'

const route = (name: string, spec: EdgeRouteSpec = toBackend('10.0.0.1')): EdgeRoute => ({
  metadata: { namespace: 'test', name, uid: name, generation: 1, finalizers: [] },
  spec: { matches: [{ path: { prefix: `/${name}` } }], ...spec },
})

const toBackend = (host: string): EdgeRouteSpec => ({ backends: [{ address: { host, port: 80 } }] })
const responding = (body: string): EdgeRouteSpec => ({ respond: { code: 200, body } })
const inPlaceOf = (name: string, spec: EdgeRouteSpec): EdgeRouteSpec => ({
  matches: [{ path: { prefix: `/${name}` } }],
  ...spec,
})

const laws = (violations: ReadonlyArray<Violation>): ReadonlyArray<Law> => [
  ...new Set(violations.map(({ law }) => law)),
]

interface Stage {
  readonly envoy: MemoryEnvoy
  readonly objects: ServedObjects
  /** Publishes it, and delivers nothing. */
  readonly publish: (snapshot: Snapshot) => void
  readonly settle: () => void
}

const stage = (refuse?: (text: string) => string | undefined): Stage => {
  const plane = memoryControlPlane()
  const objects = servedObjects()
  const envoy = plane.connect({
    node: { id: 'one', cluster: 'edge-envoy' },
    variant: 'delta',
    refuse: (_type, _name, bytes) => refuse?.(Buffer.from(bytes).toString('latin1')),
  })
  const publish = (snapshot: Snapshot): void => {
    objects.note(snapshot)
    plane.publish(snapshot)
  }
  return { envoy, objects, publish, settle: () => void plane.settle() }
}

const holding = (...routes: ReadonlyArray<EdgeRoute>): Stage => {
  const made = stage()
  made.publish(snapshotOf(routes))
  made.settle()
  return made
}

describe('unknownClusters', () => {
  test('finds nothing on the way to any routes', () => {
    fc.assert(
      fc.property(edgeRoutes, edgeRoutes, (before, after) => {
        const made = stage()
        for (const routes of [before, after]) {
          made.publish(snapshotOf(routes))
          made.settle()
          expect(unknownClusters(made.envoy.state())).toEqual([])
        }
      }),
      { numRuns: 30 },
    )
  })

  test('names the Envoy, the cluster, and the table that names it', () => {
    const state = holding(route('a')).envoy.state()
    const robbed = { ...state, clusters: { ...state.clusters, active: new Map() } }
    const [found, ...others] = unknownClusters(robbed)
    expect(others).toEqual([])
    expect(found?.law).toBe('KnownClusters')
    expect(found?.message).toMatch(/^one lacks ip\/10\.0\.0\.1.*in table http \(New\)$/)
  })
})

describe('wrongAnswers', () => {
  test('finds nothing at an Envoy that has everything', () => {
    const routed = edgeRoutes.chain((routes) => fc.tuple(fc.constant(routes), requestsTo(routes)))
    fc.assert(
      fc.property(routed, ([routes, requests]) => {
        const { envoy } = holding(...routes)
        expect(wrongAnswers(envoy.state(), snapshotOf(routes), requests)).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  test('shows the request, and both answers, where an Envoy is behind', () => {
    const { envoy } = holding(route('a', responding('old')))
    const request = { listener: 'http', host: 'h', path: '/a' }
    const [found] = wrongAnswers(envoy.state(), snapshotOf([route('a', responding('new'))]), [
      request,
      { ...request, path: '/b' },
    ])
    expect(found?.law).toBe('AnswersAsTranslated')
    expect(found?.message).toMatch(/^one answers GET h\/a with .*old.* and not .*new/)
  })
})

describe('translationFaults', () => {
  const routes = [route('a'), route('b', toBackend('10.0.0.2')), route('c', responding('c'))]
  const leaving: EdgeRoute = {
    ...route('d'),
    metadata: { ...route('d').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  }
  let calls = 0
  const planted: ReadonlyArray<readonly [Law, (of: ReadonlyArray<EdgeRoute>) => Snapshot]> = [
    ['OrderFree', (of) => snapshotOf(of.slice(0, 2))],
    ['Repeatable', () => snapshotOf([route('x', responding(String((calls += 1))))])],
    ['NothingTerminating', (of) => snapshotOf(of.map((one) => ({ ...one, ...alive(one) })))],
    ['Closed', (of) => without(snapshotOf(of))],
  ]
  const alive = ({ metadata }: EdgeRoute): Pick<EdgeRoute, 'metadata'> => {
    const { namespace, name, uid, generation, finalizers } = metadata
    return { metadata: { namespace, name, uid, generation, finalizers } }
  }
  const without = ({ dataPlanes }: Snapshot): Snapshot => ({
    dataPlanes: new Map(
      [...dataPlanes].map(([n, one]) => [n, { ...one, [clusterType]: undefined }]),
    ),
  })

  test('finds nothing in our own translation', () => {
    expect(translationFaults(snapshotOf, [...routes, leaving])).toEqual([])
  })

  test.each(planted)('finds what is planted against %s', (law, translate) => {
    expect(laws(translationFaults(translate, [...routes, leaving]))).toContain(law)
  })

  test('sees bytes that change under the same version', () => {
    let byte = 0
    const changing = (): Snapshot => {
      const resource = { ...bytesResource('c', Uint8Array.of((byte += 1))), version: 'same' }
      return { dataPlanes: new Map([['edge-envoy', view({ [endpointType]: [resource] })]]) }
    }
    expect(laws(translationFaults(changing, routes))).toEqual(['Repeatable', 'OrderFree'])
  })
})

test('openReferences finds what is named and not there', () => {
  const resource = bytesResource('table', new Uint8Array(), [{ typeUrl: clusterType, name: 'c' }])
  const dataPlanes = new Map([['edge-envoy', view({ [routeType]: [resource] })]])
  expect(laws(openReferences({ dataPlanes }))).toEqual(['Closed'])
  expect(openReferences(emptySnapshot)).toEqual([])
})

test('refusedRoutes says who has what a route asked for, and nothing of one that is in order', () => {
  const rival = route('b', inPlaceOf('a', responding('b')))
  const [found, ...others] = refusedRoutes([route('a'), rival, route('c')])
  expect(others).toEqual([])
  expect(found?.message).toMatch(/^test\/b: Conflicted: .*test\/a/)
})

describe('servedObjects', () => {
  test('an object is served from the message with its table to the one without it', () => {
    const made = holding(route('a'), route('b'))
    expect(made.objects.at(made.envoy.state())).toEqual(['a', 'b'])
    made.publish(snapshotOf([route('b')]))
    expect(laws(stillServed('a', [made.envoy.state()], made.objects))).toEqual(['NotServed'])
    made.settle()
    expect(made.objects.at(made.envoy.state())).toEqual(['b'])
    expect(stillServed('a', [made.envoy.state()], made.objects)).toEqual([])
  })

  test('a former form of an object is that object', () => {
    const made = holding(route('a', responding('old')))
    made.publish(snapshotOf([route('a', responding('new'))]))
    expect(made.objects.at(made.envoy.state())).toEqual(['a'])
    made.publish(snapshotOf([]))
    expect(made.objects.at(made.envoy.state())).toEqual(['a'])
  })

  test('who takes over the claims of an object is another one', () => {
    const made = holding(route('a', responding('mine')))
    made.publish(snapshotOf([route('b', inPlaceOf('a', responding('mine')))]))
    expect(made.objects.at(made.envoy.state())).toEqual(['a'])
    made.settle()
    expect(made.objects.at(made.envoy.state())).toEqual(['b'])
  })

  test('an object that is made again in the same form is the new one at once: nobody can tell', () => {
    const made = holding(route('a'))
    const { metadata, spec } = route('a')
    made.publish(snapshotOf([{ metadata: { ...metadata, uid: 'again' }, spec }]))
    expect(made.objects.at(made.envoy.state())).toEqual(['again'])
  })

  test('a form that a later object has had is never again that of an earlier one', () => {
    const { metadata, spec } = route('a')
    const again = { metadata: { ...metadata, uid: 'again' }, spec }
    const made = holding(route('a'))
    for (const routes of [[], [again]]) {
      made.publish(snapshotOf(routes))
      made.settle()
    }
    made.publish(snapshotOf([]))
    expect(made.objects.at(made.envoy.state())).toEqual(['again'])
  })

  test('a claim that is kept without its route is that of who made it, also once that is deleted', () => {
    const made = stage((text) => (text.includes('rude') ? 'not such words' : undefined))
    made.publish(snapshotOf([route('a', responding('rude'))]))
    made.settle()
    const request = { listener: 'http', host: 'h', path: '/a' }
    expect(made.envoy.request(request)).toMatchObject({ _tag: 'Responded', code: 503 })
    expect(made.objects.at(made.envoy.state())).toEqual(['a'])
    made.publish(snapshotOf([]))
    expect(made.objects.at(made.envoy.state())).toEqual(['a'])
    made.settle()
    expect(made.objects.at(made.envoy.state())).toEqual([])
  })
})

describe('watchReleases', () => {
  const key = { namespace: 'test', name: 'a' }
  const release = { op: 'remove', path: '/metadata/finalizers' } as const

  const watched = (
    serving: ReadonlyArray<string>,
    isDeleted: boolean,
  ): ReadonlyArray<Violation> => {
    const api = memoryApiServer({ clock: virtualClock() })
    const watch = watchReleases(api, () => serving)
    const metadata = { ...key, finalizers: [finalizer] }
    const made = api.write({ _tag: 'Create', object: { metadata, spec: route('a').spec } })
    if (isDeleted) api.write({ _tag: 'Delete', key })
    expect(watch.violations()).toEqual([])
    expect(E.isRight(api.write({ _tag: 'Patch', key, patch: [release] }))).toBe(true)
    const uid = E.isRight(made) ? made.right.metadata.uid : ''
    expect([...watch.guarded, ...watch.released]).toEqual([uid, uid])
    watch.stop()
    return watch.violations()
  }

  test('a release is in order when the object is deleted, and nobody serves it', () => {
    expect(watched([], true)).toEqual([])
  })

  test('it is not while an Envoy serves it, or while it is there to stay', () => {
    expect(laws(watched(['one'], true))).toEqual(['GoneBeforeReleased'])
    expect(laws(watched([], false))).toEqual(['OnlyTheDeleted'])
  })
})
