import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshAddress } from '../../test/e2e/support/addresses.js'
import { type Edge, startEdge } from '../../test/e2e/support/edge.js'
import { isProgrammed, prefixRoute, serviceWith } from '../../test/e2e/support/edge-objects.js'
import { theCluster } from '../../test/e2e/support/the-cluster.js'
import {
  type RecordingBackends,
  startRecordingBackends,
} from '../../test/support/deletion/backends.js'
import { eventually } from '../../test/support/envoy.js'
import { ask } from '../../test/support/traffic.js'

const repeats = 100
/** How many other routes there are. */
const crowds = [100, 3_000]
/** How many requests make these at a time. */
const writers = 16
/** Between two requests for the new route, in milliseconds. */
const pauseMs = 2
const patienceMs = 30_000

let backends: RecordingBackends
let edge: Edge
let port: number
let others = 0

beforeAll(async () => {
  backends = await startRecordingBackends()
  edge = await startEdge(theCluster(), { name: 'bench' })
  await edge.apply(...serviceWith(edge.namespace, 'all', backends.port, [freshAddress()]))
  port = await (await edge.startEnvoy({ variant: 'delta', concurrency: 1 })).port()
})

afterAll(async () => {
  await edge.stop()
  await backends.stop()
})

const create = async (name: string): Promise<void> => {
  const path = `/apis/net.10xdev.io/v1/namespaces/${edge.namespace}/edgeroutes`
  const body = prefixRoute(edge.namespace, name, 'all')
  expect((await edge.cluster.request({ method: 'POST', path, body })).status).toBe(201)
}

const growTo = async (count: number): Promise<void> => {
  const missing = Array.from({ length: count - others }, (_, index) => `o-${others + index}`)
  const queue = missing.values()
  const write = async (): Promise<void> => {
    for (const name of queue) await create(name)
  }
  await Promise.all(Array.from({ length: writers }, write))
  others = count
  await eventually(
    async () => (await edge.list()).filter(isProgrammed).length,
    (programmed) => programmed >= count,
    300_000,
  )
}

interface Propagation {
  readonly ms: number
  /** Answers that were neither 404 nor 200. */
  readonly odd: ReadonlyArray<string>
}

/** From the request that creates a route to the first request that is answered by its backend. */
const propagate = async (name: string): Promise<Propagation> => {
  const startedMs = performance.now()
  const odd: Array<string> = []
  await create(name)
  while (performance.now() < startedMs + patienceMs) {
    const answer = await ask(port, `/${name}`).catch(String)
    if (answer.startsWith('200 ')) return { ms: performance.now() - startedMs, odd }
    if (answer !== '404') odd.push(answer)
    await sleep(pauseMs)
  }
  throw new Error(`${name} is not served after ${patienceMs} ms`)
}

test.each(crowds)(
  'a route among %d others is served without any odd answer before',
  { timeout: 900_000 },
  async (crowd) => {
    await growTo(crowd)
    const all: Array<Propagation> = []
    for (let repeat = 0; repeat < repeats; repeat += 1)
      all.push(await propagate(`p-${crowd}-${repeat}`))
    const times = all.map(({ ms }) => ms).sort((a, b) => a - b)
    const at = (share: number): string =>
      (times[Math.ceil(times.length * share) - 1] ?? NaN).toFixed(0)
    const odd = all.flatMap((each) => each.odd)
    process.stderr.write(
      `create to first 200 among ${crowd} others, ${repeats} repeats: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ` +
        `worst ${at(1)} ms; ${odd.length} answers were neither 404 nor 200\n`,
    )
    expect(odd).toEqual([])
  },
)
