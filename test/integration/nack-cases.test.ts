import { createSocket } from 'node:dgram'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  clusterType,
  defaultDataPlane,
  endpointType,
  entries,
  listenerType,
  routeType,
  type Snapshot,
  type Variant,
  viewOf,
} from 'edgewright'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withResolver } from '../support/bootstraps.js'
import { eventually, freePort } from '../support/envoy.js'
import { convictions, isProgrammed, stillServing } from '../support/ledger-view.js'
import {
  countOf,
  isOf,
  publishAndCut,
  refusesConnections,
  start,
  startWithService,
  untilGone,
} from '../support/one-envoy.js'
import { answering, anyPort, contextOf, forwarding, snapshotOf, startRig } from '../support/rig.js'
import {
  badListener,
  tamper,
  tamperClusters,
  tamperRoute,
  type Tamper,
  thatWarms,
  withBadRegex,
  withBadRing,
  withListener,
  withoutTable,
  withTwin,
} from '../support/tampered.js'
import { answers, ask, median, startBackend, startTraffic } from '../support/traffic.js'

const variants: ReadonlyArray<Variant> = ['delta', 'sotw']

/** Long enough for an answer to be seen that should not come, in milliseconds. */
const quietMs = 1_000
/** An Envoy that has lost its control plane dials again after 500 ms, and then less often. */
const redialMs = 20_000
/** Above the 5 s that a cluster may warm before it is taken out, some times over: a search may try it. */
const warmedMs = 45_000
/** A response that Envoy can answer at once is answered in a few milliseconds. */
const promptMs = 100

const kept = answering('kept', '/kept', 'kept')
const innocent = answering('innocent', '/innocent', 'innocent')
const culprit = answering('culprit', '/culprit', 'culprit')

const twoTables = contextOf([anyPort, { ...anyPort, name: 'other' }])

/** A good change of the table `http` and a bad one of the table `other`, in one response. */
const batch = tamperRoute('culprit', withBadRegex, { table: 'other' })(
  snapshotOf([kept, innocent, culprit], twoTables),
)

/** A good new listener and a bad one, in one response. */
const listenerBatch = (port: number): Snapshot =>
  withListener(badListener('z-bad'))(withTwin('twin', port)(snapshotOf([kept])))

