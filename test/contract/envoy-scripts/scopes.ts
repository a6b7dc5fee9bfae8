import { expect, test } from 'vitest'
import { scopeHeader, scopeKey, shardOf } from '../../../src/core/table-form.js'
import { type Item } from '../../support/scripted-envoy.js'
import { staticCluster, tableItem } from './resources.js'
import { scopedListener, shardScopes, shardTables } from './scope-resources.js'
import { answers, bringUp, type Subject } from './steps.js'

const shards = 7

/** What a client sends as the host → the host that its shard is told by. */
const hosts = {
  'a.test': 'a.test',
  'shop.example.com': 'shop.example.com',
  'A.Test': 'a.test',
  'a.test:80': 'a.test',
  'B.TEST:8443': 'b.test',
  'c.test.': 'c.test',
  'C.test.:80': 'c.test',
  '10.0.0.1:80': '10.0.0.1',
  '[::1]': '[::1]',
  '[::1]:80': '[::1]',
  '[2001:DB8::1]:80': '[2001:db8::1]',
  '[::1': '[:',
  '::1': ':',
  'a.test:': 'a.test',
  'a.test:x': 'a.test',
  'a.test.:x': 'a.test',
  'a.test:80:90': 'a.test:80',
  'a.test:80.': 'a.test',
  'a.test..': 'a.test.',
  localhost: 'localhost',
}

/** Sends everything to the cluster `one`. */
const forwarding = (name: string, requestHeadersToRemove: ReadonlyArray<string> = []): Item =>
  tableItem(
    name,
    [
      {
        name: 'all',
        domains: ['*'],
        routes: [
          {
            match: { pathSpecifier: { $case: 'prefix', value: '/' } },
            action: {
              $case: 'route',
              value: { clusterSpecifier: { $case: 'cluster', value: 'one' } },
            },
          },
        ],
      },
    ],
    { requestHeadersToRemove },
  )

/** How an Envoy finds the table of a request by a scope. */
export const scopeScripts = ({ start }: Subject): void => {
  test('a request finds the table of the shard that its host is in, whatever its case, port and last dot', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      listeners: [scopedListener('l', port, shards)],
      scopes: shardScopes(shards),
      tables: shardTables(shards),
    })
    await answers(envoy, port, '/', `200 ${shardOf('a.test', shards)}`, { host: 'a.test' })
    for (const [host, told] of Object.entries(hosts))
      expect([host, await envoy.request(port, '/', { host })]).toEqual([
        host,
        `200 ${shardOf(told, shards)}`,
      ])
  })

  test('what a client says of its shard counts for nothing', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      listeners: [scopedListener('l', port, shards)],
      scopes: shardScopes(shards),
      tables: shardTables(shards),
    })
    const shard = shardOf('a.test', shards)
    await answers(envoy, port, '/', `200 ${shard}`, { host: 'a.test' })
    const other = scopeKey(shards, (shard + 1) % shards)
    const asked = { host: 'a.test', [scopeHeader]: other }
    expect(await envoy.request(port, '/', asked)).toBe(`200 ${shard}`)
  })

  test('a backend sees the key of the shard, unless the table takes it away', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    await bringUp(envoy, {
      clusters: [staticCluster('one', envoy.backends.a)],
      listeners: [scopedListener('l', port, 2)],
      scopes: shardScopes(2),
      tables: [forwarding('shard-2-0'), forwarding('shard-2-1', [scopeHeader])],
    })
    await answers(envoy, port, '/', '200 a 2-0', { host: 'b.test' })
    await answers(envoy, port, '/', '200 a', { host: 'a.test' })
    const asked = { host: 'a.test', [scopeHeader]: 'mine' }
    expect(await envoy.request(port, '/', asked)).toBe('200 a')
    expect(await envoy.request(port, '/', { ...asked, host: 'b.test' })).toBe('200 a 2-0')
  })

  test('a host in a table is found although a request has a port, as in a table of a listener', async () => {
    const envoy = await start()
    const port = await envoy.freePort()
    const table = tableItem(
      'shard-2-1',
      [
        {
          name: 'a.test',
          domains: ['a.test'],
          routes: [
            {
              match: { pathSpecifier: { $case: 'prefix', value: '/' } },
              action: { $case: 'directResponse', value: { status: 204 } },
            },
          ],
        },
      ],
      { ignorePortInHostMatching: true },
    )
    await bringUp(envoy, {
      listeners: [scopedListener('l', port, 2)],
      scopes: shardScopes(2),
      tables: [tableItem('shard-2-0', []), table],
    })
    for (const host of ['a.test', 'A.test:80', 'a.test.', 'a.test.:80', 'a.test:x', 'a.test.:x'])
      await answers(envoy, port, '/', '204', { host })
    for (const host of ['b.test', 'c.test:80', 'a.test..', 'a.test:80:90'])
      await answers(envoy, port, '/', '404', { host })
  })
}
