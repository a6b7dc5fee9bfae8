import { snapshotOf, type XdsEvent } from 'edgewright'
import { serveXds } from 'edgewright/xds'
import { expect, test } from 'vitest'
import { eventually, freePort, startTestEnvoy } from '../support/envoy.js'

/** The longest pause of our bootstrap's back-off, and what a busy machine adds. */
const patienceMs = 13_000
const restarts = 5

test(
  'an Envoy finds its control plane again in seconds, after one restart as after many',
  { timeout: 180_000 },
  async () => {
    const port = await freePort()
    const start = async () => {
      const stop = new AbortController()
      const events: Array<XdsEvent> = []
      const observer = (event: XdsEvent): number => events.push(event)
      const server = await serveXds({ host: '127.0.0.1', port, observer }, stop.signal)
      server.publish(snapshotOf([]))
      return {
        isFound: () => events.some(({ _tag }) => _tag === 'NodeIdentified'),
        end: async () => {
          stop.abort()
          await server.finished
        },
      }
    }
    let controlPlane = await start()
    const envoy = await startTestEnvoy({
      xds: { host: '127.0.0.1', port },
      variant: 'delta',
      until: 'admin',
    })
    try {
      for (let i = 0; i < restarts; i++) {
        await eventually(controlPlane.isFound, (isFound) => isFound, patienceMs)
        await controlPlane.end()
        // Long enough for the back-off to grow: it dials in vain meanwhile.
        await eventually(
          () => envoy.stat('cluster.xds_cluster.upstream_cx_connect_fail'),
          (failures) => (failures ?? 0) >= 3 * (i + 1),
          60_000,
        )
        controlPlane = await start()
      }
      await eventually(controlPlane.isFound, (isFound) => isFound, patienceMs)
      expect(controlPlane.isFound()).toBe(true)
    } finally {
      await envoy.stop()
      await controlPlane.end()
    }
  },
)