describe.each(variants)('an Envoy in %s', (variant) => {
  test('that has refused a batch and lost its stream serves no route of it that was deleted (X1)', async () => {
    const { rig, envoy, port } = await start(variant, snapshotOf([kept], twoTables))
    await publishAndCut({ rig, envoy }, batch, ['ResponseNacked', routeType])
    rig.publish(snapshotOf([kept, culprit], twoTables))
    expect(stillServing(rig.server(), 'innocent')).toEqual([envoy.id])
    const since = rig.events.length
    envoy.wire.mend()
    await untilGone(rig, 'innocent', redialMs)
    expect(await ask(port, '/innocent')).toBe('404')
    expect(countOf(rig.events.slice(since), 'ResponseAcked', routeType)).toBeGreaterThan(0)
    await answers(port, '/culprit', '200 culprit')
  })

  test('that has refused a batch with a removal has it back after a rollback (X2)', async () => {
    const gate = await freePort()
    const both = contextOf([anyPort, { name: 'gate', address: '127.0.0.1', port: gate }])
    const { rig, envoy, port } = await start(variant, snapshotOf([kept], both))
    await answers(gate, '/kept', '200 kept')
    const without = withListener(badListener('a-bad'))(snapshotOf([kept]))
    await publishAndCut({ rig, envoy }, without, ['ResponseNacked', listenerType])
    rig.publish(snapshotOf([kept], both))
    envoy.wire.mend()
    const streams = (): number => rig.server().streams()
    await eventually(streams, (count) => count === 1, redialMs)
    await answers(gate, '/kept', '200 kept')
    rig.publish(snapshotOf([kept, innocent], both))
    for (const each of [gate, port]) await answers(each, '/innocent', '200 innocent')
  })

  test('closes the port of a refused new listener that was deleted while it was away (X3)', async () => {
    const twin = await freePort()
    const { rig, envoy, port } = await start(variant, snapshotOf([kept]))
    await publishAndCut({ rig, envoy }, listenerBatch(twin), ['ResponseNacked', listenerType])
    await answers(twin, '/kept', '200 kept')
    rig.publish(snapshotOf([kept]))
    envoy.wire.mend()
    await refusesConnections(twin, redialMs)
    expect(await ask(port, '/kept')).toBe('200 kept')
  })

  test('is healed by another server with the memory of the one that it refused (X4)', async () => {
    const twin = await freePort()
    const { rig, envoy, port } = await start(variant, snapshotOf([kept], twoTables))
    await publishAndCut({ rig, envoy }, batch, ['ResponseNacked', routeType])
    rig.publish(snapshotOf([kept], twoTables))
    await rig.restart()
    expect(stillServing(rig.server(), 'innocent')).toEqual([envoy.id])
    envoy.wire.mend()
    await untilGone(rig, 'innocent', redialMs)
    expect(await ask(port, '/innocent')).toBe('404')

    rig.publish(snapshotOf([kept]))
    await publishAndCut({ rig, envoy }, listenerBatch(twin), ['ResponseNacked', listenerType])
    await answers(twin, '/kept', '200 kept')
    rig.publish(snapshotOf([kept]))
    await rig.restart()
    envoy.wire.mend()
    await refusesConnections(twin, redialMs)
    expect(await ask(port, '/kept')).toBe('200 kept')
  })

  test('acknowledges a changed cluster at once, since its endpoints follow unchanged (X5)', async () => {
    const { rig, port, world } = await startWithService(variant)
    const delaysMs: Array<number> = []
    for (let seconds = 6n; seconds < 11n; seconds += 1n) {
      const since = rig.events.length
      let [sentAt, ackedAt] = [0, 0]
      const unwatch = rig.watch((event) => {
        if (isOf(event, 'ResponseSent', clusterType)) sentAt = performance.now()
        if (isOf(event, 'ResponseAcked', clusterType)) ackedAt = performance.now()
      })
      rig.publish(connectingWithin(seconds)(world))
      await eventually(
        () => ackedAt,
        (at) => at > 0,
      )
      unwatch()
      delaysMs.push(ackedAt - sentAt)
      expect(countOf(rig.events.slice(since), 'ResponseSent', endpointType)).toBeGreaterThan(0)
    }
    expect(median(delaysMs)).toBeLessThan(promptMs)
    expect(await ask(port, '/service')).toBe('200 service')
  })

  test('withholds its refusal while a cluster warms, and nothing is taken for its answer (X7)', async () => {
    const resolver = createSocket('udp4')
    await new Promise<void>((resolve) => resolver.bind(0, '127.0.0.1', resolve))
    const backend = await startBackend('innocent')
    onTestFinished(async () => {
      resolver.close()
      await backend.stop()
    })
    const change = withResolver(resolver.address().port)
    const { rig, envoy, port } = await start(variant, snapshotOf([kept]), { change })
    const since = rig.events.length
    const traffic = startTraffic(port, ['/innocent', '/kept'])
    rig.publish(
      warmingAndBad(
        snapshotOf([
          kept,
          forwarding('warming', '/warming', 'silent.test', 80),
          forwarding('culprit', '/culprit', '127.3.0.1', 80),
          forwarding('innocent', '/innocent', '127.3.0.2', backend.port),
        ]),
      ),
    )
    await sleep(quietMs)
    expect(countOf(rig.events.slice(since), 'ResponseAcked', clusterType)).toBe(0)
    expect(countOf(rig.events.slice(since), 'ResponseNacked', clusterType)).toBe(0)
    expect(await ask(port, '/innocent')).toBe('404')

    await answers(port, '/innocent', '200 innocent', warmedMs)
    const found = await eventually(
      () => convictions(rig.server(), 'culprit'),
      (all) => all.length > 0,
      warmedMs,
    )
    expect(found.map(({ node }) => node)).toEqual([envoy.id])
    expect(found[0]?.message).toMatch(/minimum_ring_size/)
    // Never 503, which it would be as a route whose cluster is not there.
    expect(Object.fromEntries(await traffic.stop())).toEqual({
      '/innocent': ['404', '200 innocent'],
      '/kept': ['200 kept'],
    })
  })

  test('is not believed to have dropped a table whose removal it acknowledged (X8)', async () => {
    const { rig, envoy, port } = await start(variant, snapshotOf([kept, innocent]))
    await answers(port, '/innocent', '200 innocent')
    rig.publish(withoutTable('http')(snapshotOf([kept])))
    const end = performance.now() + quietMs
    while (performance.now() < end) {
      // In this order: what it serves now it served when the ledger was read.
      const nodes = stillServing(rig.server(), 'innocent')
      if ((await ask(port, '/innocent')) === '200 innocent') expect(nodes).toEqual([envoy.id])
    }
    rig.publish(snapshotOf([kept]))
    await untilGone(rig, 'innocent')
    expect(await ask(port, '/innocent')).toBe('404')
    await answers(port, '/kept', '200 kept')
  })

  test('has proven nothing about a table by accepting the listener that names it (X9)', async () => {
    const gate = await freePort()
    const both = contextOf([anyPort, { name: 'gate', address: '127.0.0.1', port: gate }])
    const { rig, envoy, port } = await start(variant, snapshotOf([kept]))
    const since = rig.events.length
    const unwatch = rig.watch((event) => {
      if (isOf(event, 'ResponseAcked', listenerType)) envoy.wire.hold()
    })
    rig.publish(withoutInHttp(snapshotOf([kept, innocent], both)))
    await eventually(
      () => countOf(rig.events.slice(since), 'ResponseAcked', listenerType),
      (count) => count > 0,
    )
    unwatch()
    await refusesConnections(gate)
    expect(isProgrammed(rig.server(), 'innocent')).toBe(false)
    rig.publish(snapshotOf([kept], both))
    await sleep(quietMs)
    expect(stillServing(rig.server(), 'innocent')).toEqual([envoy.id])
    envoy.wire.release()
    await untilGone(rig, 'innocent')
    for (const each of [gate, port]) await answers(each, '/kept', '200 kept')
    for (const each of [gate, port]) expect(await ask(each, '/innocent')).toBe('404')

    rig.publish(snapshotOf([kept, innocent], both))
    await eventually(
      () => isProgrammed(rig.server(), 'innocent'),
      (isSo) => isSo,
    )
    for (const each of [gate, port]) await answers(each, '/innocent', '200 innocent')
  })
})

