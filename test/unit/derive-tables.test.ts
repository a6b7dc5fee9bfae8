import { expect, test } from 'vitest'
import { defaultContext } from '../../src/core/context.js'
import { derivedTable } from '../../src/core/derive-tables.js'
import { defaultDataPlane, type EdgeRoute } from '../../src/core/edge-route.js'
import { viewOf } from '../../src/core/snapshot.js'
import { shardOf, shardTable, type TableForm, wholeForm } from '../../src/core/table-form.js'
import { emptyWorld, translator, worldChange } from '../../src/core/translator.js'

const route = (host: string, body: string): EdgeRoute => ({
  metadata: { namespace: 'shop', name: 'r', uid: host, generation: 1, finalizers: [] },
  spec: { hostnames: [host], respond: { code: 200, body } },
})

const hosts = Array.from({ length: 20 }, (_, i) => `host-${i}.test`)
const before = { ...emptyWorld, routes: [...hosts, '*.test'].map((host) => route(host, 'one')) }
const shards = 5
const sharded: TableForm = { _tag: 'Sharded', shards: 3 }

const changed = (host: string): ReadonlyArray<EdgeRoute> =>
  before.routes.map((each) => (each.metadata.uid === host ? route(host, 'two') : each))

test.each([
  ['whole', 'a host', wholeForm, 'host-7.test', [shardOf('host-7.test', shards)]],
  ['of other shards', 'a host', sharded, 'host-7.test', [shardOf('host-7.test', shards)]],
  ['whole', 'a wildcard', wholeForm, '*.test', [0, 1, 2, 3, 4]],
  ['of other shards', 'a wildcard', sharded, '*.test', [0, 1, 2, 3, 4]],
] as const)(
  'of tables that are %s, a change of %s makes those derived ones anew that have it',
  (_, __, form, host, expected) => {
    const { update } = translator(defaultContext.dataPlanes)
    const forms = new Map([[defaultDataPlane, form]])
    const derived = (change: Parameters<typeof update>[0]) => {
      const view = viewOf(update({ ...change, forms }).snapshot, defaultDataPlane)
      return Array.from({ length: shards }, (__, n) => derivedTable(shardTable(shards, n), view))
    }
    const known = derived(worldChange(emptyWorld, before))
    const now = derived(worldChange(before, { ...emptyWorld, routes: changed(host) }))
    const anew = now.flatMap((table, n) => (table === known[n] ? [] : [n]))
    expect(anew).toEqual(expected)
    const versions = now.flatMap((table, n) => (table?.version === known[n]?.version ? [] : [n]))
    expect(versions).toEqual(expected)
  },
)
