import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { proofsIn, servedAfter } from '../support/deletion/judge.js'
import { type Door, type Shot, startLoad } from '../support/deletion/load.js'
import { type DeletionRig, startDeletionRig } from '../support/deletion/rig.js'
import type { DeletionEnvoy } from '../support/deletion/wired-envoy.js'
import { answers, median } from '../support/traffic.js'

const variants = ['sotw', 'delta', 'delta'] as const
const repeats = 30
const others = Array.from({ length: 10 }, (_, index) => ({
  name: `other-${index}`,
  path: `/other-${index}`,
  address: `127.8.0.${index + 1}`,
}))

/** How long the load goes on before a deletion and after it, in milliseconds. */
const beforeMs = 150
const afterMs = 150
/** How long after the last ACK the workers of an Envoy get, in milliseconds: no object vanishes before. */
const settleMs = 100
/** How long after the last ACK an object may still be there, in milliseconds; the worst of all repeats. */
const promptMs = 250
/** Far beyond what three Envoys need. */
const patienceMs = 20_000

let backends: RecordingBackends
let rig: DeletionRig
let envoys: ReadonlyArray<DeletionEnvoy>
let doors: ReadonlyArray<Door>

beforeAll(async () => {
  backends = await startRecordingBackends()
  rig = await startDeletionRig({ records: true })
  for (const { name, path, address } of others) rig.create(name, to(path, address))
  envoys = await Promise.all(variants.map((variant) => rig.startEnvoy({ variant })))
  doors = await Promise.all(envoys.map(async ({ id, port }) => ({ name: id, port: await port() })))
  for (const { port } of doors)
    for (const { path, address } of others) await answers(port, path, `200 ${address}`)
})

afterAll(async () => {
  await rig.stop()
  await backends.stop()
})

const to = (path: string, host: string) => ({
  matches: [{ path: { prefix: path } }],
  backends: [{ address: { host, port: backends.port } }],
})

interface Round {
  readonly name: string
  readonly address: string
  readonly goneMs: number
  /** From the last ACK that the proxy saw to the release, in milliseconds. */
  readonly delayMs: number
  readonly shots: ReadonlyArray<Shot>
}

const deleteUnderLoad = async (round: number): Promise<Round> => {
  const name = `victim-${round}`
  const path = `/${name}`
  const address = `127.7.0.${round + 1}`
  rig.create(name, to(path, address))
  for (const { port } of doors) await answers(port, path, `200 ${address}`)
  const paths = others.flatMap((other) => [path, other.path])
  const load = startLoad({ doors, paths })
  rig.onGone((gone) => {
    if (gone === name) load.burst(path)
  })
  await sleep(beforeMs)
  rig.remove(name)
  const goneMs = await rig.untilGone(name, patienceMs)
  await sleep(afterMs)
  const shots = await load.stop()
  const proofs = proofsIn(rig.proxy?.records ?? [], `test/${name}`, goneMs)
  expect(proofs.map(({ node }) => node).sort()).toEqual(envoys.map(({ id }) => id).sort())
  const times = proofs.map(({ atMs }) => atMs ?? NaN)
  return { name, address, goneMs, delayMs: goneMs - Math.max(...times), shots }
}

test(
  `in ${repeats} deletions under load no request that is sent after the release reaches the deleted route`,
  { timeout: 180_000 },
  async () => {
    const rounds: Array<Round> = []
    const pauses = monitorEventLoopDelay()
    pauses.enable()
    for (let round = 0; round < repeats; round += 1) rounds.push(await deleteUnderLoad(round))

    for (const { name, address, goneMs, shots } of rounds) {
      const path = `/${name}`
      expect(servedAfter(backends.arrivals, shots, path, goneMs)).toEqual([])
      const victims = shots.filter((shot) => shot.path === path)
      const late = victims.filter(({ sentMs }) => sentMs > goneMs)
      expect(late.filter(({ answer }) => answer !== '404')).toEqual([])
      // Every Envoy was asked before and after, on both kinds of connections.
      for (const { name: door } of doors)
        for (const kind of ['kept', 'new'] as const) {
          const of = (all: ReadonlyArray<Shot>) =>
            all.filter((shot) => shot.door === door && shot.connection === kind)
          expect(of(victims).some(({ answer }) => answer === `200 ${address}`)).toBe(true)
          expect(of(late).length).toBeGreaterThan(0)
        }
    }

    const innocent = rounds.flatMap(({ shots }) => shots).filter(({ path }) => isOther(path))
    expect(innocent.filter(({ path, answer }) => answer !== `200 ${addressOf(path)}`)).toEqual([])
    expect(innocent.length).toBeGreaterThan(repeats * others.length)

    const delays = rounds.map(({ delayMs }) => delayMs)
    // On a machine with much else to do this process is held up itself, and with it the release.
    const shown = `median ${median(delays).toFixed(1)} ms, worst ${Math.max(...delays).toFixed(1)} ms`
    process.stderr.write(
      `release after the last ACK: ${shown}; longest pause of this process ` +
        `${(pauses.max / 1e6).toFixed(1)} ms; ${innocent.length} requests to the others\n`,
    )
    // An ACK speaks for Envoy's main thread: its workers get their time.
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(settleMs)
    expect(Math.max(...delays)).toBeLessThanOrEqual(promptMs)
  },
)

const isOther = (path: string): boolean => addressOf(path) !== undefined

const addressOf = (path: string): string | undefined =>
  others.find((other) => other.path === path)?.address
