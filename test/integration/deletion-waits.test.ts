import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { startWaitMs } from '../support/deletion/control-plane.js'
import { proofsIn, servedAfter } from '../support/deletion/judge.js'
import { type Load, startLoad } from '../support/deletion/load.js'
import {
  type DeletionRig,
  type DeletionRigOptions,
  redialMs,
  startDeletionRig,
} from '../support/deletion/rig.js'
import type { DeletionEnvoy, RigEnvoyOptions } from '../support/deletion/wired-envoy.js'
import { eventually } from '../support/envoy.js'
import { answers } from '../support/traffic.js'

/** How long an Envoy that owes an answer is watched, in milliseconds. */
const watchMs = 3_000
/** Of the control plane's pings, and of the time for their answer, in milliseconds. */
const keepaliveMs = 2_000
/** Long enough for such an Envoy to be given up, and for some time of being lost, in milliseconds. */
const longPauseMs = 3 * keepaliveMs + 6_000

const path = '/victim'
const address = '127.7.1.1'
const neverMind = '/neighbour'

let backends: RecordingBackends
beforeAll(async () => {
  backends = await startRecordingBackends()
})
afterAll(() => backends.stop())

interface Stage {
  readonly rig: DeletionRig
  readonly envoys: ReadonlyArray<DeletionEnvoy>
  readonly load: Load
}

/** Envoys that all serve the victim, and its neighbour, under load. */
const stage = async (
  each: ReadonlyArray<Omit<RigEnvoyOptions, 'variant'>>,
  options: DeletionRigOptions = {},
): Promise<Stage> => {
  const rig = await startDeletionRig(options)
  onTestFinished(rig.stop)
  rig.create('victim', to(path))
  rig.create('neighbour', to(neverMind))
  const envoys = await Promise.all(
    each.map((more, index) =>
      rig.startEnvoy({ variant: index % 2 === 0 ? 'delta' : 'sotw', ...more }),
    ),
  )
  const doors = await Promise.all(
    envoys.map(async ({ id, port }, index) => ({ name: `${id} ${index}`, port: await port() })),
  )
  for (const { port } of doors) await answers(port, path, `200 ${address}`)
  const load = startLoad({ doors, paths: [path, neverMind], pauseMs: 20 })
  rig.onGone((name) => load.burst(`/${name}`))
  return { rig, envoys, load }
}

const to = (prefix: string) => ({
  matches: [{ path: { prefix } }],
  backends: [{ address: { host: address, port: backends.port } }],
})

/** Who is waited for, as the control plane says: its operator, and the object itself. */
const owedIn = (rig: DeletionRig): ReadonlyArray<string> =>
  rig.explain('victim').flatMap(({ owed }) => owed.map(({ id }) => id))

const conditionIn = (rig: DeletionRig): string =>
  JSON.stringify(rig.api.get({ namespace: 'test', name: 'victim' })?.status ?? {})

/**
 * The object stays as long as this is watched, and names those that owe something; in the end nobody else, who may
 * have been about to answer when this began.
 */
const staysFor = async (
  rig: DeletionRig,
  ms: number,
  ids: ReadonlyArray<string>,
): Promise<void> => {
  const end = performance.now() + ms
  await eventually(
    () => owedIn(rig),
    (owed) => ids.every((id) => owed.includes(id)),
  )
  while (performance.now() < end) {
    expect(rig.goneAt('victim')).toBeUndefined()
    expect(owedIn(rig)).toEqual(expect.arrayContaining([...ids]))
    await sleep(50)
  }
  expect(owedIn(rig)).toEqual(ids)
  expect(conditionIn(rig)).toContain('"type":"Deprogrammed","status":"False"')
  for (const id of ids) expect(conditionIn(rig)).toContain(id)
}

/** It vanishes, and nothing that was sent afterwards was served. */
const ends = async ({ rig, load }: Stage): Promise<void> => {
  const goneMs = await rig.untilGone('victim', redialMs)
  await sleep(200)
  const shots = await load.stop()
  expect(servedAfter(backends.arrivals, shots, path, goneMs)).toEqual([])
  expect(shots.some((shot) => shot.path === path && shot.sentMs > goneMs)).toBe(true)
}

