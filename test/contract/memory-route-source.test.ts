import { expect, test } from 'vitest'
import { memoryRouteSource } from '../../src/adapters/memory/route-source.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { watching } from './route-source.js'

const aRoute = (uid: string, name: string, code = 200): EdgeRoute => ({
  metadata: { namespace: 'shop', name, uid, generation: 1, finalizers: [] },
  spec: { respond: { code } },
})
const uidsOf = (routes: ReadonlyArray<EdgeRoute> | undefined): ReadonlyArray<string> =>
  routes?.map(({ metadata }) => metadata.uid) ?? []

test('a watcher is told within the change', () => {
  const source = memoryRouteSource([aRoute('1', 'a')])
  const watch = watching(source)
  expect(watch.routes()).toEqual({ a: 200 })
  source.apply(aRoute('1', 'a', 404))
  expect(watch.routes()).toEqual({ a: 404 })
  expect(source.current()).toBe(watch.latest())
})

test('a deletion is of one uid, or of all objects of a name', () => {
  const source = memoryRouteSource([aRoute('1', 'a'), aRoute('2', 'a'), aRoute('3', 'b')])
  source.delete('1')
  expect(uidsOf(source.current().routes)).toEqual(['2', '3'])
  source.apply(aRoute('4', 'a'))
  source.delete({ namespace: 'shop', name: 'a' })
  expect(uidsOf(source.current().routes)).toEqual(['3'])
  source.delete('nobody')
  source.delete({ namespace: 'other', name: 'b' })
  expect(uidsOf(source.current().routes)).toEqual(['3'])
})

test('of two routes with one uid the later counts, and the order is that of the uids', () => {
  const source = memoryRouteSource()
  source.set([aRoute('2', 'a', 200), aRoute('1', 'b'), aRoute('2', 'a', 404)])
  expect(source.current().routes).toEqual([aRoute('1', 'b'), aRoute('2', 'a', 404)])
})

test('a watcher that changes the source is told of it afterwards, and so is every other', async () => {
  const source = memoryRouteSource([aRoute('1', 'a')])
  const stop = new AbortController()
  const told: Array<ReadonlyArray<string>> = []
  const ended = source.watch(({ routes }) => {
    told.push(uidsOf(routes))
    if (routes.length < 3) source.apply(aRoute(String(routes.length + 1), 'a'))
    expect(told.at(-1)).toEqual(uidsOf(routes))
  }, stop.signal)()
  const other = watching(source)
  expect(told).toEqual([['1'], ['1', '2'], ['1', '2', '3']])
  expect(uidsOf(other.latest()?.routes)).toEqual(['1', '2', '3'])
  stop.abort()
  await ended
})
