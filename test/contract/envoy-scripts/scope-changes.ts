import { expect, test } from 'vitest'
import type { DiscoveryRequest } from '../../../src/core/xds/messages.js'
import { listener, listenerType, routeType, table } from './resources.js'
import {
  inFirst,
  inSecond,
  scope,
  scopedListener,
  scopeType,
  shardScope,
  shardScopes,
  shardTableItem,
  shardTables,
} from './scope-resources.js'
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

const shards = 2
const scopes = shardScopes(shards)
const [first, second] = [shardScope(shards, 0), shardScope(shards, 1)]
const tables = shardTables(shards)

const conflict = (one: string, other: string): string =>
  `Error adding/updating scoped route(s): scope key conflict found, first scope is '${one}', second scope is '${other}'`

/** What becomes of scopes that come, change and go, and of those that nobody needs any more. */
export const scopeChangeScripts = ({ variant, start }: Subject): void => {
  const startScoped = async () => {
    const envoy = await start({ drainSeconds: 3 })
    const port = await envoy.freePort()
    await bringUp(envoy, { listeners: [scopedListener('l', port, shards)], scopes, tables })
    await answers(envoy, port, '/', '200 0', inFirst)
    await answers(envoy, port, '/', '200 1', inSecond)
    return { envoy, port }
  }

  test('a scope may lead to a table that has not come: its requests are answered 404 until then', async () => {
    const { envoy, port } = await startScoped()
    const moved = scope('2-1', '2-1', 'elsewhere')
    const sent = envoy.send({ typeUrl: scopeType, version: '2', resources: [first, moved] })
    await asks(envoy, routeType, {
      sotw: '[elsewhere,shard-2-0] v=1 n=n4',
      delta: '+[elsewhere] -[shard-2-1]',
    })
    await accepts(envoy, sent)
    await answers(envoy, port, '/', '404', inSecond)
    await goesOn(envoy, port, '/', '200 0', inFirst)
    await gives(envoy, routeType, '2', [table('elsewhere', { '/': { say: 'there' } })])
    await answers(envoy, port, '/', '200 there', inSecond)
    // A table that was given up has to be sent again.
    await gives(envoy, scopeType, '3', scopes)
    await asks(envoy, routeType, {
      sotw: '[shard-2-0,shard-2-1] v=2 n=n6',
      delta: '+[shard-2-1] -[elsewhere]',
    })
    await answers(envoy, port, '/', '404', inSecond)
    await gives(envoy, routeType, '3', [shardTableItem(2, 1, 'again')])
    await answers(envoy, port, '/', '200 again', inSecond)
  })

  test('a scope that goes takes its requests with it, and its table is given up', async () => {
    const { envoy, port } = await startScoped()
    if (variant === 'delta') await gives(envoy, scopeType, '2', [], ['2-0'])
    else await gives(envoy, scopeType, '2', [second])
    await asks(envoy, routeType, { sotw: '[shard-2-1] v=1 n=n4', delta: '-[shard-2-0]' })
    await answers(envoy, port, '/', '404', inFirst)
    await goesOn(envoy, port, '/', '200 1', inSecond)
  })

  test('a key may pass to another scope in one response, and the table stays', async () => {
    const { envoy, port } = await startScoped()
    const heir = scope('heir', '2-0', 'shard-2-0')
    await gives(envoy, scopeType, '2', [second, heir], variant === 'delta' ? ['2-0'] : [])
    await envoy.noRequest(routeType, quietMs)
    await goesOn(envoy, port, '/', '200 0', inFirst)
    await goesOn(envoy, port, '/', '200 1', inSecond)
  })

  test('two scopes with one key are refused, and nothing of their response is applied', async () => {
    const { envoy, port } = await startScoped()
    const send = async (resources: typeof scopes, removed: ReadonlyArray<string> = []) =>
      refuses(envoy, envoy.send({ typeUrl: scopeType, version: 'bad', resources, removed }), '1')
    const moved = scope('2-1', '2-1', 'elsewhere')
    expect(await send([first, moved, scope('twin', '2-0', 'new')])).toBe(conflict('2-0', 'twin'))
    expect(await send([moved, scope('x', 'x', 'x'), scope('y', 'x', 'y')])).toBe(conflict('x', 'y'))
    if (variant === 'delta') {
      expect(await send([scope('twin', '2-0', 'new')])).toBe(conflict('2-0', 'twin'))
      expect(await send([scope('x', 'x', 'x'), scope('y', 'x', 'y')], ['2-0'])).toBe(
        conflict('x', 'y'),
      )
    }
    await envoy.noRequest(routeType, quietMs)
    await goesOn(envoy, port, '/', '200 0', inFirst)
    await goesOn(envoy, port, '/', '200 1', inSecond)
  })

  test('a scope that stands twice is refused, and so is one without a table', async () => {
    const { envoy, port } = await startScoped()
    const send = async (...resources: typeof scopes) =>
      refuses(envoy, envoy.send({ typeUrl: scopeType, version: 'bad', resources }), '1')
    expect(await send(first, second, scope('2-0', 'x', 'shard-2-0'))).toBe(
      variant === 'delta'
        ? 'duplicate name 2-0 found among added/updated resources'
        : "Error adding/updating scoped route(s): duplicate scoped route configuration '2-0' found",
    )
    expect(await send(first, second, scope('x', 'x', ''))).toBe(
      'route_configuration_name is empty.',
    )
    await goesOn(envoy, port, '/', '200 0', inFirst)
  })

  test('a draining listener keeps its scopes and tables, and takes what changes in them', async () => {
    const { envoy, port } = await startScoped()
    const [one, two] = [envoy.connect(port), envoy.connect(port)]
    for (const open of [one, two]) expect(await open.request('/', inFirst)).toBe('200 0')
    await gives(envoy, listenerType, '2', [listener('l', port, 'whole')])
    await asks(envoy, routeType, {
      sotw: '[shard-2-0,shard-2-1,whole] v=1 n=n4',
      delta: '+[whole]',
    })
    await gives(envoy, routeType, '2', [table('whole', { '/': { say: 'whole' } })])
    await answers(envoy, port, '/', '200 whole', inFirst)
    expect(await one.request('/', inFirst)).toBe('200 0')
    await gives(envoy, routeType, '3', [shardTableItem(2, 0, 'new')])
    await envoy.wait(envoy.settleMs)
    expect(await two.request('/', inFirst)).toBe('200 new')
    await gives(envoy, scopeType, '2', [second], variant === 'delta' ? ['2-0'] : [])
    await asks(envoy, routeType, { sotw: '[shard-2-1,whole] v=3 n=n7', delta: '-[shard-2-0]' })
    await envoy.wait(envoy.settleMs)
    expect(await one.request('/', inFirst)).toBe('404')
    await asks(envoy, routeType, { sotw: '[whole] v=3 n=n7', delta: '-[shard-2-1]' })
    await envoy.noRequest(scopeType, quietMs)
  })

  /** An Envoy whose last listener by scopes has drained, with the tables that it gave up one by one. */
  const startForgotten = async () => {
    const { envoy, port } = await startScoped()
    await gives(envoy, listenerType, '2', [], variant === 'delta' ? ['l'] : [])
    const requests = [await envoy.nextRequest(routeType), await envoy.nextRequest(routeType)]
    await envoy.noRequest(scopeType, quietMs)
    return { envoy, port, requests }
  }

  test('without a listener that needs them scopes are forgotten, and only tables are given up', async () => {
    const { requests } = await startForgotten()
    const names = requests.map(namesOf)
    if (variant === 'delta') expect(names.flat().sort()).toEqual(['shard-2-0', 'shard-2-1'])
    else expect(names.map(({ length }) => length)).toEqual([1, 0])
  })

  test('scopes that nobody needs are taken in delta, and answered with the old version else', async () => {
    const { envoy } = await startForgotten()
    const { nonce } = envoy.send({ typeUrl: scopeType, version: '2', resources: scopes })
    await asks(envoy, scopeType, { sotw: `[] v=1 n=${nonce}`, delta: `n=${nonce}` })
    const empty = envoy.send({ typeUrl: scopeType, version: '3' })
    if (variant === 'delta') await accepts(envoy, empty)
    else await envoy.noRequest(scopeType, quietMs)
    await envoy.reconnect()
    await asks(envoy, scopeType, { sotw: '[] v=3', delta: 'held 2-0=2,2-1=2' })
  })

  test('whoever needs scopes again knows none, though a delta client says so and asks for none', async () => {
    const { envoy, port } = await startForgotten()
    const again = (version: string, serverName: string) =>
      gives(envoy, listenerType, version, [scopedListener('l', port, shards, { serverName })])
    await again('3', 'a')
    if (variant === 'sotw') await asks(envoy, scopeType, { sotw: '[] v=1 n=n3', delta: '' })
    else await envoy.noRequest(scopeType, quietMs)
    await goesOn(envoy, port, '/', 'refused')
    await envoy.reconnect()
    await asks(envoy, scopeType, { sotw: '[] v=1', delta: 'held 2-0=1,2-1=1' })
    if (variant === 'sotw') await asks(envoy, routeType, { sotw: '[] v=1', delta: '' })
    else await envoy.noRequest(routeType, quietMs)
    await gives(envoy, scopeType, '1', scopes)
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', tables)
    await answers(envoy, port, '/', '200 0', inFirst)
  })

  test('a new stream asks for scopes before their tables', async () => {
    const { envoy, port } = await startScoped()
    await envoy.reconnect()
    await asks(envoy, listenerType, { sotw: '[] v=1', delta: 'held l=1' })
    await asks(envoy, scopeType, { sotw: '[] v=1', delta: 'held 2-0=1,2-1=1' })
    await asks(envoy, routeType, {
      sotw: '[shard-2-0,shard-2-1] v=1',
      delta: '+[shard-2-0,shard-2-1] held shard-2-0=1,shard-2-1=1',
    })
    await goesOn(envoy, port, '/', '200 1', inSecond)
    if (variant === 'sotw') return
    await gives(envoy, scopeType, '2', [], ['2-0'])
    await answers(envoy, port, '/', '404', inFirst)
  })
}

const namesOf = (request: DiscoveryRequest): ReadonlyArray<string> =>
  request._tag === 'Delta' ? request.unsubscribe : request.resourceNames
