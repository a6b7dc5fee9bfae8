import { setTimeout as sleep } from 'node:timers/promises'
import { type Context, routeType, type Variant, type XdsEvent } from 'edgewright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { startWaitMs } from '../support/deletion/control-plane.js'
import { proofsIn } from '../support/deletion/judge.js'
import { startLoad } from '../support/deletion/load.js'
import { type DeletionRig, startDeletionRig } from '../support/deletion/rig.js'
import {
  comesBackUntold,
  type Deletion,
  endsUnserved,
  endsWhenTold,
  endWithTest,
  staysWhileServed,
} from '../support/deletion/stage.js'
import { eventually } from '../support/envoy.js'
import { anyPort, contextOf } from '../support/rig.js'
import { badListener, tamperRoute, withBadRegex, withListener } from '../support/tampered.js'
import { answers, ask } from '../support/traffic.js'

const variants: ReadonlyArray<Variant> = ['delta', 'sotw']
const twoTables: Context = contextOf([anyPort, { ...anyPort, name: 'other' }])
/**
 * Which table of a response an Envoy looks at first: it takes what comes before one that it refuses, as a rule, and
 * not what comes behind it.
 */
const firstTable = { delta: 'http', sotw: 'other' } as const
const lastTable = { delta: 'other', sotw: 'http' } as const
/** Within this time an Envoy comes back to a control plane that does not know it, in milliseconds. */
const longWaitMs = 8_000
/** How often that is tried where it is otherwise. */
const tries = 8

let backends: RecordingBackends
beforeAll(async () => {
  backends = await startRecordingBackends()
})
afterAll(() => backends.stop())

const address = '127.7.2.1'
const to = (path: string) => ({
  matches: [{ path: { prefix: path } }],
  backends: [{ address: { host: address, port: backends.port } }],
})

/** What is called in the very turn in which tables are refused for the first time. */
const onRefusal = (rig: DeletionRig, act: () => void): void => {
  const isRefusal = (event: XdsEvent): boolean =>
    event._tag === 'ResponseNacked' && event.typeUrl === routeType
  const unwatch = rig.watch((event) => {
    if (!isRefusal(event)) return
    unwatch()
    act()
  })
}

/**
 * Publishes a victim and a culprit together, in both tables, of which the Envoy takes the first and refuses
 * the second: it serves the victim, and has accepted nothing. `onRefused` is called in the turn of the refusal.
 */
const snare = async (
  variant: Variant,
  onRefused: (deletion: Deletion) => void,
): Promise<Deletion> => {
  const rig = await startDeletionRig({ context: twoTables, records: true })
  endWithTest(rig.stop)
  // Of the same cluster as the victim, which has nothing to wait for then.
  rig.create('kept', to('/kept'))
  const envoy = await rig.startEnvoy({ variant })
  const port = await envoy.port(firstTable[variant])
  await answers(port, '/kept', `200 ${address}`)
  const name = 'victim'
  const path = '/victim'
  const load = startLoad({ doors: [{ name: envoy.id, port }], paths: [path, '/kept'] })
  endWithTest(() => load.stop())
  rig.onGone((gone) => load.burst(`/${gone}`))
  const deletion = { rig, backends, envoy, load, name, path, answer: `200 ${address}` }
  onRefusal(rig, () => onRefused(deletion))
  rig.create(name, to(path))
  const culprit = rig.create('culprit', { ...to('/culprit') })
  rig.tamper(tamperRoute(culprit, withBadRegex, { table: lastTable[variant] }))
  return deletion
}

/** The same, with the wire cut in that turn; tried anew where the Envoy has not taken the victim in. */
const snareAndCut = async (variant: Variant): Promise<Deletion & { readonly roster: string }> => {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    let cut = false
    const deletion = await snare(variant, ({ envoy }) => {
      cut = true
      envoy.wire.cut()
    })
    const roster = await deletion.rig.readRoster()
    await eventually(
      () => cut,
      (isSo) => isSo,
    )
    if (
      (await ask(await deletion.envoy.port(firstTable[variant]), deletion.path)) === deletion.answer
    )
      return { ...deletion, roster }
    await deletion.load.stop()
    await deletion.rig.stop()
  }
  throw new Error('the Envoy has never taken a part of what it has refused')
}

