import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { ask } from '../support/traffic.js'
import { freshAddress } from './support/addresses.js'
import { type Edge, startEdge } from './support/edge.js'
import {
  type EdgeRouteObject,
  isProgrammed,
  prefixRoute,
  serviceWith,
} from './support/edge-objects.js'
import { type ApiProxy, startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'

const routes = 5_000
const services = 10
/** How many requests make the routes at a time. */
const writers = 16
const patienceMs = 420_000
/** A route may be told of twice: while its Envoys take it, and then. */
const maxStatusWrites = 2 * routes + 500

let backends: RecordingBackends
let proxy: ApiProxy
let edge: Edge
const addresses = Array.from({ length: services }, freshAddress)

beforeAll(async () => {
  backends = await startRecordingBackends()
  proxy = await startProxy(theCluster(), 1)
  edge = await startEdge(theCluster(), { name: 'many', url: proxy.url })
  await edge.apply(
    ...addresses.flatMap((address, index) =>
      serviceWith(edge.namespace, `svc-${index}`, backends.port, [address]),
    ),
  )
})

afterAll(async () => {
  await edge.stop()
  await proxy.stop()
  await backends.stop()
})

const countOf = (call: string): number => proxy.counts().get(call) ?? 0

/** How often it is looked what there is, in milliseconds: to list all takes an API server half a second. */
const lookEveryMs = 3_000

/** Waits until every route is programmed; rejects with some that are not. */
const untilAllProgrammed = async (): Promise<void> => {
  const deadline = performance.now() + patienceMs
  let missing: ReadonlyArray<EdgeRouteObject> = []
  do {
    await sleep(lookEveryMs)
    const objects = await edge.list()
    missing = objects.filter((object) => !isProgrammed(object))
    if (objects.length === routes && missing.length === 0) return
  } while (performance.now() < deadline)
  throw new Error(
    `${missing.length} are not programmed: ${JSON.stringify(missing.slice(0, 2))}; ${requests()}`,
  )
}

const requests = (): string =>
  [...proxy.counts()].map(([call, count]) => `${call} ${count}`).join(', ')

const createAll = async (): Promise<void> => {
  const path = `/apis/net.10xdev.io/v1/namespaces/${edge.namespace}/edgeroutes`
  const queue = Array.from({ length: routes }, (_, index) => index).values()
  const write = async (): Promise<void> => {
    for (const index of queue) {
      const body = prefixRoute(edge.namespace, `r-${index}`, `svc-${index % services}`)
      const { status } = await edge.cluster.request({ method: 'POST', path, body })
      expect(status).toBe(201)
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

test(
  `${routes} routes that are applied at once are all programmed`,
  { timeout: 700_000 },
  async () => {
    const envoys = await Promise.all(
      (['sotw', 'delta'] as const).map((variant) => edge.startEnvoy({ variant, until: 'admin' })),
    )
    const before = await edge.program.usage()
    const startedMs = performance.now()
    await createAll()
    const appliedMs = performance.now()
    await untilAllProgrammed()
    const programmedMs = performance.now()
    const after = await edge.program.usage()
    for (const envoy of envoys) {
      const port = await envoy.port()
      for (const index of [0, 1, 2_499, routes - 1])
        expect(await ask(port, `/r-${index}`)).toBe(`200 ${addresses[index % services]}`)
    }
    process.stderr.write(
      `${routes} routes applied in ${seconds(appliedMs - startedMs)} s, all programmed after ` +
        `${seconds(programmedMs - startedMs)} s; control plane: ${(after.cpuSeconds - before.cpuSeconds).toFixed(1)} ` +
        `CPU s, ${(after.rssBytes / 2 ** 20).toFixed(0)} MiB RSS; status writes ${countOf('patch edgeroutes/status')}; ` +
        `requests: ${requests()}\n`,
    )
    expect(countOf('patch edgeroutes')).toBe(routes)
    expect(countOf('patch edgeroutes/status')).toBeLessThanOrEqual(maxStatusWrites)
  },
)
