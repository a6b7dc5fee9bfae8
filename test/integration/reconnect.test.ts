import { expect, test } from 'vitest'
import { eventually, freePort, startTestEnvoy } from '../support/envoy.js'

/** The longest pause of our bootstrap's back-off is 10 s; the rest is for a busy machine. */
const longestPauseMs = 11_500
/** By then an Envoy's own back-off, which goes up to 30 s, would be past ours. */
const warmUpDials = 7
const watchedDials = 5

test(
  'an Envoy that has lost its control plane for long dials it every few seconds',
  { timeout: 180_000 },
  async () => {
    const nobody = { host: '127.0.0.1', port: await freePort() }
    const envoy = await startTestEnvoy({ xds: nobody, variant: 'delta', until: 'admin' })
    const dials = async (): Promise<number> =>
      (await envoy.stat('cluster.xds_cluster.upstream_cx_connect_fail')) ?? 0
    try {
      await eventually(dials, (count) => count >= warmUpDials, 90_000)
      const pausesMs: Array<number> = []
      for (let i = 0; i < watchedDials; i++) {
        const before = await dials()
        const start = performance.now()
        await eventually(dials, (count) => count > before, 60_000)
        pausesMs.push(performance.now() - start)
      }
      expect(Math.max(...pausesMs)).toBeLessThan(longestPauseMs)
    } finally {
      await envoy.stop()
    }
  },
)