/** It has accepted tables without the object on its last stream, as the proxy saw. */
const isProven = ({ rig, name }: Deletion): boolean => {
  const proofs = proofsIn(rig.proxy?.records ?? [], `test/${name}`, rig.goneAt(name) ?? 0)
  return proofs.length === 1 && proofs.every(({ atMs }) => atMs !== undefined)
}

describe.each(variants)('an Envoy in %s that has refused a part of what it serves', (variant) => {
  test('ends a route that was deleted in the moment of the refusal', async () => {
    const deletion = await snare(variant, ({ rig, name }) => rig.remove(name))
    await endsUnserved(deletion)
    expect(isProven(deletion)).toBe(true)
  })

  test('is waited for, away and back, until it has accepted a table without the route (X1)', async () => {
    const deletion = await snareAndCut(variant)
    deletion.rig.remove(deletion.name)
    await staysWhileServed(deletion)
    await comesBackUntold(deletion)
    await staysWhileServed(deletion)
    await endsWhenTold(deletion)
    expect(isProven(deletion)).toBe(true)
  })

  test.each(['ended in order', 'crashed before it had written that down'])(
    'is waited for by a control plane in the place of one that has %s (X4)',
    async (how) => {
      const deletion = await snareAndCut(variant)
      const { rig, roster, name } = deletion
      await rig.stopHost()
      if (how !== 'ended in order') await rig.writeRoster(roster)
      // What is left is what the Envoy has accepted: by its versions there is nothing to send.
      rig.remove(name)
      rig.remove('culprit')
      await rig.startHost()
      await sleep(startWaitMs)
      await staysWhileServed(deletion)
      await comesBackUntold(deletion)
      await staysWhileServed(deletion)
      await endsWhenTold(deletion)
      expect(isProven(deletion)).toBe(true)
    },
  )
})

describe('an Envoy that comes back without any version, and serves something', () => {
  /** It takes the listener and table `http`, and refuses the responses that they were in. */
  const withoutVersions = async (): Promise<Deletion> => {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const rig = await startDeletionRig({ context: twoTables, records: true })
      endWithTest(rig.stop)
      const name = 'victim'
      const path = '/victim'
      const respond = (body: string) => ({
        matches: [{ path: { prefix: `/${body}` } }],
        respond: { code: 200, body },
      })
      rig.create(name, respond(name))
      const culprit = rig.create('culprit', respond('culprit'))
      rig.tamper((snapshot) =>
        withListener(badListener('z-bad'))(
          tamperRoute(culprit, withBadRegex, { table: 'other' })(snapshot),
        ),
      )
      // Nothing that it could accept follows what it has refused.
      await rig.proxy?.setCurt(true)
      const envoy = await rig.startEnvoy({ variant: 'delta', until: 'admin' })
      const refusals = () => rig.proxy?.records.filter(({ _tag }) => _tag === 'Nacked').length ?? 0
      await eventually(refusals, (count) => count > 0)
      envoy.wire.cut()
      await rig.proxy?.setCurt(false)
      const port = await envoy.port().catch(() => 0)
      if ((await ask(port, path).catch(() => '')) === '200 victim') {
        const load = startLoad({ doors: [{ name: envoy.id, port }], paths: [path] })
        endWithTest(() => load.stop())
        rig.onGone((gone) => load.burst(`/${gone}`))
        return { rig, backends, envoy, load, name, path, answer: '200 victim' }
      }
      await rig.stop()
    }
    throw new Error('the Envoy has never taken a part of what it has refused')
  }

  test.each(['that knows it', 'that has never heard of it'])(
    'is waited for by a control plane %s',
    async (which) => {
      const deletion = await withoutVersions()
      const { rig, name } = deletion
      rig.remove(name)
      if (which !== 'that knows it') {
        await rig.stopHost()
        await rig.writeRoster(undefined)
        await rig.startHost(longWaitMs)
      }
      const startMs = performance.now()
      await comesBackUntold(deletion)
      const records = rig.proxy?.records ?? []
      expect(records.filter(({ _tag }) => _tag === 'Claimed')).toEqual([])
      if (which !== 'that knows it') await sleep(startMs + longWaitMs - performance.now())
      await staysWhileServed(deletion)
      await endsWhenTold(deletion)
      expect(isProven(deletion)).toBe(true)
    },
  )
})
