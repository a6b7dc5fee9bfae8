import { expect, test } from 'vitest'
import {
  assignment,
  clusterType,
  edsCluster,
  endpointType,
  listener,
  listenerType,
  routeType,
  staticCluster,
  table,
} from './resources.js'
import {
  accepts,
  answers,
  asks,
  bringUp,
  fetchTimeoutMs,
  gives,
  goesOn,
  quietMs,
  type Subject,
} from './steps.js'

/** How an Envoy comes up. */
export const startScripts = ({ variant, start }: Subject): void => {
  test('the first request is for all clusters, and names the node', async () => {
    const envoy = await start()
    const request = await envoy.nextRequest(clusterType)
    expect(request.node?.id).not.toBe('')
    expect(request.responseNonce).toBe('')
    if (request._tag === 'Sotw') expect(request.resourceNames).toEqual([])
    else expect([request.subscribe, request.unsubscribe]).toEqual([[], []])
    await envoy.noRequest(listenerType, quietMs)
  })

  // E1
  test('the first clusters are accepted at once; listeners are asked for once all have endpoints', async () => {
    const envoy = await start()
    await envoy.nextRequest(clusterType)
    await gives(envoy, clusterType, '1', [edsCluster('one'), edsCluster('two')])
    await asks(envoy, endpointType, { sotw: '[one,two]', delta: '+[one,two]' })
    await gives(envoy, endpointType, '1', [assignment('one', envoy.backends.a)])
    await envoy.noRequest(listenerType, quietMs)
    await gives(envoy, endpointType, '2', [assignment('two', envoy.backends.b)])
    await asks(envoy, listenerType, { sotw: '[]', delta: '' })
  })

  test('an empty answer about clusters brings the request for listeners', async () => {
    const envoy = await start()
    await envoy.nextRequest(clusterType)
    await gives(envoy, clusterType, '1', [])
    await asks(envoy, listenerType, { sotw: '[]', delta: '' })
    await gives(envoy, listenerType, '1', [])
    await envoy.noRequest(routeType, quietMs)
    await envoy.noRequest(endpointType, 0)
  })

  // E2, E12
  test.each([
    ['the first listener', []],
    ['a later listener', ['before']],
  ])('%s is accepted at once; its port opens when its table comes', async (_, before) => {
    const envoy = await start()
    const port = await envoy.freePort()
    const other = await envoy.freePort()
    const old = before.map((name) => listener(name, other, name))
    const tables = before.map((name) => table(name, {}))
    await bringUp(envoy, { listeners: old, tables })
    await gives(envoy, listenerType, '2', [...old, listener('new', port, 'table')])
    const request = await envoy.nextRequest(routeType)
    const names = request._tag === 'Sotw' ? request.resourceNames : request.subscribe
    expect(names).toContain('table')
    await goesOn(envoy, port, '/', 'refused')
    await gives(envoy, routeType, '2', [table('table', { '/': { say: 'here' } })])
    await answers(envoy, port, '/', '200 here')
  })

  // E14, S10
  test('a new stream asks for everything again, with what was accepted last', async () => {
    const envoy = await start()
    const { a } = envoy.backends
    await bringUp(envoy, {
      clusters: [edsCluster('one'), staticCluster('two', a)],
      assignments: [assignment('one', a)],
      listeners: [listener('l', await envoy.freePort(), 't')],
      tables: [table('t', {})],
    })
    const later = envoy.send({ typeUrl: routeType, version: '2', resources: [table('t', {})] })
    await accepts(envoy, later)
    await envoy.reconnect()
    await asks(envoy, clusterType, { sotw: '[] v=1', delta: 'held one=1,two=1' })
    await asks(envoy, endpointType, { sotw: '[one] v=1', delta: '+[one] held one=1' })
    await asks(envoy, listenerType, { sotw: '[] v=1', delta: 'held l=1' })
    await asks(envoy, routeType, { sotw: '[t] v=2', delta: '+[t] held t=2' })
  })

  test('without a stream an Envoy goes on with what it has', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      clusters: [staticCluster('one', envoy.backends.a)],
      listeners: [listener('l', port, 't')],
      tables: [table('t', { '/': { to: 'one' } })],
    })
    await answers(envoy, port, '/', '200 a')
    await envoy.reconnect()
    await goesOn(envoy, port, '/', '200 a')
  })

  test('a listener opens after 15 s without its table, and answers 404', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, { listeners: [listener('l', port, 't')] })
    await envoy.wait(fetchTimeoutMs - 1_000)
    expect(await envoy.request(port, '/')).toBe('refused')
    await answers(envoy, port, '/', '404')
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', [table('t', { '/': { say: 'here' } })])
    await answers(envoy, port, '/', '200 here')
  }, 30_000)

  if (variant === 'delta')
    // F12
    test('"there is no such table" does not open the port of a listener', async () => {
      const envoy = await start()
      const port = await envoy.freePort()
      await bringUp(envoy, { listeners: [listener('l', port, 't')] })
      await asks(envoy, routeType, { sotw: '', delta: '+[t]' })
      await gives(envoy, routeType, '1', [], ['t'])
      await envoy.wait(500)
      expect(await envoy.request(port, '/')).toBe('refused')
      await gives(envoy, routeType, '2', [table('t', { '/': { say: 'here' } })])
      await answers(envoy, port, '/', '200 here')
    })
}