test('a route stays as long as an Envoy is paused, and names it, lost or not', async () => {
  const at = await stage([{}, {}, {}], { keepaliveMs })
  const { rig, envoys } = at
  const [paused, ...others] = envoys
  paused?.pause()
  rig.remove('victim')
  const ids = [paused?.id ?? '']
  await staysFor(rig, keepaliveMs / 2, ids)
  for (const { port } of others) await answers(await port(), path, '404')
  await staysFor(rig, longPauseMs, ids)
  expect(rig.explain('victim').flatMap(({ owed }) => owed.map((node) => node.connected))).toEqual([
    false,
  ])
  paused?.resume()
  await ends(at)
})

test('a route that an Envoy had which was killed stays until somebody forgets it', async () => {
  const at = await stage([{}, {}])
  const { rig, envoys } = at
  const [killed] = envoys
  const id = killed?.id ?? ''
  await killed?.kill()
  rig.remove('victim')
  await staysFor(rig, watchMs, [id])
  expect(await rig.host().operator.forget(id)).toBe('Forgotten')
  await ends(at)
})

test('of two Envoys with one id both are owed, and none speaks for the other', async () => {
  const at = await stage([{ id: 'twin' }, { id: 'twin' }])
  const { rig, envoys } = at
  const [first, second] = envoys
  first?.pause()
  rig.remove('victim')
  await answers((await second?.port()) ?? 0, path, '404')
  await staysFor(rig, watchMs, ['twin'])
  first?.resume()
  await ends(at)
})

test('a twin that comes back does not settle what a lost one owes', async () => {
  const at = await stage([{ id: 'twin' }, { id: 'twin' }])
  const { rig, envoys } = at
  const [lost, twin] = envoys
  lost?.wire.cut()
  rig.remove('victim')
  const port = (await twin?.port()) ?? 0
  await answers(port, path, '404')
  const comings = (): number => rig.events.filter(({ _tag }) => _tag === 'NodeIdentified').length
  const before = comings()
  twin?.wire.cut()
  twin?.wire.mend()
  await eventually(comings, (count) => count > before, redialMs)
  await staysFor(rig, watchMs, ['twin'])
  // It is what the lost one still serves.
  await answers((await lost?.port()) ?? 0, path, `200 ${address}`)
  lost?.wire.mend()
  await answers((await lost?.port()) ?? 0, path, '404', redialMs)
  // Nobody knows whether these are all that had the id: a person does.
  expect(await rig.host().operator.forget('twin')).toBe('Forgotten')
  await ends(at)
})

test('a control plane that starts anew waits for an Envoy that is away, and releases when it is back', async () => {
  const at = await stage([{}, {}])
  const { rig, envoys } = at
  const [away, back] = envoys
  away?.wire.cut()
  rig.remove('victim')
  await staysFor(rig, 500, [away?.id ?? ''])
  await rig.stopHost()
  await sleep(500)
  expect(rig.goneAt('victim')).toBeUndefined()
  await rig.startHost()
  await eventually(
    () => rig.host().fleet.streams(),
    (count) => count === 1,
    redialMs,
  )
  await answers((await back?.port()) ?? 0, path, '404')
  await sleep(startWaitMs)
  await staysFor(rig, watchMs, [away?.id ?? ''])
  await answers((await away?.port()) ?? 0, path, `200 ${address}`)
  away?.wire.mend()
  await ends(at)
})

test('an Envoy that has accepted, and comes back meanwhile, accepts once more before the release', async () => {
  const at = await stage([{}, {}], { records: true })
  const { rig, envoys } = at
  const [again, paused] = envoys
  const records = rig.proxy?.records ?? []
  const proven = () =>
    proofsIn(records, 'test/victim', Infinity).filter(({ atMs }) => atMs !== undefined)
  paused?.pause()
  rig.remove('victim')
  await eventually(proven, (proofs) => proofs.length === 1)
  const streams = () => records.filter(({ _tag }) => _tag === 'Identified').length
  const before = streams()
  again?.wire.cut()
  again?.wire.mend()
  await eventually(streams, (count) => count > before, redialMs)
  await staysFor(rig, watchMs / 3, [paused?.id ?? ''])
  paused?.resume()
  const goneMs = await rig.untilGone('victim', redialMs)
  const proofs = proofsIn(records, 'test/victim', goneMs)
  expect(proofs.map(({ node }) => node).sort()).toEqual(envoys.map(({ id }) => id).sort())
  expect(proofs.filter(({ atMs }) => atMs === undefined)).toEqual([])
  await ends(at)
})
