import { describe, expect, test } from 'vitest'
import { defaultContext, type EndpointSlice, type Service } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { emptyWorld, translator, worldChange } from '../../src/core/translator.js'
import { listChange } from '../../src/core/translator/list-change.js'

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
