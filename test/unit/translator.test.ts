import { describe, expect, test } from 'vitest'
import { defaultContext, type EndpointSlice, type Service } from '../../src/core/context.js'
import { defaultDataPlane, type EdgeRoute } from '../../src/core/edge-route.js'
import { entries } from '../../src/core/persistent-map.js'
import { viewOf } from '../../src/core/snapshot.js'
import { wholeForm } from '../../src/core/table-form.js'
import type { Translation } from '../../src/core/translate.js'
import {
  emptyWorld,
  renewableTranslator,
  translator,
  worldChange,
} from '../../src/core/translator.js'
import { listChange } from '../../src/core/translator/list-change.js'
import { routeType } from '../../src/core/type-url.js'
import { contentOf } from '../support/oracle/content.js'

const route: EdgeRoute = {
  metadata: { namespace: 'shop', name: 'a', uid: 'a', generation: 1, finalizers: [] },
  spec: { respond: { code: 204 } },
}
const service: Service = { namespace: 'shop', name: 'web', ports: [] }
const slice: EndpointSlice = {
  namespace: 'shop',
  name: 'x',
  service: 'web',
  ports: [],
  endpoints: [],
}

const whole = { routes: [route], services: [service], endpointSlices: [slice] }

describe('what is to be removed and is not there', () => {
  test.each([
    ['the route shop/a', { ...emptyWorld, routes: [route] }],
    ['the Service shop/web', { ...emptyWorld, services: [service] }],
    ['a slice of the Service shop/web', { ...emptyWorld, endpointSlices: [slice] }],
  ])('is refused by name: %s', (name, world) => {
    const { update } = translator(defaultContext.dataPlanes)
    update(worldChange(emptyWorld, whole))
    const copies = structuredClone(world)
    expect(() => update(worldChange(copies, emptyWorld))).toThrow(`${name} is to be removed`)
    update(worldChange(world, emptyWorld))
    expect(() => update(worldChange(world, emptyWorld))).toThrow(`${name} is to be removed`)
  })

  test('changes nothing, not even with what comes beside it', () => {
    const { update } = translator(defaultContext.dataPlanes)
    const before = update(worldChange(emptyWorld, whole))
    const other = { ...route, metadata: { ...route.metadata, name: 'b', uid: 'b' } }
    const stray = structuredClone(slice)
    const change = {
      routes: { removed: [route], added: [other] },
      services: { removed: [], added: [] },
      endpointSlices: { removed: [stray], added: [] },
    }
    expect(() => update(change)).toThrow('a slice of')
    expect(update(worldChange(whole, whole))).toEqual(before)
  })
})

describe('the form of the tables', () => {
  const forms = new Map([[defaultDataPlane, { _tag: 'Sharded', shards: 3 }] as const])
  const tablesIn = ({ snapshot }: Translation): ReadonlyArray<string> =>
    [...entries(viewOf(snapshot, defaultDataPlane)[routeType])].map(({ name }) => name)
  const nothing = worldChange(emptyWorld, emptyWorld)

  test('is the one that was last asked for, of each data plane that there is', () => {
    const { update } = translator(defaultContext.dataPlanes)
    expect(tablesIn(update(worldChange(emptyWorld, whole)))).toEqual(['http'])
    const sharded = update({ ...nothing, forms: new Map([...forms, ['nowhere', wholeForm]]) })
    expect(tablesIn(sharded)).toEqual(['shard-3-0', 'shard-3-1', 'shard-3-2'])
    expect(sharded.hosts).toEqual(new Map([[defaultDataPlane, 1]]))
    expect(update(nothing).snapshot).toBe(sharded.snapshot)
    expect(update({ ...nothing, forms }).snapshot).toBe(sharded.snapshot)
  })

  test('outlasts a beginning anew', () => {
    const { update, renew } = renewableTranslator(defaultContext.dataPlanes)
    const before = update({ ...worldChange(emptyWorld, whole), forms })
    expect(contentOf(renew(whole).snapshot)).toBe(contentOf(before.snapshot))
    const back = update({ ...nothing, forms: new Map([[defaultDataPlane, wholeForm]]) })
    expect(contentOf(renew(whole).snapshot)).toBe(contentOf(back.snapshot))
    expect(tablesIn(back)).toEqual(['http'])
  })
})

describe('listChange', () => {
  test.each([
    ['aab', 'ab', 'a', ''],
    ['abc', 'cab', '', ''],
    ['abc', 'axc', 'b', 'x'],
    ['', 'ab', '', 'ab'],
    ['abab', 'bb', 'aa', ''],
    ['xaby', 'xbay', '', ''],
  ])('from %j to %j: %j has left, and %j has come', (before, after, removed, added) => {
    const change = listChange(Array.from(before), Array.from(after))
    expect([change.removed.join(''), change.added.join('')]).toEqual([removed, added])
  })
})
