import { Listener } from '../../gen/envoy/config/listener/v3/listener.js'
import { Lua } from '../../gen/envoy/extensions/filters/http/lua/v3/lua.js'
import { Router } from '../../gen/envoy/extensions/filters/http/router/v3/router.js'
import {
  type HttpFilter,
  HttpConnectionManager,
  type ScopedRoutes,
} from '../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import type { ConfigSource } from '../../gen/envoy/config/core/v3/config_source.js'
import type { Any } from '../../gen/google/protobuf/any.js'
import type { HttpListener } from '../context.js'
import { compareStrings } from '../order.js'
import { bytesResource, type Ref, type Resource } from '../resource.js'
import { scopeHeader, scopeKey, scopeScript, shardTable, type TableForm } from '../table-form.js'
import { routeType, scopeType } from '../type-url.js'
import { adsSource } from './ads-source.js'

/**
 * The listeners of a data plane. They depend on its configuration and on the form of its tables, and on no
 * route. Of several with one name the same one counts always.
 */
export const listenersOf = (
  listeners: ReadonlyArray<HttpListener>,
  form: TableForm,
): ReadonlyArray<Resource> => {
  const shared = form._tag === 'Sharded' ? shardRefs(form.shards) : []
  return [...listeners]
    .sort(byAddress)
    .map((listener, index) =>
      bytesResource(
        listener.name,
        Listener.encode(message(listener, form, index)).finish(),
        form._tag === 'Whole' ? [{ typeUrl: routeType, name: listener.name }] : shared,
      ),
    )
}

/** A listener needs every shard: no one knows what will be asked for. */
const shardRefs = (shards: number): ReadonlyArray<Ref> =>
  Array.from({ length: shards }, (_, shard) => [
    { typeUrl: scopeType, name: scopeKey(shards, shard) },
    { typeUrl: routeType, name: shardTable(shards, shard) },
  ]).flat()

const byAddress = (a: HttpListener, b: HttpListener): number =>
  compareStrings(`${a.address} ${a.port}`, `${b.address} ${b.port}`)

const message = (
  { name, address, port }: HttpListener,
  form: TableForm,
  index: number,
): Listener => ({
  name,
  address: {
    address: {
      $case: 'socketAddress',
      value: { address, portSpecifier: { $case: 'portValue', value: port } },
    },
  },
  filterChains: [
    {
      filters: [
        {
          name: 'envoy.filters.network.http_connection_manager',
          configType: {
            $case: 'typedConfig',
            value: packed(
              HttpConnectionManager.$type,
              HttpConnectionManager.encode(connectionManager(name, form, index)).finish(),
            ),
          },
        },
      ],
    },
  ],
})

const connectionManager = (
  name: string,
  form: TableForm,
  index: number,
): HttpConnectionManager => ({
  statPrefix: name,
  routeSpecifier: tablesOf(name, form, index),
  httpFilters: filtersOf(form),
  // An edge proxy takes the client's address from the connection, not from what the client says.
  useRemoteAddress: true,
  // Routes are matched on what a path means: `/a/../b` and `//b` are `/b`.
  normalizePath: true,
  mergeSlashes: true,
  // `example.com.` is `example.com`, fully qualified.
  stripTrailingHostDot: true,
})

const tablesOf = (
  name: string,
  form: TableForm,
  index: number,
): HttpConnectionManager['routeSpecifier'] => {
  switch (form._tag) {
    case 'Whole':
      return { $case: 'rds', value: { configSource: adsSource, routeConfigName: name } }
    case 'Sharded':
      return { $case: 'scopedRoutes', value: scopedRoutes(name, index) }
  }
}

/** The key of a request is all that the header says. */
const scopedRoutes = (name: string, index: number): ScopedRoutes => ({
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
  configSpecifier: { $case: 'scopedRds', value: { scopedRdsConfigSource: scopesFrom(index) } },
})

/**
 * A source of its own for each listener, told apart by milliseconds: of listeners with one source Envoy lets only the
 * first wait for scopes and their tables, and the others answer 404 meanwhile, in place of their old form (run).
 */
const scopesFrom = (index: number): ConfigSource => ({
  ...adsSource,
  initialFetchTimeout: { seconds: 15n, nanos: index * 1_000_000 },
})

/** What tells the shard stands first: no filter before it would see a route. */
const filtersOf = (form: TableForm): ReadonlyArray<HttpFilter> => {
  const router = filter('envoy.filters.http.router', Router.$type, Router.encode({}).finish())
  switch (form._tag) {
    case 'Whole':
      return [router]
    case 'Sharded':
      return [filter('envoy.filters.http.lua', Lua.$type, scopeFilter(form.shards)), router]
  }
}

const filter = (name: string, type: string, value: Uint8Array): HttpFilter => ({
  name,
  configType: { $case: 'typedConfig', value: packed(type, value) },
})

const scopeFilter = (shards: number): Uint8Array =>
  Lua.encode({
    defaultSourceCode: { specifier: { $case: 'inlineString', value: scopeScript(shards) } },
  }).finish()

const packed = (type: string, value: Uint8Array): Any => ({
  typeUrl: `type.googleapis.com/${type}`,
  value,
})
