import { expect, test } from 'vitest'
import type { EnvoyUnderTest, Item } from '../../support/scripted-envoy.js'
import { badTable, listener, listenerType, routeType, table } from './resources.js'
import {
  inFirst,
  inSecond,
  scope,
  scopedListener,
  scopeType,
  shardScopes,
  shardTableItem,
  shardTables,
} from './scope-resources.js'
import {
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

const shards = 2
const scopes = shardScopes(shards)
const tables = shardTables(shards)

/** What a listener waits for that finds its tables by scopes. */
export const scopeWaitScripts = ({ variant, start }: Subject): void => {
  /** An Envoy that serves, without a listener by scopes. */
  const startServing = async (...listeners: ReadonlyArray<Item>) => {
    const envoy = await start({ drainSeconds: 2 })
    await bringUp(envoy, { listeners, tables: listeners.map(({ name }) => saying(name)) })
    return { envoy, port: await envoy.freePort(), other: await envoy.freePort() }
  }
  const saying = (name: string) => table(name, { '/': { say: name } })
  const isServed = async (envoy: EnvoyUnderTest, port: number) => {
    await answers(envoy, port, '/', '200 0', inFirst)
    await answers(envoy, port, '/', '200 1', inSecond)
  }

  test.each([
    ['the first listener', []],
    ['a later listener', ['before']],
  ])(
    '%s by scopes is accepted at once; its port opens when scopes and all tables have come',
    async (_, before) => {
      const envoy = await start()
      const port = await envoy.freePort()
      const at = await envoy.freePort()
      const old = before.map((name) => listener(name, at, name))
      await bringUp(envoy, { listeners: old, tables: before.map(saying) })
      await gives(envoy, listenerType, '2', [...old, scopedListener('l', port, shards)])
      await asks(envoy, scopeType, { sotw: '[]', delta: '' })
      await goesOn(envoy, port, '/', 'refused')
      await gives(envoy, scopeType, '1', scopes)
      const request = await envoy.nextRequest(routeType)
      const names = request._tag === 'Sotw' ? request.resourceNames : request.subscribe
      expect(names).toEqual(expect.arrayContaining(['shard-2-0', 'shard-2-1']))
      await goesOn(envoy, port, '/', 'refused')
      await gives(envoy, routeType, '2', tables.slice(0, 1))
      await goesOn(envoy, port, '/', 'refused')
      await gives(envoy, routeType, '3', tables.slice(1))
      await isServed(envoy, port)
    },
  )

  test('no scopes at all are an answer', async () => {
    const { envoy, port } = await startServing()
    await gives(envoy, listenerType, '2', [scopedListener('l', port, shards)])
    await envoy.nextRequest(scopeType)
    await gives(envoy, scopeType, '1', [])
    await answers(envoy, port, '/', '404', inFirst)
    await envoy.noRequest(routeType, 0)
  })

  test('scopes that are refused are an answer, and so are tables', async () => {
    const { envoy, port, other } = await startServing()
    await gives(envoy, listenerType, '2', [scopedListener('l', port, shards)])
    await envoy.nextRequest(scopeType)
    const resources = [...scopes, scope('twin', '2-0', 'shard-2-0')]
    await refuses(envoy, envoy.send({ typeUrl: scopeType, version: '1', resources }), '')
    await answers(envoy, port, '/', '404', inFirst)
    await gives(envoy, scopeType, '2', scopes)
    await envoy.nextRequest(routeType)
    const bad = { typeUrl: routeType, version: '2', resources: [badTable('shard-2-0')] }
    const second = scopedListener('second', other, shards, {}, 1)
    const first = scopedListener('l', port, shards)
    await gives(envoy, listenerType, '3', [first, second])
    if (variant === 'sotw') await envoy.nextRequest(scopeType)
    await gives(envoy, scopeType, '2', scopes)
    await goesOn(envoy, other, '/', 'refused')
    await refuses(envoy, envoy.send(bad), '')
    await answers(envoy, other, '/', '404', inFirst)
    await gives(envoy, routeType, '3', tables)
    for (const each of [port, other]) await isServed(envoy, each)
  })

  test('a listener opens after 15 s without scopes, and answers 404', async () => {
    const { envoy, port } = await startServing()
    await gives(envoy, listenerType, '2', [scopedListener('l', port, shards)])
    await envoy.nextRequest(scopeType)
    await envoy.wait(fetchTimeoutMs - 1_000)
    expect(await envoy.request(port, '/', inFirst)).toBe('refused')
    await answers(envoy, port, '/', '404', inFirst)
    await gives(envoy, scopeType, '1', scopes)
    await envoy.nextRequest(routeType)
    await goesOn(envoy, port, '/', '404', inFirst)
    await gives(envoy, routeType, '1', tables)
    await isServed(envoy, port)
  }, 30_000)

  test('a listener opens 15 s after its scopes without one of their tables, which alone is missed', async () => {
    const { envoy, port } = await startServing()
    await gives(envoy, listenerType, '2', [scopedListener('l', port, shards)])
    await envoy.nextRequest(scopeType)
    await envoy.wait(2_000)
    await gives(envoy, scopeType, '1', scopes)
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', tables.slice(0, 1))
    await envoy.wait(fetchTimeoutMs - 1_000)
    expect(await envoy.request(port, '/', inFirst)).toBe('refused')
    await answers(envoy, port, '/', '200 0', inFirst)
    await goesOn(envoy, port, '/', '404', inSecond)
    await gives(envoy, routeType, '2', tables.slice(1))
    await isServed(envoy, port)
  }, 30_000)

  test('of listeners that share their scopes only the first waits, and others open without them', async () => {
    const { envoy, port, other } = await startServing()
    const both = [scopedListener('one', port, shards), scopedListener('two', other, shards)]
    await gives(envoy, listenerType, '2', both)
    await asks(envoy, scopeType, { sotw: '[]', delta: '' })
    await answers(envoy, other, '/', '404', inFirst)
    expect(await envoy.request(port, '/', inFirst)).toBe('refused')
    await gives(envoy, scopeType, '1', scopes)
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', tables.slice(0, 1))
    await answers(envoy, other, '/', '200 0', inFirst)
    await goesOn(envoy, other, '/', '404', inSecond)
    expect(await envoy.request(port, '/', inFirst)).toBe('refused')
    await gives(envoy, routeType, '2', tables.slice(1))
    for (const each of [port, other]) await isServed(envoy, each)
  })

  test.each([
    ['starts', false],
    ['serves', true],
  ])(
    'where an Envoy %s, a listener that goes before its scopes come takes nothing from another',
    async (_, serves) => {
      const envoy = await start()
      const [port, other] = [await envoy.freePort(), await envoy.freePort()]
      const first = scopedListener('one', port, shards)
      await bringUp(envoy, { listeners: serves ? [] : [first] })
      if (serves) await gives(envoy, listenerType, '2', [first])
      await envoy.nextRequest(scopeType)
      const removed = variant === 'delta' ? ['one'] : []
      await gives(envoy, listenerType, '3', [scopedListener('two', other, shards)], removed)
      if (variant === 'sotw') await asks(envoy, scopeType, { sotw: '[]', delta: '' })
      else await envoy.noRequest(scopeType, quietMs)
      await goesOn(envoy, other, '/', 'refused')
      await gives(envoy, scopeType, '1', scopes)
      await envoy.nextRequest(routeType)
      await goesOn(envoy, other, '/', 'refused')
      await gives(envoy, routeType, '1', tables)
      await isServed(envoy, other)
      expect(await envoy.request(port, '/', inFirst)).toBe('refused')
    },
  )

  test.each([
    ['starts', false],
    ['serves', true],
  ])(
    'where an Envoy %s, a form that takes the place of one that waits for shared scopes opens without them',
    async (_, serves) => {
      const envoy = await start()
      const port = await envoy.freePort()
      const first = scopedListener('l', port, shards)
      await bringUp(envoy, { listeners: serves ? [] : [first] })
      if (serves) await gives(envoy, listenerType, '2', [first])
      await envoy.nextRequest(scopeType)
      await goesOn(envoy, port, '/', 'refused')
      const changed = scopedListener('l', port, shards, { serverName: 'changed' })
      await gives(envoy, listenerType, '3', [changed])
      await envoy.noRequest(scopeType, quietMs)
      await answers(envoy, port, '/', '404', inFirst)
      await gives(envoy, scopeType, '1', scopes)
      await envoy.nextRequest(routeType)
      await gives(envoy, routeType, '1', tables)
      await isServed(envoy, port)
    },
  )

  test('while an Envoy starts no listener opens before one that waits for scopes', async () => {
    const envoy = await start()
    const [port, other] = [await envoy.freePort(), await envoy.freePort()]
    const both = [scopedListener('one', port, shards), scopedListener('two', other, shards)]
    await bringUp(envoy, { listeners: both })
    await envoy.nextRequest(scopeType)
    await gives(envoy, listenerType, '2', [...both, listener('w', await envoy.freePort(), 'w')])
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', [saying('w')])
    for (const each of [port, other]) await goesOn(envoy, each, '/', 'refused')
    await gives(envoy, scopeType, '1', scopes)
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '2', tables)
    for (const each of [port, other]) await isServed(envoy, each)
  })

  test('listeners that share no source wait each for itself, and leave each its old table until then', async () => {
    const { envoy, ...ports } = await startServing()
    const [one, two] = [ports.port, ports.other]
    await gives(envoy, listenerType, '2', [
      listener('one', one, 'one'),
      listener('two', two, 'two'),
    ])
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', [saying('one'), saying('two')])
    for (const [port, name] of [
      [one, 'one'],
      [two, 'two'],
    ] as const)
      await answers(envoy, port, '/', `200 ${name}`)
    await gives(envoy, listenerType, '3', [
      scopedListener('one', one, shards, {}, 1),
      scopedListener('two', two, shards, {}, 2),
    ])
    await asks(envoy, scopeType, { sotw: '[]', delta: '' })
    await goesOn(envoy, one, '/', '200 one')
    await goesOn(envoy, two, '/', '200 two')
    await gives(envoy, scopeType, '1', scopes)
    await asks(envoy, routeType, {
      sotw: '[one,shard-2-0,shard-2-1,two] v=1 n=n4',
      delta: '+[shard-2-0,shard-2-1]',
    })
    await gives(envoy, routeType, '2', [shardTableItem(2, 0)])
    await goesOn(envoy, one, '/', '200 one')
    await goesOn(envoy, two, '/', '200 two')
    await gives(envoy, routeType, '3', [shardTableItem(2, 1)])
    for (const port of [one, two]) await isServed(envoy, port)
  })

  test('a new source waits until scopes are sent again, which a delta client does not ask for', async () => {
    const { envoy, port } = await startServing()
    await gives(envoy, listenerType, '2', [scopedListener('l', port, shards, {}, 1)])
    await envoy.nextRequest(scopeType)
    await gives(envoy, scopeType, '1', scopes)
    await envoy.nextRequest(routeType)
    await gives(envoy, routeType, '1', tables)
    await isServed(envoy, port)
    const changed = scopedListener('l', port, shards, { serverName: 'changed' }, 2)
    const open = envoy.connect(port)
    expect(await open.request('/', inFirst)).toBe('200 0')
    await gives(envoy, listenerType, '3', [changed])
    if (variant === 'sotw') await asks(envoy, scopeType, { sotw: '[] v=1 n=n4', delta: '' })
    else await envoy.noRequest(scopeType, quietMs)
    await isServed(envoy, port)
    // The old form has not begun to drain: the new one waits, and nothing else has told so.
    await envoy.wait(2_500)
    expect(await open.request('/', inFirst)).toBe('200 0')
    await gives(envoy, scopeType, '1', scopes)
    await isServed(envoy, port)
    await envoy.wait(3_000)
    expect(await open.request('/', inFirst)).toBe('closed')
  })
}
