import { expect, test } from 'vitest'
import {
  assignment,
  badAssignment,
  badCluster,
  changedEdsCluster,
  clusterType,
  edsCluster,
  endpointType,
  listener,
  routeType,
  silentCluster,
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
  refuses,
  type Subject,
} from './steps.js'

/** What a cluster that is not ready yet holds up, and what ends its wait. */
export const warmingScripts = ({ variant, start }: Subject): void => {
  // E3, S3
  test('a cluster without its endpoints withholds the acceptance of clusters', async () => {
    const envoy = await start()
    const { a } = envoy.backends
    const clusters = [staticCluster('old', a), edsCluster('new')]
    await bringUp(envoy, { clusters: [staticCluster('old', a)] })
    const first = envoy.send({ typeUrl: clusterType, version: '2', resources: clusters })
    await asks(envoy, endpointType, { sotw: '[new]', delta: '+[new]' })
    await envoy.noRequest(clusterType, quietMs)
    const more = [...clusters, staticCluster('more', a)]
    const second = envoy.send({ typeUrl: clusterType, version: '3', resources: more })
    await envoy.noRequest(clusterType, quietMs)
    await gives(envoy, endpointType, '1', [assignment('new', a)])
    // Delta owes an answer to each response, the state of the world to the newest alone.
    if (variant === 'delta') await accepts(envoy, first)
    await accepts(envoy, second)
    await envoy.noRequest(clusterType, quietMs)
  })

  // F8
  test('while clusters warm, route tables are accepted and work', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    const old = staticCluster('old', envoy.backends.a)
    await bringUp(envoy, {
      clusters: [old],
      listeners: [listener('l', port, 't')],
      tables: [table('t', {})],
    })
    envoy.send({ typeUrl: clusterType, version: '2', resources: [old, edsCluster('new')] })
    await gives(envoy, routeType, '2', [
      table('t', { '/old': { to: 'old' }, '/new': { to: 'new' } }),
    ])
    await answers(envoy, port, '/old', '200 a')
    expect(await envoy.request(port, '/new')).toBe('503')
    await envoy.noRequest(clusterType, 0)
  })

  // F9
  test('to remove the cluster that warms releases the acceptance', async () => {
    const envoy = await start()
    await bringUp(envoy, {})
    const first = envoy.send({
      typeUrl: clusterType,
      version: '2',
      resources: [edsCluster('new')],
    })
    await envoy.noRequest(clusterType, quietMs)
    const second = envoy.send({
      typeUrl: clusterType,
      version: '3',
      removed: variant === 'delta' ? ['new'] : [],
    })
    if (variant === 'delta') await accepts(envoy, first)
    await accepts(envoy, second)
  })

  // F10
  test('an assignment without endpoints releases the acceptance', async () => {
    const envoy = await start()
    await bringUp(envoy, {})
    const sent = envoy.send({ typeUrl: clusterType, version: '2', resources: [edsCluster('new')] })
    await envoy.noRequest(clusterType, quietMs)
    await envoy.nextRequest(endpointType)
    await gives(envoy, endpointType, '1', [assignment('new')])
    await accepts(envoy, sent)
  })

  if (variant === 'delta')
    // F11
    test('"there are no such endpoints" releases the acceptance; endpoints may come later', async () => {
      const envoy = await start()
      const port = await envoy.freePort()
      await bringUp(envoy, {
        listeners: [listener('l', port, 't')],
        tables: [table('t', { '/': { to: 'new' } })],
      })
      const sent = envoy.send({
        typeUrl: clusterType,
        version: '2',
        resources: [edsCluster('new')],
      })
      await envoy.nextRequest(endpointType)
      await envoy.noRequest(clusterType, quietMs)
      await gives(envoy, endpointType, '1', [], ['new'])
      await accepts(envoy, sent)
      await goesOn(envoy, port, '/', '503')
      await gives(envoy, endpointType, '2', [assignment('new', envoy.backends.a)])
      await answers(envoy, port, '/', '200 a')
    })

  // E8
  test('a refusal of clusters is withheld too, until the good one of them is ready', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      listeners: [listener('l', port, 't')],
      tables: [table('t', { '/': { to: 'good' } })],
    })
    const resources = [edsCluster('good'), badCluster('bad')]
    const sent = envoy.send({ typeUrl: clusterType, version: '2', resources })
    await envoy.nextRequest(endpointType)
    await envoy.noRequest(clusterType, quietMs)
    await gives(envoy, endpointType, '1', [assignment('good', envoy.backends.a)])
    expect(await refuses(envoy, sent, '1')).toContain('bad')
    await answers(envoy, port, '/', '200 a')
  })

  test('behind a withheld refusal, an acceptance with the state of the world still carries its error', async () => {
    const envoy = await start()
    await bringUp(envoy, {})
    const good = edsCluster('good')
    const first = envoy.send({
      typeUrl: clusterType,
      version: '2',
      resources: [good, badCluster('bad')],
    })
    const second = envoy.send({ typeUrl: clusterType, version: '3', resources: [good] })
    await envoy.noRequest(clusterType, quietMs)
    await envoy.nextRequest(endpointType)
    await gives(envoy, endpointType, '1', [assignment('good', envoy.backends.a)])
    if (variant === 'delta') {
      await refuses(envoy, first, '1')
      await accepts(envoy, second)
    } else {
      // Its version alone tells that this response was accepted.
      expect(await refuses(envoy, second, '3')).toContain('bad')
    }
    await gives(envoy, clusterType, '4', [good])
  })

  test('a refusal behind a withheld acceptance names the version of that one', async () => {
    const envoy = await start()
    await bringUp(envoy, {})
    const good = edsCluster('good')
    const first = envoy.send({ typeUrl: clusterType, version: '2', resources: [good] })
    const second = envoy.send({
      typeUrl: clusterType,
      version: '3',
      resources: [good, badCluster('bad')],
    })
    await envoy.nextRequest(endpointType)
    await gives(envoy, endpointType, '1', [assignment('good', envoy.backends.a)])
    if (variant === 'delta') await accepts(envoy, first)
    expect(await refuses(envoy, second, '2')).toContain('bad')
  })

  test('on a new stream clusters are not asked for before none warms any more', async () => {
    const envoy = await start()
    const { a, b } = envoy.backends
    await bringUp(envoy, { clusters: [staticCluster('old', a)] })
    const resources = [staticCluster('old', a), edsCluster('new')]
    envoy.send({ typeUrl: clusterType, version: '2', resources })
    await envoy.nextRequest(endpointType)
    await envoy.reconnect()
    await asks(envoy, endpointType, { sotw: '[new]', delta: '+[new]' })
    await envoy.noRequest(clusterType, quietMs)
    await gives(envoy, endpointType, '1', [assignment('new', b)])
    // What it never answered counts as accepted.
    await asks(envoy, clusterType, { sotw: '[] v=2', delta: 'held new=2,old=2' })
    await gives(envoy, clusterType, '3', resources)
  })

  test('a refusal of endpoints ends the wait of every cluster', async () => {
    const envoy = await start()
    await bringUp(envoy, {})
    const resources = [edsCluster('one'), edsCluster('two')]
    const sent = envoy.send({ typeUrl: clusterType, version: '2', resources })
    await envoy.nextRequest(endpointType)
    const bad = [badAssignment('one')]
    await refuses(envoy, envoy.send({ typeUrl: endpointType, version: '1', resources: bad }), '')
    await accepts(envoy, sent)
  })

  // E11, S4
  test('a changed cluster warms 15 s without its endpoints, and its old form works meanwhile', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      clusters: [edsCluster('one')],
      assignments: [assignment('one', envoy.backends.a)],
      listeners: [listener('l', port, 't')],
      tables: [table('t', { '/': { to: 'one' } })],
    })
    const sent = envoy.send({
      typeUrl: clusterType,
      version: '2',
      resources: [changedEdsCluster('one')],
    })
    // The state of the world asks again in the words of its last answer; delta asks for nothing.
    if (variant === 'sotw') await asks(envoy, endpointType, { sotw: '[one] v=1 n=n2', delta: '' })
    await envoy.noRequest(endpointType, quietMs)
    await goesOn(envoy, port, '/', '200 a')
    await envoy.noRequest(clusterType, fetchTimeoutMs - 2_000)
    await accepts(envoy, sent)
    await goesOn(envoy, port, '/', '200 a')
  }, 30_000)

  test('a changed cluster is accepted at once when its endpoints are sent again', async () => {
    const envoy = await start()
    await bringUp(envoy, {
      clusters: [edsCluster('one')],
      assignments: [assignment('one', envoy.backends.a)],
    })
    const sent = envoy.send({
      typeUrl: clusterType,
      version: '2',
      resources: [changedEdsCluster('one')],
    })
    const again = envoy.send({
      typeUrl: endpointType,
      version: '1',
      resources: [assignment('one', envoy.backends.a)],
    })
    await accepts(envoy, sent)
    if (variant === 'sotw') await asks(envoy, endpointType, { sotw: '[one] v=1 n=n2', delta: '' })
    await accepts(envoy, again)
  })

  test('a host name that nobody resolves withholds the acceptance of every cluster', async () => {
    const envoy = await start()
    await bringUp(envoy, {})
    const innocent = staticCluster('innocent', envoy.backends.a)
    const resources = [silentCluster('silent'), innocent]
    const sent = envoy.send({ typeUrl: clusterType, version: '2', resources })
    await envoy.noRequest(clusterType, 2_000)
    const removed = variant === 'delta' ? ['silent'] : []
    const without = envoy.send({
      typeUrl: clusterType,
      version: '3',
      resources: [innocent],
      removed,
    })
    if (variant === 'delta') await accepts(envoy, sent)
    await accepts(envoy, without)
  })

  test('a cluster that is not waited for withholds nothing', async () => {
    const envoy = await start()
    await bringUp(envoy, {})
    await gives(envoy, clusterType, '2', [
      silentCluster('silent', { waitForWarmOnInit: false }),
      staticCluster('innocent', envoy.backends.a),
    ])
  })
}
