import { onTestFinished, expect, test } from 'vitest'
import { listenerType, routeType } from '../../src/core/type-url.js'
import { type SimulatedHost, simulatedHost } from '../../src/testing/index.js'

const route = {
  metadata: { namespace: 'test', name: 'a' },
  spec: { backends: [{ address: { host: '10.0.0.1', port: 80 } }] },
}

const started = async (): Promise<SimulatedHost> => {
  const edge = await simulatedHost()
  onTestFinished(edge.stop)
  await edge.apply(route)
  return edge
}

test('an Envoy that comes back with all tables is sent none, says nothing, and is up to date', async () => {
  const edge = await started()
  const envoy = await edge.connect()
  await edge.pass(1_000)
  const [first] = edge.operator.nodes()
  expect(first).toMatchObject({ lastSaid: { what: 'ACK' }, isUpToDate: true })
  envoy.disconnect()
  await edge.pass(1_000)
  expect(edge.operator.nodes()).toMatchObject([{ connected: false, isUpToDate: false }])
  envoy.reconnect()
  await edge.pass(1_000)
  expect(edge.operator.nodes()).toMatchObject([
    { connected: true, lastSaid: undefined, isUpToDate: true },
  ])
})

test('an Envoy that holds an older form of a table is not up to date', async () => {
  const edge = await started()
  await edge.connect({
    refuse: (type, _, bytes) =>
      type === routeType && Buffer.from(bytes).includes('rude') ? 'not such words' : undefined,
  })
  await edge.apply({ ...route, spec: { respond: { code: 200, body: 'rude' } } })
  await edge.pass(5_000)
  expect(edge.operator.nodes()).toMatchObject([{ connected: true, isUpToDate: false }])
  await edge.apply({ ...route, spec: { respond: { code: 200, body: 'fine' } } })
  await edge.pass(5_000)
  expect(edge.operator.nodes()).toMatchObject([{ connected: true, isUpToDate: true }])
})

test('what an Envoy refuses is told of it where no route can tell: of a listener, not of a route', async () => {
  const edge = await started()
  const busy = `cannot bind '0.0.0.0:10000': Address already in use`
  await edge.connect({ refuse: (type) => (type === listenerType ? busy : undefined) })
  await edge.connect({ refuse: (type) => (type === routeType ? 'no such regex' : undefined) })
  await edge.pass(5_000)
  expect(edge.operator.nodes().map(({ refusals }) => refusals)).toEqual([
    [{ type: 'Listener', name: 'http', message: expect.stringContaining(busy) as string }],
    [],
  ])
})
