import { expect, test } from 'vitest'
import {
  clusterType,
  ghostCluster,
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
  refuses,
  type Subject,
} from './steps.js'

/** What comes of a cluster that is refused when it is among those that warm already. */
export const lateScripts = ({ variant, start }: Subject): void => {
  const removes = (...names: ReadonlyArray<string>): ReadonlyArray<string> =>
    variant === 'delta' ? names : []

  test('a cluster that is refused late warms for ever, and withholds what comes until it is taken away', async () => {
    const envoy = await start()
    const { a } = envoy.backends
    await bringUp(envoy, {})
    const [ghost, other] = [ghostCluster('ghost'), staticCluster('other', a)]
    // Alone or last, nobody takes notice.
    const last = envoy.send({ typeUrl: clusterType, version: '2', resources: [other, ghost] })
    expect(await refuses(envoy, last, '1')).toContain('ghost')
    await gives(envoy, clusterType, '3', [other], removes('ghost'))

    const resources = [other, ghost, staticCluster('after', a)]
    const first = envoy.send({ typeUrl: clusterType, version: '4', resources })
    await envoy.noRequest(clusterType, quietMs)
    const removed = removes('ghost')
    const second = envoy.send({ typeUrl: clusterType, version: '5', resources: [other], removed })
    if (variant === 'delta') {
      await refuses(envoy, first, '3')
      await accepts(envoy, second)
    } else expect(await refuses(envoy, second, '5')).toContain('ghost')
  })

  test('a cluster that was refused late is accepted on the next stream, is not there, and withholds what comes', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    const { a } = envoy.backends
    await bringUp(envoy, {
      listeners: [listener('l', port, 't')],
      tables: [table('t', { '/': { to: 'ghost' } })],
    })
    const resources = [staticCluster('other', a), ghostCluster('ghost')]
    const refused = envoy.send({ typeUrl: clusterType, version: '2', resources })
    expect(await refuses(envoy, refused, '1')).toContain('ghost')
    await envoy.reconnect()
    await asks(envoy, clusterType, { sotw: '[] v=1', delta: '' })
    // The form that it has is not looked at again.
    await gives(envoy, clusterType, '2', resources)
    await answers(envoy, port, '/', '503')
    const more = [...resources, staticCluster('more', a)]
    const withheld = envoy.send({ typeUrl: clusterType, version: '3', resources: more })
    await envoy.noRequest(clusterType, quietMs)
    const good = envoy.send({
      typeUrl: clusterType,
      version: '4',
      resources: [staticCluster('other', a), staticCluster('ghost', a)],
    })
    if (variant === 'delta') await accepts(envoy, withheld)
    await accepts(envoy, good)
    await answers(envoy, port, '/', '200 a')
  })

  test('a cluster that was refused late and withholds answers keeps clusters from being asked for', async () => {
    const envoy = await start()
    const { a } = envoy.backends
    await bringUp(envoy, {})
    const [ghost, other] = [ghostCluster('ghost'), staticCluster('other', a)]
    const before = [ghost, other]
    envoy.send({ typeUrl: clusterType, version: '2', resources: before })
    await envoy.noRequest(clusterType, quietMs)
    await envoy.reconnect()
    await envoy.nextRequest(listenerType)
    await envoy.noRequest(clusterType, quietMs)
    // What is sent unasked is taken.
    const same = envoy.send({ typeUrl: clusterType, version: '2', resources: before })
    await envoy.noRequest(clusterType, quietMs)
    const removed = removes('ghost')
    const last = envoy.send({ typeUrl: clusterType, version: '3', resources: [other], removed })
    if (variant === 'delta') {
      // The first request of a stream is an answer as well here.
      await asks(envoy, clusterType, {
        sotw: '',
        delta: `held ghost=2,other=2 n=${same.nonce}`,
      })
      await accepts(envoy, last)
    } else {
      // The refusal that the stream before took along; the version tells that this was accepted.
      expect(await refuses(envoy, last, '3')).toContain('ghost')
    }
  })

  test('a cluster that is refused late among the first is not waited for then; later it withholds', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    const { a, b } = envoy.backends
    const other = staticCluster('other', a)
    const resources = [ghostCluster('ghost'), other]
    await envoy.nextRequest(clusterType)
    const first = envoy.send({ typeUrl: clusterType, version: '1', resources })
    expect(await refuses(envoy, first, '')).toContain('ghost')
    await envoy.nextRequest(listenerType)
    await gives(envoy, listenerType, '1', [listener('l', port, 't')])
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', [table('t', { '/': { to: 'ghost' } })])
    await answers(envoy, port, '/', '503')
    await gives(envoy, clusterType, '2', resources)
    const more = [...resources, staticCluster('more', b)]
    const withheld = envoy.send({ typeUrl: clusterType, version: '3', resources: more })
    await envoy.noRequest(clusterType, quietMs)
    await goesOn(envoy, port, '/', '503')
    const without = envoy.send({
      typeUrl: clusterType,
      version: '4',
      resources: [other],
      removed: removes('ghost', 'more'),
    })
    if (variant === 'delta') await accepts(envoy, withheld)
    await accepts(envoy, without)
  })
}
