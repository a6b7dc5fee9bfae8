import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import type { DeletionEnvoy } from '../support/deletion/wired-envoy.js'
import { below, prngOf } from '../support/churn/prng.js'
import { ask } from '../support/traffic.js'
import { type Churn, startChurn } from './support/churn.js'
import { type Edge, startTestEdge } from './support/edge.js'
import { startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const seed = Date.now() % 2 ** 31
const routes = 200

let backends: RecordingBackends

beforeAll(async () => {
  process.stderr.write(`chaos with seed ${seed}\n`)
  backends = await startRecordingBackends()
})

afterAll(() => backends.stop())

interface Stage {
  readonly edge: Edge
  readonly envoys: Array<DeletionEnvoy>
  readonly churn: Churn
}

const stage = async (
  name: string,
  options: Partial<Parameters<typeof startTestEdge>[1]> = {},
): Promise<Stage> => {
  const edge = await startTestEdge(cluster, { name, ...options })
  const envoys = [
    await edge.startEnvoy({ variant: 'sotw' }),
    await edge.startEnvoy({ variant: 'delta' }),
  ]
  await Promise.all(envoys.map(({ port }) => port()))
  await edge.restart()
  const churn = await startChurn({
    edge,
    backends,
    envoys: () => envoys,
    routes,
    seed,
    pauseMs: 20,
  })
  return { edge, envoys, churn }
}

/** After whatever has happened: all is as the API server says, and nothing was let go of too early. */
const endsWell = async ({ churn }: Stage): Promise<void> => {
  await churn.stop()
  await churn.converged()
  expect(churn.servedAfterwards()).toEqual([])
  const { changes, failures } = churn.counts()
  process.stderr.write(`${changes} changes, ${failures} of them failed\n`)
  expect(changes - failures).toBeGreaterThan(routes / 2)
}

test(
  'killed 20 times in the middle of it, the control plane loses and orphans nothing',
  { timeout: 400_000 },
  async () => {
    const at = await stage('kills')
    const prng = prngOf(seed)
    for (let kill = 0; kill < 20; kill += 1) {
      await sleep(below(prng, 1_500))
      await at.edge.program.kill()
      await at.edge.program.start()
    }
    await endsWell(at)
  },
)

test(
  'while the API server is away for 30 s all is served on, to a new Envoy too, and then goes on',
  { timeout: 400_000 },
  async () => {
    const at = await stage('outage')
    await at.churn.stop()
    await at.churn.converged()
    const [object] = await at.edge.list()
    const path = `/${object?.metadata.name}`
    await cluster.stopApiServer()
    try {
      const stoppedMs = performance.now()
      const late = await at.edge.startEnvoy({ variant: 'delta' })
      at.envoys.push(late)
      while (performance.now() < stoppedMs + 30_000) {
        for (const envoy of at.envoys) expect(await ask(await envoy.port(), path)).toMatch(/^200 /)
        await sleep(200)
      }
    } finally {
      await cluster.startApiServer()
    }
    const again = await startChurn({
      ...{
        edge: at.edge,
        backends,
        envoys: () => at.envoys,
        routes: 20,
        seed: seed + 1,
        pauseMs: 20,
      },
      prefix: 's',
    })
    await sleep(5_000)
    await again.stop()
    await at.churn.converged()
    await again.converged()
    expect([...at.churn.servedAfterwards(), ...again.servedAfterwards()]).toEqual([])
  },
)

test(
  'a token that lives for 10 s and is renewed in its file keeps it at work',
  { timeout: 400_000 },
  async () => {
    const lifeMs = 10_000
    const at = await stage('tokens', { tokenLifeMs: lifeMs })
    const first = cluster.mintToken(at.edge.account, lifeMs)
    const refused = async (): Promise<boolean> =>
      (await cluster.request({ path: '/api', token: first })).status === 401
    expect(await refused()).toBe(false)
    for (let renewal = 0; renewal < 10; renewal += 1) {
      await at.edge.renewToken(lifeMs)
      await sleep(4_000)
    }
    expect(await refused()).toBe(true)
    await at.churn.stop()
    const renewing = setInterval(() => void at.edge.renewToken(lifeMs), 4_000)
    try {
      await endsWell(at)
    } finally {
      clearInterval(renewing)
    }
  },
)

test(
  'with every fifth write refused, done or not, all converges',
  { timeout: 400_000 },
  async () => {
    const proxy = await startProxy(cluster, seed)
    try {
      const at = await stage('refusals', { url: proxy.url })
      proxy.setFaults({ refusedShare: 0.2 })
      await sleep(20_000)
      expect(
        proxy.calls().filter(({ status = 0 }) => status === 409 || status >= 500).length,
      ).toBeGreaterThan(20)
      await endsWell(at)
    } finally {
      await proxy.stop()
    }
  },
)
