import { scopeHeader, scopeKey, scopeScript, shardTable } from '../../../src/core/table-form.js'
import { adsSource } from '../../../src/core/translate/ads-source.js'
import { scopeType } from '../../../src/core/type-url.js'
import { ScopedRouteConfiguration } from '../../../src/gen/envoy/config/route/v3/scoped_route.js'
import { Lua } from '../../../src/gen/envoy/extensions/filters/http/lua/v3/lua.js'
import type { HttpConnectionManager } from '../../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import type { Item } from '../../support/scripted-envoy.js'
import { listener, routerFilter, table } from './resources.js'

export { scopeType }

/** A scope: requests with this key are looked up in this table. */
export const scope = (name: string, key: string, table: string): Item => ({
  name,
  bytes: ScopedRouteConfiguration.encode({
    name,
    key: { fragments: [{ type: { $case: 'stringKey', value: key } }] },
    routeConfigurationName: table,
  }).finish(),
})

/**
 * An HTTP listener that finds the table of a request by its shard, of so many. Its scopes are those of `source`: what
 * listeners with the same number share.
 */
export const scopedListener = (
  name: string,
  port: number,
  shards: number,
  settings: HttpConnectionManager = {},
  source = 0,
): Item =>
  listener(name, port, '', {
    routeSpecifier: {
      $case: 'scopedRoutes',
      value: {
        name,
        scopeKeyBuilder: {
          fragments: [
            {
              type: {
                $case: 'headerValueExtractor',
                value: { name: scopeHeader, extractType: { $case: 'index', value: 0 } },
              },
            },
          ],
        },
        rdsConfigSource: adsSource,
        configSpecifier: {
          $case: 'scopedRds',
          value: {
            scopedRdsConfigSource: {
              ...adsSource,
              initialFetchTimeout: { seconds: 15n, nanos: source * 1_000_000 },
            },
          },
        },
      },
    },
    httpFilters: [scopeFilter(shards), routerFilter],
    stripTrailingHostDot: true,
    ...settings,
  })

const scopeFilter = (shards: number) => ({
  name: 'scope',
  configType: {
    $case: 'typedConfig' as const,
    value: {
      typeUrl: `type.googleapis.com/${Lua.$type}`,
      value: Buffer.from(
        Lua.encode({
          defaultSourceCode: {
            specifier: { $case: 'inlineString', value: scopeScript(shards) },
          },
        }).finish(),
      ),
    },
  },
})

/** The scope of a shard, of so many. */
export const shardScope = (shards: number, shard: number): Item => {
  const key = scopeKey(shards, shard)
  return scope(key, key, shardTable(shards, shard))
}

export const shardScopes = (shards: number): ReadonlyArray<Item> =>
  numbers(shards).map((shard) => shardScope(shards, shard))

/** Their tables, which answer `/` with the number of the shard. */
export const shardTables = (shards: number): ReadonlyArray<Item> =>
  numbers(shards).map((shard) => shardTableItem(shards, shard))

/** The table of a shard that answers `/` with this, or with the number of the shard. */
export const shardTableItem = (shards: number, shard: number, say = String(shard)): Item =>
  table(shardTable(shards, shard), { '/': { say } })

const numbers = (shards: number): ReadonlyArray<number> =>
  Array.from({ length: shards }, (_, shard) => shard)

/** A request whose host is in the first of two shards. */
export const inFirst = { host: 'b.test' }

/** A request whose host is in the second of two shards. */
export const inSecond = { host: 'a.test' }
