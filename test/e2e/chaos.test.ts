import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finalizer } from '../../src/core/stored-object.js'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import type { DeletionEnvoy } from '../support/deletion/wired-envoy.js'
import { below, prngOf } from '../support/churn/prng.js'
import { eventually } from '../support/envoy.js'
import { answers, ask } from '../support/traffic.js'
import { type Churn, startChurn } from './support/churn.js'
import { type Edge, startTestEdge } from './support/edge.js'
import { startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const seed = Date.now() % 2 ** 31
const routes = 200
/** Fewer deletions than that would show little. */
const leastJudged = 10

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
  const { count, served } = await churn.judged()
  const { changes, failures } = churn.counts()
  process.stderr.write(
    `${changes} changes, ${failures} of them failed; ${count} deletions judged\n`,
  )
  expect(served).toEqual([])
  expect(count).toBeGreaterThan(leastJudged)
  expect(changes - failures).toBeGreaterThan(routes / 2)
}

const lives = 20
/** In so many of them, at the least, a route must have been let go of before the kill. */
const leastReleasing = 10
/** Once it knows of an Envoy again, a life lets go of what was deleted; how long that is waited for. */
const releasesWithinMs = 8_000
/** How much later it is killed, at the most: routes are deleted, and let go of, all the time. */
const killedWithinMs = 1_500

/** How many deletions a program has seen confirmed by every Envoy since its log was so long. */
const provenSince = (at: number, log: string): number =>
  log.slice(at).split('deleted: gone from every Envoy').length - 1

test(
  'killed 20 times in the middle of it, the control plane loses and orphans nothing',
  { timeout: 400_000 },
  async () => {
    const at = await stage('kills')
    const prng = prngOf(seed)
    const { program } = at.edge
    const proven: Array<number> = []
    for (let life = 0; life < lives; life += 1) {
      const begun = program.log().length
      const provenNow = (): number => provenSince(begun, program.log())
      // One of four dies whenever it comes: most of these know of no Envoy yet.
      if (life % 4 !== 3)
        await eventually(provenNow, (count) => count > 0, releasesWithinMs).catch(() => undefined)
      await sleep(below(prng, killedWithinMs))
      await program.kill()
      proven.push(provenNow())
      // It is dead for sure. Otherwise each life would begin with the whole wait, and let go of nothing before it ends.
      await at.edge.vouch()
      await program.start()
    }
    process.stderr.write(`proven in each life: ${proven.join(', ')}\n`)
    expect(proven.filter((count) => count > 0).length).toBeGreaterThanOrEqual(leastReleasing)
    await endsWell(at)
  },
)

/** How long a route is seen to stay, in milliseconds: many times what a deletion takes. */
const staysMs = 3_000
/** A control plane that has asked in vain for long asks again after 30 s at the most. */
const isBackWithinMs = 60_000
/**
 * An Envoy that has lost its stream meanwhile dials again after 10 s at the most; and a control plane that was without
 * its Lease for 30 s releases nothing for a minute: others may have served beside it.
 */
const releasedWithinMs = 90_000

/**
 * The API server is back, and the first Envoy is held still: what it has not confirmed stays, although all others go on,
 * until it confirms.
 */
const letsGoOnlyNow = async (
  { edge, envoys, churn }: Stage,
  names: ReadonlyArray<string>,
): Promise<void> => {
  const [slow, ...others] = envoys
  const address = await edge.applyServed('afterwards', backends)
  for (const envoy of others)
    await answers(await envoy.port(), '/afterwards', `200 ${address}`, isBackWithinMs)
  for (const envoy of others)
    for (const name of names) await answers(await envoy.port(), `/${name}`, '404')
  await sleep(staysMs)
  for (const name of names) {
    const { metadata } = (await edge.get(name)) ?? {}
    expect(metadata?.deletionTimestamp).toBeDefined()
    expect(metadata?.finalizers).toContain(finalizer)
  }
  const before = await churn.judged()
  slow?.wire.release()
  for (const name of names)
    await eventually(
      () => edge.get(name),
      (object) => object === undefined,
      releasedWithinMs,
    )
  await eventually(churn.judged, ({ count }) => count >= before.count + names.length)
  expect((await churn.judged()).served).toEqual([])
}

test(
  'while the API server is away for 30 s all is served on, to a new Envoy too; what waits for an Envoy still does then',
  { timeout: 400_000 },
  async () => {
    const at = await stage('outage')
    await at.churn.stop()
    await at.churn.converged()
    const [slow, quick] = at.envoys as [DeletionEnvoy, DeletionEnvoy]
    const names = (await at.edge.list()).map(({ metadata }) => metadata.name)
    const [kept, pending, last] = names as [string, string, string]
    // One Envoy hears no more, so that it confirms nothing: what is deleted now waits for it.
    slow.wire.hold()
    await at.edge.remove(pending)
    await answers(await quick.port(), `/${pending}`, '404')
    await at.edge.remove(last)
    await cluster.stopApiServer()
    try {
      const stoppedMs = performance.now()
      const late = await at.edge.startEnvoy({ variant: 'delta' })
      at.envoys.push(late)
      while (performance.now() < stoppedMs + 30_000) {
        for (const envoy of at.envoys)
          expect(await ask(await envoy.port(), `/${kept}`)).toMatch(/^200 /)
        for (const name of [pending, last])
          expect(await ask(await slow.port(), `/${name}`)).toMatch(/^200 /)
        for (const envoy of [quick, late])
          expect(await ask(await envoy.port(), `/${pending}`)).toBe('404')
        await sleep(200)
      }
    } finally {
      await cluster.startApiServer()
    }
    await letsGoOnlyNow(at, [pending, last])
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
    const judged = await again.judged()
    expect(judged.served).toEqual([])
    expect(judged.count).toBeGreaterThan(0)
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
