import { onTestFinished, expect, test } from 'vitest'
import { eventually } from '../support/envoy.js'
import { clusterRoutes } from './support/cluster-routes.js'
import { ownNamespace } from './support/namespace.js'
import { startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'
import { type RouteEvent, watchRoutes } from './support/watch-routes.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'watched')
const routes = clusterRoutes(cluster, namespace)
const answering = (code: number): unknown => ({ respond: { code } })

const shown = ({ type, object }: RouteEvent): string => `${type} ${object.metadata.name}`

test('a watch that was lost tells what has gone, come and changed in between, and goes on', async () => {
  const proxy = await startProxy(cluster, 1)
  onTestFinished(proxy.stop)
  for (const name of ['goes', 'is-made-anew', 'changes', 'stays'])
    await routes.create(name, answering(200))
  const watch = await watchRoutes({ ...cluster, url: proxy.url }, namespace)
  onTestFinished(watch.stop)
  const first = watch.events.find(({ object }) => object.metadata.name === 'is-made-anew')
  await eventually(
    () => proxy.calls().some(({ verb, status }) => verb === 'watch' && status === 200),
    (isWatched) => isWatched,
  )

  let letGo: () => void = () => undefined
  const held = new Promise<void>((resolve) => (letGo = resolve))
  proxy.setFaults({ before: ({ verb }) => (verb === 'list' ? held : undefined) })
  const before = watch.events.length
  expect(before).toBe(4)
  expect(proxy.cutWatches()).toBe(1)
  await routes.remove('goes')
  await routes.remove('is-made-anew')
  await routes.create('is-made-anew', answering(200))
  await routes.put('changes', answering(204))
  await routes.create('comes', answering(200))
  await routes.create('is-never-seen', answering(200))
  await routes.remove('is-never-seen')
  letGo()
  await watch.until(({ object }) => object.metadata.name === 'comes')
  const inBetween = watch.events.slice(before)
  expect(inBetween.map(shown).sort()).toEqual([
    'ADDED comes',
    'ADDED is-made-anew',
    'DELETED goes',
    'DELETED is-made-anew',
    'MODIFIED changes',
  ])
  const [gone, made] = inBetween.filter(({ object }) => object.metadata.name === 'is-made-anew')
  expect(gone?.object.metadata.uid).toBe(first?.object.metadata.uid)
  expect(made?.object.metadata.uid).not.toBe(first?.object.metadata.uid)

  await routes.remove('stays')
  const last = await watch.until(({ object, type }) => {
    return type === 'DELETED' && object.metadata.name === 'stays'
  })
  expect(watch.events.at(-1)).toBe(last)
})
