import { describe, expect, test } from 'vitest'
import { audit, type AuditDifference } from '../../src/core/audit.js'
import { defaultContext } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { withValues } from '../../src/core/ordered-map.js'
import * as PM from '../../src/core/persistent-map.js'
import { bytesResource, type Resource } from '../../src/core/resource.js'
import type { Snapshot } from '../../src/core/snapshot.js'
import { snapshotOf, translate, type Translation } from '../../src/core/translate.js'
import { emptyWorld, type World } from '../../src/core/translator.js'
import { clusterType, routeType, type TypeUrl } from '../../src/core/type-url.js'

const { dataPlanes } = defaultContext
const plane = 'edge-envoy'

const route = (name: string): EdgeRoute => ({
  metadata: { namespace: 'test', name, uid: name, generation: 1, finalizers: [] },
  spec: {
    hostnames: [`${name}.test`],
    backends: [{ address: { host: '10.0.0.1', port: 80 } }, { service: { name, port: 80 } }],
  },
})

const worldOf = (count: number): World => ({
  ...emptyWorld,
  routes: Array.from({ length: count }, (_, i) => route(`r${i}`)),
  services: Array.from({ length: count }, (_, i) => ({
    namespace: 'test',
    name: `r${i}`,
    ports: [{ name: '', port: 80 }],
  })),
})

const translationOf = (world: World): Translation =>
  translate(world.routes, { dataPlanes, ...world })

interface Result {
  readonly parts: number
  readonly found: ReadonlyArray<AuditDifference>
}

const resultOf = (world: World, actual: Translation): Result => {
  const running = audit(dataPlanes, world, actual)
  for (let parts = 0; ; parts++) {
    const { done, value } = running.next()
    if (done === true) return { parts, found: value }
  }
}

const withView = (
  { snapshot, ...others }: Translation,
  typeUrl: TypeUrl,
  change: (resources: PM.PersistentMap<Resource>) => PM.PersistentMap<Resource>,
): Translation => {
  const changed = new Map(snapshot.dataPlanes)
  const view = changed.get(plane)
  if (view === undefined) throw new Error('there is no such data plane')
  changed.set(plane, { ...view, [typeUrl]: change(view[typeUrl]) })
  return { ...others, snapshot: { dataPlanes: changed } }
}

const tablesOf = (snapshot: Snapshot): PM.PersistentMap<Resource> =>
  snapshot.dataPlanes.get(plane)?.[routeType]

describe('an audit', () => {
  const world = worldOf(3)
  const actual = translationOf(world)

  test('finds nothing in what is right, of nothing and of much', () => {
    expect(resultOf(emptyWorld, translationOf(emptyWorld)).found).toEqual([])
    expect(resultOf(world, actual).found).toEqual([])
  })

  test('finds a resource that is of another world, one that should not be there, and one that is missing', () => {
    const tables = tablesOf(snapshotOf(world.routes.slice(1), { dataPlanes, ...world }))
    expect(
      resultOf(
        world,
        withView(actual, routeType, () => tables),
      ).found,
    ).toEqual([{ _tag: 'Resource', dataPlane: plane, typeUrl: routeType, name: 'http' }])
    const extra = bytesResource('extra', new Uint8Array())
    expect(
      resultOf(
        world,
        withView(actual, clusterType, (all) => PM.set(all, extra)),
      ).found,
    ).toEqual([{ _tag: 'Resource', dataPlane: plane, typeUrl: clusterType, name: 'extra' }])
    const [first] = PM.entries(actual.snapshot.dataPlanes.get(plane)?.[clusterType])
    const name = first?.name ?? ''
    expect(
      resultOf(
        world,
        withView(actual, clusterType, (all) => PM.remove(all, name)),
      ).found,
    ).toEqual([{ _tag: 'Resource', dataPlane: plane, typeUrl: clusterType, name }])
  })

  test('finds a resource with the right bytes and other owners', () => {
    const stray = withView(actual, clusterType, (all) =>
      PM.fromEntries([...PM.entries(all)].map((each) => ({ ...each, owners: ['stray'] }))),
    )
    expect(resultOf(world, stray).found).toHaveLength(4)
  })

  test('finds a verdict that is another one, one too many and one too few', () => {
    const { verdicts } = actual
    const one = verdicts.get('r1')
    if (one === undefined) throw new Error('there is no such verdict')
    const others = withValues(
      verdicts,
      new Map([
        ['r0', undefined],
        ['r1', { ...one, generation: 2 }],
        ['r9', { ...one, uid: 'r9' }],
      ]),
    )
    expect(resultOf(world, { ...actual, verdicts: others }).found).toEqual(
      ['r0', 'r1', 'r9'].map((uid) => ({ _tag: 'Verdict', uid })),
    )
  })

  test('gives others their turn after some hundred objects', () => {
    const large = worldOf(2_000)
    const { parts, found } = resultOf(large, translationOf(large))
    expect(found).toEqual([])
    expect(parts).toBeGreaterThan(4 * (2_000 / 500))
  })
})
