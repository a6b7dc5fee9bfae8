import { expect, test } from 'vitest'
import { envoyBinary, freePort, startTestEnvoy } from '../support/envoy.js'

test('a real Envoy is to be had, and says its version', async () => {
  expect((await envoyBinary()).version).toMatch(/^1\.\d+\.\d+$/)
})

test.each(['delta', 'sotw'] as const)(
  'Envoy takes the bootstrap as it is, variant %s, and says who it is',
  async (variant) => {
    const xds = { host: '127.0.0.1', port: await freePort() }
    const envoy = await startTestEnvoy({
      xds,
      variant,
      id: 'one',
      dataPlane: 'blue',
      until: 'admin',
    })
    try {
      expect(JSON.parse(await envoy.admin('/server_info'))).toMatchObject({
        node: { id: 'one', cluster: 'blue' },
      })
      expect(envoy.log()).not.toMatch(/error|deprecated/i)
    } finally {
      await envoy.stop()
    }
    expect(await envoy.exited).toBe('exit code 0')
  },
)
