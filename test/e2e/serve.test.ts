import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import type { DeletionEnvoy } from '../support/deletion/wired-envoy.js'
import { answers, ask } from '../support/traffic.js'
import { freshAddress } from './support/addresses.js'
import { type Edge, startEdge } from './support/edge.js'
import { conditionOf, isProgrammed, prefixRoute, serviceWith } from './support/edge-objects.js'
import type { RouteEvent, RouteWatch } from './support/watch-routes.js'
import { theCluster } from './support/the-cluster.js'

/** What is said of a route may come so much later than it is true, in milliseconds. */
const promptMs = 1_000
/** For how long nothing may be said that is not true yet, in milliseconds. */
const watchedMs = 2_000

let backends: RecordingBackends
let edge: Edge
let envoys: ReadonlyArray<DeletionEnvoy>
let watch: RouteWatch

beforeAll(async () => {
  backends = await startRecordingBackends()
  edge = await startEdge(theCluster(), { name: 'serve' })
  watch = await edge.watch()
  envoys = await Promise.all(
    (['sotw', 'delta'] as const).map((variant) => edge.startEnvoy({ variant, until: 'admin' })),
  )
})

afterAll(async () => {
  await edge.stop()
  await backends.stop()
})

const applyRoute = (name: string): Promise<string> => edge.applyServed(name, backends)

const kubectl = (...args: ReadonlyArray<string>): Promise<string> =>
  edge.cluster.kubectl(['-n', edge.namespace, ...args])

test('two routes that are applied with kubectl answer from their own backends', async () => {
  const [one, two] = [await applyRoute('one'), await applyRoute('two')]
  await watch.until(({ object }) => object.metadata.name === 'two' && isProgrammed(object))
  await watch.until(({ object }) => object.metadata.name === 'one' && isProgrammed(object))
  for (const envoy of envoys) {
    const port = await envoy.port()
    expect(await ask(port, '/one/x')).toBe(`200 ${one}`)
    expect(await ask(port, '/two')).toBe(`200 ${two}`)
    expect(await ask(port, '/three')).toBe('404')
  }
  const table = await kubectl('get', 'edgeroutes')
  const [head, ...rows] = table.trimEnd().split('\n')
  expect(head?.split(/\s{2,}/)).toEqual([
    'NAME',
    'HOSTNAMES',
    'PATHS',
    'ACCEPTED',
    'RESOLVED',
    'PROGRAMMED',
    'AGE',
    'DELETING',
  ])
  for (const [index, name] of ['one', 'two'].entries())
    expect(rows[index]).toMatch(new RegExp(`^${name} +.*True +True +\\d`))
  expect(await kubectl('get', 'er', 'one', '-o', 'name')).toBe('edgeroute.net.10xdev.io/one\n')
})

test('a route is programmed once every Envoy has acknowledged it, and says so within a second', async () => {
  const [slow, quick] = envoys
  const ports = [await slow?.port(), await quick?.port()] as [number, number]
  slow?.pause()
  try {
    const address = await applyRoute('late')
    await answers(ports[1], '/late', `200 ${address}`)
    await sleep(watchedMs)
    expect(isProgrammed(await edge.get('late'))).toBe(false)
    expect(await kubectl('get', 'er', 'late', '--no-headers')).toMatch(/True +False/)
    slow?.resume()
    await answers(ports[0], '/late', `200 ${address}`)
    const servedMs = performance.now()
    const said = await watch.until(
      ({ object }) => object.metadata.name === 'late' && isProgrammed(object),
    )
    expect(said.atMs - servedMs).toBeLessThan(promptMs)
  } finally {
    slow?.resume()
  }
})

test('a route that names no Service is accepted, and says that it leads nowhere', async () => {
  await edge.apply(prefixRoute(edge.namespace, 'lost', 'nobody'))
  const said = await watch.until(
    ({ object }) => object.metadata.name === 'lost' && isProgrammed(object),
  )
  expect(said.object.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'ResolvedRefs', status: 'False', reason: 'ServiceNotFound' }),
  )
  for (const envoy of envoys) expect(await ask(await envoy.port(), '/lost')).toBe('503')
  const address = freshAddress()
  await edge.apply(...serviceWith(edge.namespace, 'nobody', backends.port, [address]))
  for (const envoy of envoys) await answers(await envoy.port(), '/lost', `200 ${address}`)
})

test('an address is not served where the data plane does not allow it', async () => {
  await edge.apply({
    ...prefixRoute(edge.namespace, 'inside'),
    spec: {
      matches: [{ path: { prefix: '/inside' } }],
      backends: [{ address: { host: '10.77.0.1', port: 80 } }],
    },
  })
  const said = await watch.until(
    ({ object }) => object.metadata.name === 'inside' && isProgrammed(object),
  )
  expect(said.object.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'ResolvedRefs', status: 'False', reason: 'AddressNotAllowed' }),
  )
  for (const envoy of envoys) expect(await ask(await envoy.port(), '/inside')).toBe('503')
})

test('of two fleets with a control plane each, none touches what the other serves', async () => {
  const args = ['--data-plane', 'internal']
  const other = await startEdge(theCluster(), { name: 'fleets', beside: edge, args })
  try {
    const ours = prefixRoute(edge.namespace, 'ours', 'nobody')
    const theirs = prefixRoute(edge.namespace, 'theirs', 'nobody')
    const spec = { ...(theirs.spec as object), dataPlane: 'internal' }
    await edge.apply(ours, { ...theirs, spec })
    const isSaid =
      (name: string, reason: string) =>
      ({ object }: RouteEvent) =>
        object.metadata.name === name && conditionOf(object, 'Programmed')?.reason === reason
    await watch.until(isSaid('ours', 'Programmed'))
    await watch.until(isSaid('theirs', 'NoEnvoy'))
    const before = watch.events.length
    await sleep(watchedMs)
    // Two that write to one status go on for ever.
    expect(watch.events.slice(before)).toEqual([])
    expect(other.program.log()).not.toContain('/ours')
    expect(edge.program.log()).not.toContain('/theirs')
  } finally {
    await other.stop()
  }
})
