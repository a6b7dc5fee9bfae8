import { scopeHeader } from '../../src/core/table-form.js'
import type { Listener } from '../../src/gen/envoy/config/listener/v3/listener.js'
import type { ScopedRouteConfiguration } from '../../src/gen/envoy/config/route/v3/scoped_route.js'
import { Lua } from '../../src/gen/envoy/extensions/filters/http/lua/v3/lua.js'
import {
  HttpConnectionManager,
  type ScopedRoutes,
} from '../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import { listener } from './memory-envoy.js'

export interface ScopedSettings {
  /** What runs before a request is routed; without it clients say the key themselves. */
  readonly script?: string
  /** How long scopes are waited for, 0 being for ever; listeners with the same wait share what comes. */
  readonly waitSeconds?: number
  /** What else is said of how a scope is found. */
  readonly routes?: ScopedRoutes
}

/** The settings of an HTTP listener that finds tables by scopes. */
export const scopedManager = ({
  script,
  waitSeconds = 15,
  routes = {},
}: ScopedSettings = {}): HttpConnectionManager => ({
  routeSpecifier: {
    $case: 'scopedRoutes',
    value: {
      scopeKeyBuilder: { fragments: [keyInHeader] },
      configSpecifier: {
        $case: 'scopedRds',
        value: {
          scopedRdsConfigSource: { initialFetchTimeout: { seconds: BigInt(waitSeconds) } },
        },
      },
      ...routes,
    },
  },
  httpFilters:
    script === undefined ? [] : [{ name: 'script', configType: packed(Lua.$type, lua(script)) }],
})

const keyInHeader = {
  type: {
    $case: 'headerValueExtractor' as const,
    value: { name: scopeHeader, extractType: { $case: 'index' as const, value: 0 } },
  },
}

const lua = (script: string): Uint8Array =>
  Lua.encode({
    defaultSourceCode: { specifier: { $case: 'inlineString', value: script } },
  }).finish()

const packed = (type: string, value: Uint8Array) => ({
  $case: 'typedConfig' as const,
  value: { typeUrl: `type.googleapis.com/${type}`, value: Buffer.from(value) },
})

/** An HTTP listener that finds tables by scopes. */
export const scopedListener = (
  name: string,
  port: number,
  settings: ScopedSettings = {},
): Listener => ({
  ...listener(name, port),
  filterChains: [
    {
      filters: [
        {
          configType: packed(
            HttpConnectionManager.$type,
            HttpConnectionManager.encode(scopedManager(settings)).finish(),
          ),
        },
      ],
    },
  ],
})

/** A scope that leads requests with its name as the key to a table. */
export const scope = (name: string, table: string): ScopedRouteConfiguration => ({
  name,
  key: { fragments: [{ type: { $case: 'stringKey', value: name } }] },
  routeConfigurationName: table,
})
