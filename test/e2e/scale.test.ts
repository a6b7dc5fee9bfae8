import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { type Door, startLoad } from '../support/deletion/load.js'
import { answers } from '../support/traffic.js'
import { freshAddress } from './support/addresses.js'
import { type Edge, startEdge } from './support/edge.js'
import { prefixRoute, serviceManifest, sliceManifest } from './support/edge-objects.js'
import { theCluster } from './support/the-cluster.js'

const variants = ['sotw', 'delta'] as const
const most = 100

let backends: RecordingBackends
let edge: Edge
let doors: ReadonlyArray<Door>
const addresses = Array.from({ length: most }, freshAddress)

beforeAll(async () => {
  backends = await startRecordingBackends()
  edge = await startEdge(theCluster(), { name: 'scale' })
  await edge.apply(serviceManifest(edge.namespace, 'many'), prefixRoute(edge.namespace, 'many'))
  const envoys = await Promise.all(variants.map((variant) => edge.startEnvoy({ variant })))
  doors = await Promise.all(envoys.map(async ({ id, port }) => ({ name: id, port: await port() })))
})

afterAll(async () => {
  await edge.stop()
  await backends.stop()
})

/** So many of them, over two slices. */
const scaleTo = async (count: number): Promise<void> => {
  const endpoints = addresses.slice(0, count).map((address) => ({ address }))
  const half = count >> 1
  const { namespace } = edge
  await edge.apply(
    sliceManifest(namespace, 'many', backends.port, endpoints.slice(0, half), 'a'),
    sliceManifest(namespace, 'many', backends.port, endpoints.slice(half), 'b'),
  )
}

const everywhere = async (answer: string): Promise<void> => {
  for (const { port } of doors) await answers(port, '/many', answer)
}

/** How many backends have been reached since. */
const reachedSince = (atMs: number): number =>
  new Set(backends.arrivals.filter((each) => each.atMs > atMs).map(({ address }) => address)).size

test('from none to 100 endpoints and back no request fails as long as one is ready', async () => {
  await everywhere('503')
  await scaleTo(1)
  await everywhere(`200 ${addresses[0]}`)

  const load = startLoad({ doors, paths: ['/many'], kept: 4, pauseMs: 5 })
  for (const count of [2, 5, 20, 50, most]) {
    await scaleTo(count)
    await sleep(300)
  }
  const fullMs = performance.now()
  await sleep(2_000)
  expect(reachedSince(fullMs)).toBeGreaterThan(most * 0.9)
  for (const count of [60, 20, 5, 2, 1]) {
    await scaleTo(count)
    await sleep(300)
  }
  await sleep(500)
  const lastMs = performance.now()
  await sleep(500)
  const shots = await load.stop()
  expect(shots.filter(({ answer }) => !answer.startsWith('200 '))).toEqual([])
  expect(shots.length).toBeGreaterThan(1_000)
  expect(reachedSince(lastMs)).toBe(1)

  await scaleTo(0)
  await everywhere('503')
})

test('an endpoint that ends serves as long as no other one is ready', async () => {
  const { namespace } = edge
  const [first = '', second = ''] = addresses
  const ending = { address: first, ready: false, serving: true, terminating: true }
  const slice = (...endpoints: Parameters<typeof sliceManifest>[3]): Promise<void> =>
    edge.apply(
      sliceManifest(namespace, 'many', backends.port, endpoints, 'a'),
      sliceManifest(namespace, 'many', backends.port, [], 'b'),
    )
  await slice(ending)
  await everywhere(`200 ${first}`)
  await slice(ending, { address: second })
  await everywhere(`200 ${second}`)
  await slice({ ...ending, serving: false })
  await everywhere('503')
})
