import { test } from 'vitest'
import {
  assignment,
  badCluster,
  badListener,
  clusterType,
  edsCluster,
  endpointType,
  listener,
  listenerType,
  routeType,
  staticCluster,
  table,
} from './resources.js'
import { answers, asks, bringUp, gives, goesOn, quietMs, refuses, type Subject } from './steps.js'

/** What a new stream begins with when something was refused on the one before. */
export const returnScripts = ({ start }: Subject): void => {
  test('an Envoy whose first responses were refused in part comes back without a version, and serves', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    const one = staticCluster('one', envoy.backends.a)
    await envoy.nextRequest(clusterType)
    const clusters = [one, badCluster('bad')]
    await refuses(
      envoy,
      envoy.send({ typeUrl: clusterType, version: '1', resources: clusters }),
      '',
    )
    await envoy.nextRequest(listenerType)
    const listeners = [listener('l', port, 't'), badListener('bad', await envoy.freePort())]
    await refuses(
      envoy,
      envoy.send({ typeUrl: listenerType, version: '1', resources: listeners }),
      '',
    )
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', [table('t', { '/': { to: 'one' } })])
    await answers(envoy, port, '/', '200 a')
    await envoy.reconnect()
    await asks(envoy, clusterType, { sotw: '[]', delta: '' })
    await asks(envoy, listenerType, { sotw: '[]', delta: '' })
    // What was accepted by itself is told.
    await asks(envoy, routeType, { sotw: '[t] v=1', delta: '+[t] held t=1' })
    await goesOn(envoy, port, '/', '200 a')
  })

  test('a refusal of clusters that was not told before the stream broke is told on the next by the state of the world alone', async () => {
    const envoy = await start()
    await bringUp(envoy, {})
    const resources = [edsCluster('good'), badCluster('bad')]
    envoy.send({ typeUrl: clusterType, version: '2', resources })
    await envoy.nextRequest(endpointType)
    await envoy.reconnect()
    await envoy.nextRequest(endpointType)
    await envoy.noRequest(clusterType, quietMs)
    await gives(envoy, endpointType, '1', [assignment('good', envoy.backends.a)])
    await asks(envoy, clusterType, { sotw: '[] v=1 refused', delta: '' })
    await gives(envoy, clusterType, '3', [edsCluster('good')])
  })
}
