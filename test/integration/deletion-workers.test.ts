import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { requestHeader, startRecordingBackends } from '../support/deletion/backends.js'
import { busyHeader, withBusyRequests } from '../support/deletion/busy-worker.js'
import { startDeletionRig } from '../support/deletion/rig.js'
import { answers } from '../support/traffic.js'

const rounds = 5
/** How long the worker is kept busy while what comes next gathers before it, in milliseconds. */
const gatherMs = 40
/**
 * And then, while the Envoy's main thread acknowledges that the route is gone, in milliseconds: less than workers are
 * given after that, and more than it takes.
 */
const busyMs = 90
/** How long a snapshot takes to the wire, at most. */
const publishMs = 100

const address = '127.7.4.1'

/** A connection of which every byte is sent when the test says so. */
const dial = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.on('error', reject).resume()
  })

test('no request that is sent after the release reaches the route through a worker that was busy', async () => {
  const backends = await startRecordingBackends()
  const rig = await startDeletionRig()
  onTestFinished(async () => {
    await rig.stop()
    await backends.stop()
  })
  rig.tamper(withBusyRequests)
  const envoy = await rig.startEnvoy({ variant: 'delta', concurrency: 1 })
  const port = await envoy.port()
  for (let round = 0; round < rounds; round += 1) {
    const name = `victim-${round}`
    const path = `/${name}`
    rig.create(name, {
      matches: [{ path: { prefix: path } }],
      backends: [{ address: { host: address, port: backends.port } }],
    })
    await answers(port, path, `200 ${address}`)
    const [first, second, late] = await Promise.all([dial(port), dial(port), dial(port)])
    const head = `GET ${path} HTTP/1.1\r\nhost: test\r\n`
    const busy = (ms: number): string =>
      `GET / HTTP/1.1\r\nhost: test\r\n${busyHeader}: ${ms}\r\n\r\n`
    rig.onGone((gone) => {
      if (gone === name) late.write(`${requestHeader}: late-${round}\r\n\r\n`)
    })
    const answered = new Promise<void>((resolve) => late.once('data', () => resolve()))
    envoy.wire.hold()
    rig.remove(name)
    await sleep(publishMs)
    // The first keeps the worker until it finds both others readable at once: it then takes in the second, and
    // behind it all that is there of the late one by that time.
    first.write(busy(gatherMs))
    await sleep(gatherMs / 4)
    second.write(busy(busyMs))
    await sleep(gatherMs / 4)
    late.write(head)
    await sleep(gatherMs / 2)
    envoy.wire.release()
    await rig.untilGone(name)
    await answered
    for (const socket of [first, second, late]) socket.destroy()
  }
  expect(backends.arrivals.filter(({ request }) => request.startsWith('late'))).toEqual([])
})
