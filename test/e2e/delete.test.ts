import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { servedAfter } from '../support/deletion/judge.js'
import { type Door, type Shot, startLoad } from '../support/deletion/load.js'
import { answers } from '../support/traffic.js'
import { type Edge, startEdge } from './support/edge.js'
import type { RouteWatch } from './support/watch-routes.js'
import { theCluster } from './support/the-cluster.js'

const variants = ['sotw', 'delta'] as const
const repeats = 30
/** How long the load goes on before a deletion and after it, in milliseconds. */
const aroundMs = 150
const patienceMs = 20_000

let backends: RecordingBackends
let edge: Edge
let watch: RouteWatch
let doors: ReadonlyArray<Door>
let other: string

beforeAll(async () => {
  backends = await startRecordingBackends()
  edge = await startEdge(theCluster(), { name: 'delete' })
  watch = await edge.watch()
  other = await applyRoute('other')
  const envoys = await Promise.all(variants.map((variant) => edge.startEnvoy({ variant })))
  doors = await Promise.all(envoys.map(async ({ id, port }) => ({ name: id, port: await port() })))
  for (const { port } of doors) await answers(port, '/other', `200 ${other}`)
  await edge.restart()
})

afterAll(async () => {
  await edge.stop()
  await backends.stop()
})

const applyRoute = (name: string): Promise<string> => edge.applyServed(name, backends)

interface Round {
  readonly path: string
  readonly address: string
  /** When the watch told that it is being deleted, and that it is gone. */
  readonly askedMs: number
  readonly goneMs: number
  readonly shots: ReadonlyArray<Shot>
}

const deleteUnderLoad = async (round: number): Promise<Round> => {
  const name = `victim-${round}`
  const path = `/${name}`
  const address = await applyRoute(name)
  for (const { port } of doors) await answers(port, path, `200 ${address}`)
  const load = startLoad({ doors, paths: [path, '/other'] })
  watch.onEvent(({ type, object }) => {
    if (type === 'DELETED' && object.metadata.name === name) load.burst(path)
  })
  await sleep(aroundMs)
  await edge.remove(name)
  const isVictim = ({
    object,
  }: {
    readonly object: { readonly metadata: { readonly name: string } }
  }) => object.metadata.name === name
  const asked = await watch.until(
    (event) => isVictim(event) && event.object.metadata.deletionTimestamp !== undefined,
  )
  const gone = await watch.until((event) => isVictim(event) && event.type === 'DELETED', patienceMs)
  await sleep(aroundMs)
  const shots = await load.stop()
  return { path, address, askedMs: asked.atMs, goneMs: gone.atMs, shots }
}

test(
  `in ${repeats} deletions under load no request that is sent after the watch told of it reaches the route`,
  { timeout: 240_000 },
  async () => {
    const rounds: Array<Round> = []
    for (let round = 0; round < repeats; round += 1) rounds.push(await deleteUnderLoad(round))
    for (const { path, address, askedMs, goneMs, shots } of rounds) {
      expect(servedAfter(backends.arrivals, shots, path, goneMs)).toEqual([])
      const victims = shots.filter((shot) => shot.path === path)
      const late = victims.filter(({ sentMs }) => sentMs > goneMs)
      expect(late.filter(({ answer }) => answer !== '404')).toEqual([])
      for (const { name: door } of doors) {
        const here = victims.filter((shot) => shot.door === door)
        expect(here.some(({ answer }) => answer === `200 ${address}`)).toBe(true)
        expect(here.some(({ sentMs }) => sentMs > goneMs)).toBe(true)
      }
      // Terminating comes first, and for each Envoy there is no route before there is no object.
      expect(askedMs).toBeLessThan(goneMs)
      const before = victims.filter(({ sentMs, answer }) => sentMs < goneMs && answer === '404')
      expect(new Set(before.map(({ door }) => door)).size).toBe(doors.length)
    }
    const innocent = rounds.flatMap(({ shots }) => shots).filter(({ path }) => path === '/other')
    expect(innocent.filter(({ answer }) => answer !== `200 ${other}`)).toEqual([])
    expect(innocent.length).toBeGreaterThan(repeats * doors.length)
    const times = rounds.map(({ askedMs, goneMs }) => goneMs - askedMs).sort((a, b) => a - b)
    process.stderr.write(
      `gone after ${times[repeats >> 1]?.toFixed(0)} ms (median), ${times.at(-1)?.toFixed(0)} ms (worst); ` +
        `${innocent.length} requests to the other route\n`,
    )
  },
)
