import { expect, test } from 'vitest'
import {
  assignment,
  badAssignment,
  badCluster,
  badListener,
  badTable,
  clusterType,
  edsCluster,
  endpointType,
  invalidCluster,
  invalidTable,
  listener,
  listenerType,
  routeType,
  staticCluster,
  table,
} from './resources.js'
import { answers, asks, bringUp, gives, goesOn, quietMs, refuses, type Subject } from './steps.js'

/** What is applied of a response that is refused, and what is said of it afterwards. */
export const refusalScripts = ({ variant, start }: Subject): void => {
  const removes = (...names: ReadonlyArray<string>): ReadonlyArray<string> =>
    variant === 'delta' ? names : []

  /** An Envoy with a listener and its table, and the port of a second listener. */
  const withListener = async () => {
    const envoy = await start()
    const [port, other] = [await envoy.freePort(), await envoy.freePort()]
    await bringUp(envoy, {
      clusters: [staticCluster('one', envoy.backends.a)],
      listeners: [listener('l', port, 't')],
      tables: [table('t', { '/': { to: 'one' } })],
    })
    await answers(envoy, port, '/', '200 a')
    return { envoy, port, other, one: listener('l', port, 't') }
  }

  /** An Envoy with two tables, each with a listener of its own. */
  const withTwoTables = async () => {
    const envoy = await start()
    const ports = { t1: await envoy.freePort(), t2: await envoy.freePort() }
    await bringUp(envoy, {
      listeners: [listener('l1', ports.t1, 't1'), listener('l2', ports.t2, 't2')],
    })
    await asks(envoy, routeType, { sotw: '[t1,t2]', delta: '+[t1,t2]' })
    await gives(envoy, routeType, '1', [
      table('t1', { '/': { say: 'old' } }),
      table('t2', { '/': { say: 'old' } }),
    ])
    for (const port of [ports.t1, ports.t2]) await answers(envoy, port, '/', '200 old')
    return { envoy, ports }
  }

  // S5
  test('a refusal names the nonce, and the version that was accepted last', async () => {
    const { envoy, port } = await withListener()
    const sent = envoy.send({ typeUrl: routeType, version: '2', resources: [badTable('t')] })
    expect(await refuses(envoy, sent, '1')).not.toBe('')
    await goesOn(envoy, port, '/', '200 a')
    await gives(envoy, routeType, '3', [table('t', { '/': { say: 'good' } })])
    await answers(envoy, port, '/', '200 good')
    const later = envoy.send({ typeUrl: routeType, version: '4', resources: [badTable('t')] })
    await refuses(envoy, later, '3')
    await envoy.noRequest(routeType, quietMs)
  })

  test('a refusal of the first table opens the port of its listener, which answers 404', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, { listeners: [listener('l', port, 't')] })
    await envoy.nextRequest(routeType)
    const bad = envoy.send({ typeUrl: routeType, version: '1', resources: [badTable('t')] })
    await refuses(envoy, bad, '')
    await answers(envoy, port, '/', '404')
    await gives(envoy, routeType, '2', [table('t', { '/': { say: 'here' } })])
    await answers(envoy, port, '/', '200 here')
  })

  // E9, G8
  test('a resource of another type spoils the whole response', async () => {
    const { envoy, port, one } = await withListener()
    const stray = { ...table('stray', {}), typeUrl: routeType }
    const resources = [one, listener('l2', await envoy.freePort(), 't'), stray]
    const sent = envoy.send({ typeUrl: listenerType, version: '2', resources })
    await refuses(envoy, sent, '1')
    await goesOn(envoy, port, '/', '200 a')
    await envoy.noRequest(routeType, 0)
  })

  if (variant === 'delta')
    // E9
    test.each([
      ['twice among what comes', ['two', 'two'], []],
      ['among what comes and what goes', ['two'], ['two']],
      ['twice among what goes', [], ['one', 'one']],
    ])('a name that stands %s spoils the whole response', async (_, names, removed) => {
      const { envoy, port } = await withListener()
      const resources = [
        staticCluster('one', envoy.backends.b),
        ...names.map((name) => staticCluster(name, envoy.backends.b)),
      ].slice(names.length === 0 ? 1 : 0)
      const sent = envoy.send({ typeUrl: clusterType, version: '2', resources, removed })
      expect(await refuses(envoy, sent, '1')).toContain('duplicate name')
      await goesOn(envoy, port, '/', '200 a')
    })
  else
    test('of two clusters or listeners with one name the first counts, and the other is refused', async () => {
      const { envoy, port, other } = await withListener()
      const { a, b } = envoy.backends
      const clusters = [staticCluster('one', b), staticCluster('one', a)]
      const sent = envoy.send({ typeUrl: clusterType, version: '2', resources: clusters })
      expect(await refuses(envoy, sent, '1')).toContain('duplicate cluster one found')
      await answers(envoy, port, '/', '200 b')
      const listeners = [listener('l', port, 't'), listener('l', other, 't')]
      const more = envoy.send({ typeUrl: listenerType, version: '2', resources: listeners })
      expect(await refuses(envoy, more, '1')).toContain('duplicate listener l found')
      await goesOn(envoy, port, '/', '200 b')
      expect(await envoy.request(other, '/')).toBe('refused')
    })

  test('a cluster that fails validation spoils the whole response', async () => {
    const { envoy, port } = await withListener()
    const resources = [
      staticCluster('one', envoy.backends.b),
      edsCluster('good'),
      invalidCluster('bad'),
    ]
    const sent = envoy.send({ typeUrl: clusterType, version: '2', resources })
    await refuses(envoy, sent, '1')
    await goesOn(envoy, port, '/', '200 a')
    await envoy.noRequest(endpointType, 0)
  })

  test('a table that fails validation spoils the whole response', async () => {
    const { envoy, ports } = await withTwoTables()
    const resources = [table('t1', { '/': { say: 'new' } }), invalidTable('t2')]
    const sent = envoy.send({ typeUrl: routeType, version: '2', resources })
    await refuses(envoy, sent, '1')
    await goesOn(envoy, ports.t1, '/', '200 old')
  })

  // A
  test('of a refused response the good listeners and clusters serve all the same', async () => {
    const { envoy, other, one } = await withListener()
    const clusters = [
      staticCluster('one', envoy.backends.a),
      staticCluster('two', envoy.backends.b),
      badCluster('bad'),
    ]
    const refused = envoy.send({ typeUrl: clusterType, version: '2', resources: clusters })
    expect(await refuses(envoy, refused, '1')).toContain('bad')
    await gives(envoy, routeType, '2', [table('t', { '/': { to: 'two' } })])
    const l2 = listener('l2', other, 't')
    const listeners = [one, l2, badListener('l3', await envoy.freePort())]
    const sent = envoy.send({ typeUrl: listenerType, version: '2', resources: listeners })
    expect(await refuses(envoy, sent, '1')).toContain('l3')
    await answers(envoy, other, '/', '200 b')
    await envoy.reconnect()
    await asks(envoy, clusterType, { sotw: '[] v=1', delta: 'held one=1' })
    await asks(envoy, listenerType, { sotw: '[] v=1', delta: 'held l=1' })
    await goesOn(envoy, other, '/', '200 b')
    // The state of the world heals it; incrementally the name must be taken away although it is not held.
    if (variant === 'delta') {
      await gives(envoy, listenerType, '3', [one])
      await goesOn(envoy, other, '/', '200 b')
    }
    await gives(envoy, listenerType, '4', [one], removes('l2'))
    await answers(envoy, other, '/', 'refused')
  })

  // C
  test('of a refused response removals count, and what went is still reported', async () => {
    const { envoy, port } = await withListener()
    const bad = badListener('bad', await envoy.freePort())
    const sent = envoy.send({
      typeUrl: listenerType,
      version: '2',
      resources: [bad],
      removed: removes('l'),
    })
    await refuses(envoy, sent, '1')
    await answers(envoy, port, '/', 'refused')
    const clusters = envoy.send({
      typeUrl: clusterType,
      version: '2',
      resources: [badCluster('bad')],
      removed: removes('one'),
    })
    await refuses(envoy, clusters, '1')
    await envoy.reconnect()
    await asks(envoy, clusterType, { sotw: '[] v=1', delta: 'held one=1' })
    await asks(envoy, listenerType, { sotw: '[] v=1', delta: 'held l=1' })
    await gives(envoy, listenerType, '3', [listener('l', port, 't')])
    await answers(envoy, port, '/', '503')
  })

  // B, D
  test('of a refused response a good table may work or not, and is reported as it was', async () => {
    const { envoy, ports } = await withTwoTables()
    const resources = [table('t1', { '/': { say: 'new' } }), badTable('t2')]
    const sent = envoy.send({ typeUrl: routeType, version: '2', resources })
    await refuses(envoy, sent, '1')
    await envoy.wait(envoy.settleMs)
    expect(['200 old', '200 new']).toContain(await envoy.request(ports.t1, '/'))
    expect(await envoy.request(ports.t2, '/')).toBe('200 old')
    await envoy.reconnect()
    await asks(envoy, routeType, { sotw: '[t1,t2] v=1', delta: '+[t1,t2] held t1=1,t2=1' })
  })

  // H4, H5
  test('table by table the good one is accepted, and the bad one is named by its refusal', async () => {
    const { envoy, ports } = await withTwoTables()
    const good = table('t1', { '/': { say: 'new' } })
    const both = envoy.send({ typeUrl: routeType, version: '2', resources: [badTable('t2'), good] })
    await refuses(envoy, both, '1')
    await gives(envoy, routeType, '3', [good])
    await answers(envoy, ports.t1, '/', '200 new')
    const bad = envoy.send({ typeUrl: routeType, version: '4', resources: [badTable('t2')] })
    await refuses(envoy, bad, '3')
    await goesOn(envoy, ports.t2, '/', '200 old')
    await envoy.reconnect()
    await asks(envoy, routeType, { sotw: '[t1,t2] v=3', delta: '+[t1,t2] held t1=3,t2=1' })
  })

  test('endpoints of which one assignment is bad are refused, and the bad one keeps its old form', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    const { a, b } = envoy.backends
    await bringUp(envoy, {
      clusters: [edsCluster('c1'), edsCluster('c2')],
      assignments: [assignment('c1', a), assignment('c2', a)],
      listeners: [listener('l', port, 't')],
      tables: [table('t', { '/1': { to: 'c1' }, '/2': { to: 'c2' } })],
    })
    await answers(envoy, port, '/2', '200 a')
    const resources = [assignment('c1', b), badAssignment('c2')]
    const sent = envoy.send({ typeUrl: endpointType, version: '2', resources })
    await refuses(envoy, sent, '1')
    await envoy.wait(envoy.settleMs)
    expect(['200 a', '200 b']).toContain(await envoy.request(port, '/1'))
    expect(await envoy.request(port, '/2')).toBe('200 a')
  })
}