test('an Envoy in sotw gets one answer to an endpoint request that looks like an old one (X6)', async () => {
  const { rig, port, world } = await startWithService('sotw')
  const since = rig.events.length
  rig.publish(connectingWithin(7n)(world))
  await eventually(
    () => countOf(rig.events.slice(since), 'ResponseAcked', clusterType),
    (count) => count > 0,
  )
  await sleep(quietMs)
  const sent = countOf(rig.events.slice(since), 'ResponseSent', endpointType)
  // One behind the cluster, and one for the request.
  expect(sent).toBeGreaterThan(0)
  expect(sent).toBeLessThanOrEqual(2)
  expect(await ask(port, '/service')).toBe('200 service')
})

describe('an Envoy in sotw that watches nothing of a type', () => {
  test('blocks no deletion: it has no listener, and so no table (X10)', async () => {
    const rig = await startRig('sotw', snapshotOf([kept], contextOf([])))
    onTestFinished(rig.stop)
    const envoy = await rig.start()
    rig.publish(snapshotOf([kept, innocent], contextOf([])))
    rig.publish(snapshotOf([kept], contextOf([])))
    await untilGone(rig, 'innocent')
    expect((await envoy.listeners()).size).toBe(0)
  })

  test('blocks no deletion: the last cluster with endpoints has gone (X10)', async () => {
    const { rig, port, world } = await startWithService('sotw')
    const without = snapshotOf([])
    for (let round = 0; round < 2; round += 1) {
      rig.publish(without)
      await untilGone(rig, 'service')
      expect(await ask(port, '/service')).toBe('404')
      rig.publish(world)
      await answers(port, '/service', '200 service')
    }
  })
})

/** The cluster of the Service, changed under its name. */
const connectingWithin = (seconds: bigint): Tamper =>
  tamperClusters('service', (cluster) => ({ ...cluster, connectTimeout: { seconds } }))

/** The table of the listener `http` without the innocent: it stands in that of the other one alone. */
const withoutInHttp: Tamper = tamper(routeType, (tables) => [
  ...tables.filter(({ name }) => name !== 'http'),
  ...entries(viewOf(snapshotOf([kept]), defaultDataPlane)[routeType]),
])

const warmingAndBad: Tamper = (snapshot) =>
  tamperClusters('warming', thatWarms)(tamperClusters('culprit', withBadRing)(snapshot))
