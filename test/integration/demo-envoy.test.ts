import { connect, type Socket } from 'node:net'
import { defaultContext, snapshotOf } from 'edgewright'
import { serveXds, type XdsServer } from 'edgewright/xds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  envoyBinary,
  eventually,
  freePort,
  startTestEnvoy,
  type TestEnvoy,
} from '../support/envoy.js'

test('a real Envoy is to be had, and says its version', async () => {
  expect((await envoyBinary()).version).toMatch(/^1\.\d+\.\d+$/)
})

describe('our bootstrap', () => {
  const cleanups: Array<() => Promise<void> | void> = []
  let server: XdsServer
  let port: number
  beforeEach(async () => {
    const stopping = new AbortController()
    port = await freePort()
    server = await serveXds({ host: '127.0.0.1', port: 0 }, stopping.signal)
    const listeners = [{ name: 'http', address: '127.0.0.1', port }]
    const dataPlanes = new Map([['blue', { listeners }]])
    server.publish(snapshotOf([], { ...defaultContext, dataPlanes }))
    cleanups.push(() => (stopping.abort(), server.finished))
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  const start = async (
    options: Partial<Parameters<typeof startTestEnvoy>[0]>,
  ): Promise<TestEnvoy> => {
    const named = { variant: 'delta', id: 'one', dataPlane: 'blue' } as const
    const envoy = await startTestEnvoy({ ...named, xds: server.address, ...options })
    cleanups.push(envoy.stop)
    return envoy
  }

  test.each(['delta', 'sotw'] as const)(
    'Envoy has nothing to warn of, variant %s, and says who it is',
    async (variant) => {
      const envoy = await start({ variant, logLevel: 'warning' })
      expect([...(await envoy.listeners()).keys()]).toEqual(['http'])
      expect(JSON.parse(await envoy.admin('/server_info'))).toMatchObject({
        node: { id: 'one', cluster: 'blue' },
      })
      expect(envoy.log()).toBe('')
      await envoy.stop()
      expect(await envoy.exited).toBe('exit code 0')
    },
  )

  test('an Envoy that is full takes no more clients, and still answers on its admin interface', async () => {
    const envoy = await start({ maxConnections: 2 })
    const ends = await Promise.all([1, 2, 3].map(() => clientOf(port)))
    cleanups.push(
      ...ends.map(
        ({ socket }) =>
          () =>
            void socket.destroy(),
      ),
    )
    await eventually(
      () => ends.filter(({ socket }) => socket.closed).length,
      (closed) => closed === 1,
    )
    expect(await envoy.stat(`listener.127.0.0.1_${port}.downstream_global_cx_overflow`)).toBe(1)
    expect(await envoy.stat('http.http.downstream_cx_active')).toBe(2)
  })
})

/** An open connection that sends nothing. */
const clientOf = (port: number): Promise<{ readonly socket: Socket }> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve({ socket }))
    socket.on('error', reject).resume()
  })
