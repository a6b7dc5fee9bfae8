import {
  bytesResource,
  type EdgeRouteSpec,
  encodeContent,
  listenerType,
  routeType,
  type Variant,
} from 'edgewright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Listener } from '../../src/gen/envoy/config/listener/v3/listener.js'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { startLoad } from '../support/deletion/load.js'
import { type DeletionRig, startDeletionRig } from '../support/deletion/rig.js'
import {
  type Deletion,
  endsWhenTold,
  endWithTest,
  staysWhileServed,
} from '../support/deletion/stage.js'
import { eventually, freePort } from '../support/envoy.js'
import { refusesConnections } from '../support/one-envoy.js'
import { contextOf } from '../support/rig.js'
import { tamper, type Tamper } from '../support/tampered.js'
import { answers, ask } from '../support/traffic.js'

const variants: ReadonlyArray<Variant> = ['delta', 'sotw']

let backends: RecordingBackends
beforeAll(async () => {
  backends = await startRecordingBackends()
})
afterAll(() => backends.stop())

const address = '127.7.3.1'
const served = `200 ${address}`
const to = (path: string, more: EdgeRouteSpec = {}): EdgeRouteSpec => ({
  matches: [{ path: { prefix: path } }],
  backends: [{ address: { host: address, port: backends.port } }],
  ...more,
})

/** Settings of a listener that matter to nothing here: Envoy makes another listener of it, and drains this one. */
const withOtherBuffer: Tamper = tamper(listenerType, (listeners) =>
  listeners.map((resource) => {
    const { content, name, refs, owners } = resource
    const listener = Listener.decode(encodeContent(content))
    const changed = { ...listener, perConnectionBufferLimitBytes: 65_536 }
    return bytesResource(name, Listener.encode(changed).finish(), refs, owners)
  }),
)

/** A listener and its table are gone from the configuration. */
const withoutGate: Tamper = (snapshot) =>
  tamper(listenerType, (all) => all.filter(({ name }) => name !== 'gate'))(
    tamper(routeType, (all) => all.filter(({ name }) => name !== 'gate'))(snapshot),
  )

/** An Envoy with a listener `http` and another one `gate`, through which a victim is asked for. */
const throughGate = async (
  variant: Variant,
  callers: { readonly kept: number; readonly fresh: number },
): Promise<Deletion & { readonly gate: number }> => {
  const [http, gate] = [await freePort(), await freePort()]
  const context = contextOf([
    { name: 'http', address: '127.0.0.1', port: http },
    { name: 'gate', address: '127.0.0.1', port: gate },
  ])
  const rig = await startDeletionRig({ context })
  endWithTest(rig.stop)
  const name = 'victim'
  const path = '/victim'
  rig.create(name, to(path))
  rig.create('kept', to('/kept'))
  const envoy = await rig.startEnvoy({ variant })
  for (const port of [http, gate]) await answers(port, path, served)
  const load = startLoad({ doors: [{ name: 'gate', port: gate }], paths: [path], ...callers })
  endWithTest(() => load.stop())
  rig.onGone((gone) => load.burst(`/${gone}`))
  await eventually(
    () => load.shots.length,
    (count) => count >= 2 * callers.kept,
  )
  return { rig, backends, envoy, load, name, path, answer: served, gate }
}

const ackedListeners = (rig: DeletionRig): number =>
  rig.events.filter((event) => event._tag === 'ResponseAcked' && event.typeUrl === listenerType)
    .length

describe.each(variants)('an Envoy in %s', (variant) => {
  test('whose listener was changed is waited for as long as old connections reach the route', async () => {
    const deletion = await throughGate(variant, { kept: 2, fresh: 1 })
    const { rig, envoy, name } = deletion
    const before = ackedListeners(rig)
    rig.tamper(withOtherBuffer)
    await eventually(
      () => ackedListeners(rig),
      (count) => count > before,
    )
    await eventually(
      () => envoy.stat('listener_manager.total_listeners_draining'),
      (count) => count === 2,
    )
    envoy.wire.hold()
    rig.remove(name)
    await staysWhileServed(deletion)
    await endsWhenTold(deletion)
  })

  test('whose listener was removed is waited for as long as old connections reach the route', async () => {
    const deletion = await throughGate(variant, { kept: 2, fresh: 0 })
    const { rig, envoy, name, gate } = deletion
    rig.tamper(withoutGate)
    await refusesConnections(gate)
    envoy.wire.hold()
    rig.remove(name)
    await staysWhileServed(deletion)
    await endsWhenTold(deletion)
  })

  test('loses the last route of a host, and then the last route of all', async () => {
    const rig = await startDeletionRig()
    endWithTest(rig.stop)
    rig.create('only', to('/only', { hostnames: ['only.test'] }))
    rig.create('last', to('/last'))
    const envoy = await rig.startEnvoy({ variant })
    const port = await envoy.port()
    await answers(port, '/last', served)
    for (const [name, host] of [
      ['only', 'only.test'],
      ['last', 'test'],
    ] as const) {
      const path = `/${name}`
      const load = startLoad({ doors: [{ name: envoy.id, port }], paths: [path], host })
      endWithTest(() => load.stop())
      rig.onGone((gone) => {
        if (gone === name) load.burst(path)
      })
      const deletion = { rig, backends, envoy, load, name, path, answer: served }
      envoy.wire.hold()
      rig.remove(name)
      await staysWhileServed(deletion)
      await endsWhenTold(deletion)
    }
    // It listens on, with nothing to serve.
    expect(await ask(port, '/last')).toBe('404')
    rig.create('next', to('/next'))
    await answers(port, '/next', served)
  })
})
