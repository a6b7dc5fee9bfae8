import { afterEach, expect, test } from 'vitest'
import { knowsAllAnnotation } from '../../src/adapters/k8s/lease/record.js'
import { lastWritesMs } from '../../src/host/write-back.js'
import { finalizer } from '../../src/core/stored-object.js'
import { clusterType, listenerType, routeType } from '../../src/core/type-url.js'
import { type CliApiServer, startCliApiServer } from '../support/cli-api-server.js'
import { type Serving, startServing } from '../support/cli-serving.js'
import { eventually } from '../support/envoy.js'
import { rawAdsClient } from '../support/raw-ads-client.js'

const cleanups: Array<() => unknown> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const routesPath = '/apis/net.10xdev.io/v1/namespaces/shop/edgeroutes'
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/edgewright/leases/edgewright'
const rosterPath = '/api/v1/namespaces/edgewright/configmaps/edgewright-roster'

const startApi = async (): Promise<CliApiServer> => {
  const api = await startCliApiServer()
  cleanups.push(api.stop)
  return api
}

const serve = (api: CliApiServer): Serving => {
  const serving = startServing({ kubeconfig: api.kubeconfig, argv: ['--admin', 'off'] })
  cleanups.push(serving.dispose)
  return serving
}

const answering = { spec: { respond: { code: 200 } } }

/** As someone does who takes our finalizer off: an Event tells of each. */
const remove = (api: CliApiServer, name: string): void => {
  const object = api.get(`${routesPath}/${name}`)
  const metadata = { ...object?.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
  api.put(`${routesPath}/${name}`, { ...object, metadata: { ...metadata, finalizers: [] } })
}

const isServed = (api: CliApiServer, name: string): boolean =>
  JSON.stringify(api.get(`${routesPath}/${name}`)?.['status'] ?? '').includes('"Accepted"')

const broken = 'gone before every Envoy has confirmed'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('while its Lease is not held it serves on, and nothing is written to the cluster, not even an Event', async () => {
  const api = await startApi()
  api.put(`${routesPath}/a`, answering)
  const serving = serve(api)
  await eventually(
    () => isServed(api, 'a'),
    (is) => is,
  )
  api.refuse = (_, path) => (path === leasePath ? [503, 'not now'] : undefined)
  await eventually(serving.log, (text) => text.includes('the lease cannot be kept'))
  // From the last renewal on it is held for 10 s.
  await pause(10_500)
  const before = api.asked.length
  remove(api, 'a')
  await eventually(serving.log, (text) => text.includes(broken))
  await pause(1_000)
  const wrote = api.asked.slice(before).filter((each) => !each.startsWith('GET '))
  expect(wrote.filter((each) => !each.includes('/leases'))).toEqual([])
})

test('what was told of until the end is written before the Lease is given back', async () => {
  const api = await startApi()
  const names = Array.from({ length: 20 }, (_, i) => `route-${i}`)
  for (const name of names) api.put(`${routesPath}/${name}`, answering)
  const serving = serve(api)
  for (const name of names)
    await eventually(
      () => isServed(api, name),
      (is) => is,
    )
  for (const name of names) remove(api, name)
  await eventually(serving.log, (text) => text.split(broken).length > names.length)
  expect(await serving.stop()).toBe(0)
  expect(api.below('/apis/events.k8s.io/v1')).toHaveLength(names.length)
  expect(api.asked.filter((each) => !each.startsWith('GET ')).at(-1)).toBe(`PUT ${leasePath}`)
  expect(api.get(leasePath)?.['spec']).toMatchObject({ holderIdentity: '' })
})

test('a write that nobody waits for any more has ended before the Lease is given back', async () => {
  const api = await startApi()
  const serving = serve(api)
  await serving.xdsPort()
  // Longer than the last writes are waited for, and not as long as a request may take.
  const isLate = (method: string, path: string): boolean =>
    method === 'PATCH' && path.startsWith(routesPath)
  let [isSent, hasLanded] = [false, false]
  api.hold = (method, path) => {
    if (!isLate(method, path)) return undefined
    isSent = true
    return pause(lastWritesMs + 1_500).then(() => (hasLanded = true))
  }
  api.put(`${routesPath}/a`, answering)
  await eventually(
    () => isSent,
    (is) => is,
  )
  let landedBefore: boolean | undefined
  api.refuse = (method, path) => {
    if (method === 'PUT' && path === leasePath) landedBefore = hasLanded
    return undefined
  }
  expect(await serving.stop()).toBe(0)
  expect(api.get(leasePath)?.['spec']).toMatchObject({ holderIdentity: '' })
  expect(landedBefore).toBe(true)
})

/** An Envoy that takes all that it is sent. */
const anEnvoy = async (serving: Serving): Promise<void> => {
  const client = rawAdsClient(await serving.xdsPort())
  cleanups.push(client.close)
  const stream = client.delta()
  for (const typeUrl of [clusterType, listenerType, routeType])
    stream.send({ node: { id: 'envoy-1', cluster: 'edge-envoy' }, typeUrl })
  const take = async (): Promise<void> => {
    for (;;) {
      const { typeUrl, nonce } = await stream.next()
      stream.send({ typeUrl, responseNonce: nonce })
    }
  }
  void take().catch(() => undefined)
}

test.each([
  ['is released at once after one that has ended and knew all Envoys', '', 'true', 0, false],
  ['waits after one that has ended and did not know all Envoys', '', '', 0, true],
  ['waits after one that knew all Envoys and has ended a minute ago', '', 'true', 60_000, true],
  ['waits after one that may still take in others', 'another', 'true', 0, true],
])(
  'with every known Envoy back a deletion %s',
  async (_, holderIdentity, knowsAll, agoMs, waits) => {
    const api = await startApi()
    api.put(`${routesPath}/a`, answering)
    const first = serve(api)
    await anEnvoy(first)
    await eventually(
      () => JSON.stringify(api.get(rosterPath)?.['data'] ?? ''),
      (text) => text.includes('envoy-1'),
    )
    await eventually(
      () => api.get(`${routesPath}/a`)?.metadata.finalizers,
      (finalizers) => finalizers?.includes(finalizer) === true,
    )
    await first.stop()
    api.put(leasePath, {
      metadata: { annotations: { [knowsAllAnnotation]: knowsAll } },
      spec: {
        ...{ holderIdentity, leaseDurationSeconds: 1 },
        renewTime: new Date(Date.now() - agoMs).toISOString(),
      },
    })
    await anEnvoy(serve(api))
    const object = api.get(`${routesPath}/a`)
    const metadata = { ...object?.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
    api.put(`${routesPath}/a`, { ...object, metadata })
    const state = () => {
      const now = api.get(`${routesPath}/a`)
      if (now === undefined) return 'gone'
      return JSON.stringify(now['status']).includes('"Starting"') ? 'starting' : 'there'
    }
    // Both are seen within a second or two; what is gone has never been waiting.
    await eventually(state, (is) => is !== 'there', 20_000)
    expect(state()).toBe(waits ? 'starting' : 'gone')
  },
  40_000,
)
