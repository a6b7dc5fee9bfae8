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
  gives,
  goesOn,
  quietMs,
  type Subject,
  type World,
} from './steps.js'

/** What a change of route tables, clusters and endpoints does, and what it does not. */
export const tableScripts = ({ variant, start }: Subject): void => {
  const forwarding = (port: number): World => ({
    listeners: [listener('l', port, 't')],
    tables: [table('t', { '/': { to: 'one' } })],
  })

  /** An Envoy that sends everything to the backend `a`, which stands in its cluster. */
  const startFixed = async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      clusters: [staticCluster('one', envoy.backends.a)],
      ...forwarding(port),
    })
    return { envoy, port }
  }
  /** The same with a cluster whose endpoints were sent apart from it. */
  const startFound = async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      clusters: [edsCluster('one')],
      assignments: [assignment('one', envoy.backends.a)],
      ...forwarding(port),
    })
    return { envoy, port }
  }

  // E4
  test('a table that names an unknown cluster is accepted, and its route answers 503', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, forwarding(port))
    await answers(envoy, port, '/', '503')
  })

  // E6
  test('a table without a route takes the route away, on open connections too', async () => {
    const { envoy, port } = await startFixed()
    await answers(envoy, port, '/', '200 a')
    const open = envoy.connect(port)
    expect(await open.request('/')).toBe('200 a')
    await gives(envoy, routeType, '2', [table('t', {})])
    await envoy.wait(envoy.settleMs)
    expect(await open.request('/')).toBe('404')
    await answers(envoy, port, '/', '404')
  })

  // E5, S6
  test('to take a table away is accepted, and changes nothing', async () => {
    const { envoy, port } = await startFixed()
    await answers(envoy, port, '/', '200 a')
    await gives(envoy, routeType, '2', [], variant === 'delta' ? ['t'] : [])
    await goesOn(envoy, port, '/', '200 a')
    await gives(envoy, routeType, '3', [table('t', { '/': { say: 'again' } })])
    await answers(envoy, port, '/', '200 again')
  })

  // E7
  test('to take endpoints away is accepted, and they stay in use', async () => {
    const { envoy, port } = await startFound()
    await answers(envoy, port, '/', '200 a')
    await gives(envoy, endpointType, '2', [], variant === 'delta' ? ['one'] : [])
    await goesOn(envoy, port, '/', '200 a')
    await gives(envoy, endpointType, '3', [assignment('one', envoy.backends.b)])
    await answers(envoy, port, '/', '200 b')
    await gives(envoy, endpointType, '4', [assignment('one')])
    await answers(envoy, port, '/', '503')
  })

  // E10
  test('a cluster goes although routes lead there; back, it needs its endpoints again', async () => {
    const { envoy, port } = await startFound()
    await answers(envoy, port, '/', '200 a')
    await gives(envoy, clusterType, '2', [], variant === 'delta' ? ['one'] : [])
    await asks(envoy, endpointType, { sotw: '[] v=1 n=n2', delta: '-[one]' })
    await answers(envoy, port, '/', '503')
    const back = envoy.send({ typeUrl: clusterType, version: '3', resources: [edsCluster('one')] })
    await asks(envoy, endpointType, { sotw: '[one] v=1 n=n2', delta: '+[one]' })
    await envoy.noRequest(clusterType, quietMs)
    await goesOn(envoy, port, '/', '503')
    await gives(envoy, endpointType, '2', [assignment('one', envoy.backends.b)])
    await accepts(envoy, back)
    await answers(envoy, port, '/', '200 b')
  })

  // G4
  test('a resource that was not asked for is accepted, and has no effect', async () => {
    const { envoy, port } = await startFound()
    await gives(envoy, routeType, '2', [table('stray', { '/': { say: 'stray' } })])
    await gives(envoy, endpointType, '2', [assignment('stray', envoy.backends.b)])
    await goesOn(envoy, port, '/', '200 a')
    if (variant === 'delta') {
      await envoy.reconnect()
      await asks(envoy, endpointType, { sotw: '', delta: '+[one] held one=1' })
      await asks(envoy, routeType, { sotw: '', delta: '+[t] held t=1' })
    }
  })

  // G5, G2c
  test('new content under an old version is applied', async () => {
    const { envoy, port } = await startFixed()
    await answers(envoy, port, '/', '200 a')
    await gives(envoy, routeType, '1', [table('t', { '/': { say: 'new' } })])
    await answers(envoy, port, '/', '200 new')
    await gives(envoy, routeType, '1', [table('t', { '/': { to: 'one' } })])
    await gives(envoy, clusterType, '1', [staticCluster('one', envoy.backends.b)])
    await answers(envoy, port, '/', '200 b')
  })

  if (variant === 'delta')
    // F6
    test('to take away what is unknown is accepted, also at the beginning of a stream', async () => {
      const envoy = await start()
      await envoy.nextRequest(clusterType)
      await gives(envoy, clusterType, '1', [staticCluster('one', envoy.backends.a)], ['nobody'])
      await gives(envoy, clusterType, '2', [], ['nobody'])
      await envoy.reconnect()
      await asks(envoy, clusterType, { sotw: '', delta: 'held one=1' })
      await gives(envoy, clusterType, '1', [], ['nobody'])
    })
  else
    // S8, S9
    test('of a type that nobody watches a response is noted, or answered with the old version', async () => {
      const envoy = await start()
      const { a } = envoy.backends
      await bringUp(envoy, { clusters: [edsCluster('one')], assignments: [assignment('one', a)] })
      await gives(envoy, clusterType, '2', [])
      await asks(envoy, endpointType, { sotw: '[] v=1 n=n2', delta: '' })
      const resources = [assignment('one', a)]
      const { nonce } = envoy.send({ typeUrl: endpointType, version: '2', resources })
      await asks(envoy, endpointType, { sotw: `[] v=1 n=${nonce}`, delta: '' })
      const empty = envoy.send({ typeUrl: endpointType, version: '3' })
      await envoy.noRequest(endpointType, quietMs)
      envoy.send({ typeUrl: clusterType, version: '3', resources: [edsCluster('two')] })
      await asks(envoy, endpointType, { sotw: `[two] v=3 n=${empty.nonce}`, delta: '' })
    })

  test('a new stream asks for a type of which nothing is wanted any more with the state of the world only', async () => {
    const envoy = await start()
    const { a } = envoy.backends
    await bringUp(envoy, { clusters: [edsCluster('one')], assignments: [assignment('one', a)] })
    await gives(envoy, clusterType, '2', [], variant === 'delta' ? ['one'] : [])
    await envoy.nextRequest(endpointType)
    await envoy.reconnect()
    await envoy.nextRequest(listenerType)
    if (variant === 'sotw') await asks(envoy, endpointType, { sotw: '[] v=1', delta: '' })
    else await envoy.noRequest(endpointType, quietMs)
  })
}
