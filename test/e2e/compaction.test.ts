import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kubernetesRoutes } from '../../src/adapters/k8s/index.js'
import type { SourceState } from '../../src/ports/route-source.js'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { eventually } from '../support/envoy.js'
import { startChurn } from './support/churn.js'
import { connectTo } from './support/cluster-client.js'
import { startTestEdge } from './support/edge.js'
import { prefixRoute } from './support/edge-objects.js'
import { nameOf } from './support/namespace.js'
import { startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const seed = Date.now() % 2 ** 31

let backends: RecordingBackends

beforeAll(async () => {
  process.stderr.write(`compaction with seed ${seed}\n`)
  backends = await startRecordingBackends()
})

afterAll(() => backends.stop())

/** Nothing that a client saw before is remembered by the API server afterwards. */
const forgetThePast = async (): Promise<void> => {
  await cluster.compactEtcd()
  await cluster.stopApiServer('SIGTERM')
  await cluster.startApiServer()
}

test('a watch that was cut before a compaction is told in its stream, and nothing is lost', async () => {
  const proxy = await startProxy(cluster, seed)
  try {
    const edge = await startTestEdge(cluster, { name: 'compacted', url: proxy.url })
    const envoys = [
      await edge.startEnvoy({ variant: 'sotw' }),
      await edge.startEnvoy({ variant: 'delta' }),
    ]
    await Promise.all(envoys.map(({ port }) => port()))
    await edge.restart()
    const churn = await startChurn({
      ...{ edge, backends, envoys: () => envoys, routes: 50, seed, pauseMs: 10 },
    })
    await sleep(2_000)
    proxy.freezeWatches()
    await sleep(3_000)
    await churn.stop()
    await forgetThePast()
    // Since the frost it has heard of no deletion: what is let go of from here on waited for it.
    const before = await churn.judged()
    proxy.thawWatches()
    await churn.converged()
    expect(proxy.gone().inStream).toBeGreaterThan(0)
    const after = await churn.judged()
    expect(after.served).toEqual([])
    expect(after.count).toBeGreaterThan(before.count)
  } finally {
    await proxy.stop()
  }
})

const routes = 60

test('a list that is compacted between two pages begins anew, and is complete', async () => {
  const proxy = await startProxy(cluster, seed)
  const namespace = nameOf('pages')
  const stop = new AbortController()
  try {
    await cluster.kubectl(['create', 'ns', namespace])
    const names = Array.from({ length: routes }, (_, index) => `r-${index}`)
    const items = names.map((name) => prefixRoute(namespace, name, 'none'))
    const list = { apiVersion: 'v1', kind: 'List', items }
    await cluster.kubectl(['create', '-f', '-'], JSON.stringify(list))

    let letGo: () => void = () => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    const isNextPage = (query: URLSearchParams): boolean => query.has('continue')
    proxy.setFaults({ before: ({ query }) => (isNextPage(query) ? held : undefined) })
    const client = await connectTo(
      await cluster.writeKubeconfig(namespace, { token: cluster.adminToken }, proxy.url),
    )
    let last: SourceState | undefined
    const source = kubernetesRoutes(client, {
      ...{ namespaces: [namespace], watchList: false, pageSize: 20 },
    })
    const watching = source.watch((state) => (last = state), stop.signal)()
    await eventually(
      () => proxy.calls().some(({ query }) => isNextPage(query)),
      (isAsked) => isAsked,
    )
    await cluster.kubectl(['-n', namespace, 'delete', 'edgeroute', 'r-0'])
    await forgetThePast()
    letGo()
    await eventually(
      () => last?.objects?.length,
      (count) => count === routes - 1,
      60_000,
    )
    expect(proxy.gone().asStatus).toBeGreaterThan(0)
    expect(last?.objects?.map(({ key }) => key.name).sort()).toEqual(names.slice(1).sort())
    stop.abort()
    await watching
    client.close()
  } finally {
    stop.abort()
    await cluster.kubectl(['delete', 'ns', namespace, '--wait=false', '--ignore-not-found'])
    await proxy.stop()
  }
})
