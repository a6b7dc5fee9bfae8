import { createServer } from 'node:net'
import { defaultContext, type Programmed, type Variant } from 'edgewright'
import { runController, systemClock } from 'edgewright/host'
import { memoryRouteSource } from 'edgewright/memory'
import { serveXds } from 'edgewright/xds'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, freePort, request, startTestEnvoy } from '../support/envoy.js'
import { aRoute } from '../support/ledger-nodes.js'

/** A refused listener is tried again after 1 s, 2 s, 4 s and so on: this long after a few of them. */
const retriedMs = 60_000

/** Somebody else who has a port; resolves to what frees it. */
const occupy = async (port: number): Promise<() => Promise<void>> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return () => new Promise((resolve) => void server.close(() => resolve()))
}

const variants: ReadonlyArray<Variant> = ['delta', 'sotw']

test.each(variants)(
  'a route is not programmed on an Envoy in %s whose port is taken, and is as soon as it is free',
  async (variant) => {
    const port = await freePort()
    const free = await occupy(port)
    const stop = new AbortController()
    const server = await serveXds({ host: '127.0.0.1', port: 0 }, stop.signal)
    const listeners = [{ name: 'http', address: '127.0.0.1', port }]
    const said: Array<Programmed | undefined> = []
    const controlled = runController(
      {
        source: memoryRouteSource([aRoute('a', 1)]),
        sink: server,
        ledger: server,
        clock: systemClock,
        context: { ...defaultContext, dataPlanes: new Map([['edge-envoy', { listeners }]]) },
        onVerdicts: ({ verdicts }) => said.push(verdicts.get('a')?.programmed),
      },
      stop.signal,
    )
    onTestFinished(async () => {
      stop.abort()
      await Promise.all([controlled, server.finished])
    })
    const envoy = await startTestEnvoy({ xds: server.address, variant })
    onTestFinished(envoy.stop)
    const last = (): Programmed | undefined => said.at(-1)

    await eventually(last, (now) => now?._tag === 'Refused', 30_000)
    expect(last()).toMatchObject({ listener: { dataPlane: 'edge-envoy', name: 'http' } })
    expect(JSON.stringify(last())).toMatch(/cannot bind .*Address already in use/)
    await free()
    await eventually(last, (now) => now?._tag === 'Programmed', retriedMs)
    const { status } = await request(`http://127.0.0.1:${port}/a`)
    expect(status).toBe(200)
    const tags = said.map((each) => each?._tag)
    expect(tags.filter((tag) => tag === 'Programmed')).toHaveLength(1)
  },
)
