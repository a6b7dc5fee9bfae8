import { test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { entries } from '../../src/core/persistent-map.js'
import { reuse, versionOf, viewOf } from '../../src/core/snapshot.js'
import { snapshotOf } from '../../src/core/translate.js'
import { clusterType, listenerType, routeType, typeUrls } from '../../src/core/type-url.js'
import { edgeRoutes } from '../support/arbitraries.js'

const plane = 'edge-envoy'
const copied = (routes: ReadonlyArray<EdgeRoute>): ReadonlyArray<EdgeRoute> =>
  structuredClone<ReadonlyArray<EdgeRoute>>(routes)

const toIp = (name: string, port: number, uid = name): EdgeRoute => ({
  metadata: { namespace: 'a', name, uid, generation: 1, finalizers: [] },
  spec: {
    matches: [{ path: { prefix: `/${name}` } }],
    backends: [{ address: { host: '10.0.0.1', port } }],
  },
})

describe('a snapshot that is made of the one before', () => {
  test.prop([edgeRoutes], { numRuns: 1_000 })('is that one if nothing has changed', (routes) => {
    const before = snapshotOf(routes)
    expect(reuse(before, snapshotOf(copied(routes)))).toBe(before)
  })

  test.prop([edgeRoutes, edgeRoutes], { numRuns: 1_000 })(
    'has the content of the next, and is made of the previous where it can be',
    (some, others) => {
      const before = viewOf(snapshotOf(some), plane)
      const next = viewOf(snapshotOf(others), plane)
      const reused = viewOf(reuse(snapshotOf(some), snapshotOf(others)), plane)
      for (const typeUrl of typeUrls) {
        expect(versionOf(reused[typeUrl])).toBe(versionOf(next[typeUrl]))
        expect([...entries(reused[typeUrl])].map(({ owners }) => owners)).toEqual(
          [...entries(next[typeUrl])].map(({ owners }) => owners),
        )
      }
      expect(versionOf(before[listenerType])).toBe(versionOf(reused[listenerType]))
    },
  )

  test('shares the resources that a change does not touch', () => {
    const before = snapshotOf([toIp('one', 1), toIp('two', 2)])
    const after = reuse(before, snapshotOf([toIp('one', 1), toIp('two', 3)]))
    expect(viewOf(after, plane)[listenerType]).toBe(viewOf(before, plane)[listenerType])
    const [cluster] = entries(viewOf(before, plane)[clusterType])
    expect([...entries(viewOf(after, plane)[clusterType])]).toContain(cluster)
  })

  test('follows an object that was made again under its old name: other owners are another snapshot', () => {
    const before = snapshotOf([toIp('one', 1, 'old')])
    const after = reuse(before, snapshotOf([toIp('one', 1, 'new')]))
    expect(after).not.toBe(before)
    for (const typeUrl of [clusterType, routeType])
      for (const { owners } of entries(viewOf(after, plane)[typeUrl]))
        expect(owners).toEqual(['new'])
    const [table] = entries(viewOf(after, plane)[routeType])
    const hosts = table?.content._tag === 'Table' ? table.content.table.virtualHosts : []
    expect(hosts.flatMap(({ fragments }) => fragments.map(({ owner }) => owner))).toEqual(['new'])
    expect(versionOf(viewOf(after, plane)[routeType])).toBe(
      versionOf(viewOf(before, plane)[routeType]),
    )
  })
})
