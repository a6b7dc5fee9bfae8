import { expect, test } from 'vitest'
import { changedListener, listener, listenerType, routeType, table } from './resources.js'
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

/** Long enough for what a test does meanwhile, in seconds. */
const drainSeconds = 4

/** What happens to connections, and to ports. */
export const listenerScripts = ({ variant, start }: Subject): void => {
  // E13, S7
  test('a listener that goes takes no new connections; old ones stay, with its table, for the drain', async () => {
    const envoy = await start({ drainSeconds })
    const port = await envoy.freePort()
    await bringUp(envoy, {
      listeners: [listener('l', port, 't')],
      tables: [table('t', { '/': { say: 'here' } })],
    })
    await answers(envoy, port, '/', '200 here')
    const [first, second] = [envoy.connect(port), envoy.connect(port)]
    for (const open of [first, second]) expect(await open.request('/')).toBe('200 here')
    await gives(envoy, listenerType, '2', [], variant === 'delta' ? ['l'] : [])
    await answers(envoy, port, '/', 'refused')
    expect(await first.request('/')).toBe('200 here')
    await gives(envoy, routeType, '2', [table('t', { '/': { say: 'changed' } })])
    await envoy.wait(envoy.settleMs)
    expect(await second.request('/')).toBe('200 changed')
    await envoy.noRequest(routeType, quietMs)
    // The names are given up when the drain ends, and no sooner.
    await asks(envoy, routeType, { sotw: '[] v=2 n=n5', delta: '-[t]' })
    expect(await second.request('/')).toBe('closed')
  })

  test('a changed listener leaves old connections on their old table for the drain', async () => {
    const envoy = await start({ drainSeconds })
    const port = await envoy.freePort()
    await bringUp(envoy, {
      listeners: [listener('l', port, 'old')],
      tables: [table('old', { '/': { say: 'old' } })],
    })
    await answers(envoy, port, '/', '200 old')
    const [first, second] = [envoy.connect(port), envoy.connect(port)]
    for (const open of [first, second]) expect(await open.request('/')).toBe('200 old')
    await gives(envoy, listenerType, '2', [changedListener('l', port, 'new')])
    await asks(envoy, routeType, { sotw: '[new,old] v=1 n=n3', delta: '+[new]' })
    // Until its table comes, the new form waits, and the old one serves.
    await goesOn(envoy, port, '/', '200 old')
    await gives(envoy, routeType, '2', [table('new', { '/': { say: 'new' } })])
    await answers(envoy, port, '/', '200 new')
    expect(await first.request('/')).toBe('200 old')
    await gives(envoy, routeType, '3', [table('old', {})])
    await envoy.wait(envoy.settleMs)
    expect(await second.request('/')).toBe('404')
    await asks(envoy, routeType, { sotw: '[new] v=3 n=n6', delta: '-[old]' })
    await goesOn(envoy, port, '/', '200 new')
  })

  test('a listener on a busy port is refused; the same bytes are accepted once it is free', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {})
    const release = await envoy.occupy(port)
    const resources = [listener('l', port, 't')]
    const busy = envoy.send({ typeUrl: listenerType, version: '2', resources })
    expect(await refuses(envoy, busy, '1')).toContain('l')
    await release()
    await accepts(envoy, envoy.send({ typeUrl: listenerType, version: '2', resources }))
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', [table('t', { '/': { say: 'here' } })])
    await answers(envoy, port, '/', '200 here')
  })
}
