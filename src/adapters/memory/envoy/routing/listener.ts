import {
  type Address,
  SocketAddress,
  SocketAddress_Protocol as Protocol,
} from '../../../../gen/envoy/config/core/v3/address.js'
import { Listener } from '../../../../gen/envoy/config/listener/v3/listener.js'
import {
  FilterChain,
  type Filter,
} from '../../../../gen/envoy/config/listener/v3/listener_components.js'
import type { RouteConfiguration } from '../../../../gen/envoy/config/route/v3/route.js'
import {
  HttpConnectionManager,
  HttpConnectionManager_PathWithEscapedSlashesAction as EscapedSlashes,
  type HttpFilter,
} from '../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import { Lua } from '../../../../gen/envoy/extensions/filters/http/lua/v3/lua.js'
import { memoize } from '../memo.js'
import { modelled, notModelled } from './modelled.js'
import type { EndpointAddress } from './request.js'
import type { Normalization } from './path.js'
import { readKeyHeader, readScript, type ShardScript } from './scopes.js'

/** A listener that takes HTTP and routes it. */
export interface HttpEntrance {
  readonly address: EndpointAddress
  readonly normalization: Normalization
  /** What tells the shard of a request before it is routed. */
  readonly script: ShardScript | undefined
  readonly routes: RoutesOf
}

export type RoutesOf =
  | { readonly _tag: 'Named'; readonly table: string }
  | { readonly _tag: 'Inline'; readonly table: RouteConfiguration }
  /** The table is that of the scope whose key stands in this header. */
  | { readonly _tag: 'Scoped'; readonly keyHeader: string }

/** Reads an encoded Listener with one plain HTTP filter chain; anything else is an error. */
export const readListener: (bytes: Uint8Array) => HttpEntrance = memoize((bytes) => {
  const listener = Listener.decode(bytes)
  checkListener(listener)
  const chains = [...(listener.filterChains ?? []), listener.defaultFilterChain]
  const [chain, another] = chains.filter((item) => item !== undefined)
  if (chain === undefined || another !== undefined)
    return notModelled('a listener with other than one filter chain')
  checkChain(chain)
  const manager = readManager(chain.filters ?? [])
  return {
    address: readAddress(listener.address),
    normalization: {
      normalizePath: manager.normalizePath === true,
      mergeSlashes: manager.mergeSlashes === true,
      stripTrailingHostDot: manager.stripTrailingHostDot === true,
    },
    script: readFilters(manager.httpFilters ?? []),
    routes: readRoutes(manager),
  }
})

/** Reads an address of the internet. */
export const readAddress = (address: Address | undefined): EndpointAddress => {
  const kind = address?.address
  if (kind?.$case !== 'socketAddress')
    return notModelled(`the address ${kind?.$case ?? 'being absent'}`)
  checkSocket(kind.value)
  const { address: host, portSpecifier: port, protocol } = kind.value
  if (port?.$case !== 'portValue' || (protocol ?? Protocol.TCP) !== Protocol.TCP)
    return notModelled('an address without a TCP port')
  return { address: host ?? '', port: port.value }
}

const readManager = (filters: ReadonlyArray<Filter>): HttpConnectionManager => {
  const [filter, another] = filters
  const config = filter?.configType
  if (
    another !== undefined ||
    config?.$case !== 'typedConfig' ||
    config.value.typeUrl !== managerTypeUrl
  )
    return notModelled('a filter chain with other than one HTTP connection manager')
  const manager = HttpConnectionManager.decode(config.value.value ?? new Uint8Array())
  checkManager(manager)
  const slashes = manager.pathWithEscapedSlashesAction ?? EscapedSlashes.KEEP_UNCHANGED
  if (slashes > EscapedSlashes.KEEP_UNCHANGED)
    return notModelled(`HttpConnectionManager.pathWithEscapedSlashesAction ${slashes}`)
  return manager
}

const readRoutes = ({ routeSpecifier: specifier }: HttpConnectionManager): RoutesOf => {
  switch (specifier?.$case) {
    case 'rds':
      return { _tag: 'Named', table: specifier.value.routeConfigName ?? '' }
    case 'routeConfig':
      return { _tag: 'Inline', table: specifier.value }
    case 'scopedRoutes':
      return { _tag: 'Scoped', keyHeader: readKeyHeader(specifier.value) }
    case undefined:
      return notModelled('HttpConnectionManager.routeSpecifier')
  }
}

const typeUrlOf = (type: { readonly $type: string }): string => `type.googleapis.com/${type.$type}`
const managerTypeUrl = typeUrlOf(HttpConnectionManager)
const luaTypeUrl = typeUrlOf(Lua)
const routerTypeUrl = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router'

/** The router, and before it perhaps one script; any other filter could answer by itself. */
const readFilters = (filters: ReadonlyArray<HttpFilter>): ShardScript | undefined => {
  const [script, another] = filters.flatMap(({ name, configType }) => {
    const config = configType?.$case === 'typedConfig' ? configType.value : {}
    if (config.typeUrl === routerTypeUrl) return []
    if (config.typeUrl !== luaTypeUrl) return notModelled(`the HTTP filter ${name}`)
    return [readScript(Lua.decode(config.value ?? new Uint8Array()))]
  })
  return another === undefined ? script : notModelled('more than one script')
}

/** Behind the first line: what changes how a connection is treated, and no answer. */
const checkListener = modelled(Listener, [
  ...(['name', 'address', 'filterChains', 'defaultFilterChain'] as const),
  ...(['statPrefix', 'metadata', 'accessLog', 'trafficDirection', 'drainType'] as const),
  ...(['perConnectionBufferLimitBytes', 'connectionBalanceConfig', 'socketOptions'] as const),
  ...(['reusePort', 'enableReusePort', 'tcpKeepalive', 'tcpBacklogSize', 'freebind'] as const),
  ...(['maxConnectionsToAcceptPerSocketEvent', 'ignoreGlobalConnLimit'] as const),
])
const checkChain = modelled(FilterChain, ['filters', 'name', 'metadata'])
const checkSocket = modelled(SocketAddress, ['protocol', 'address', 'portSpecifier'])
const checkManager = modelled(HttpConnectionManager, [
  ...(['routeSpecifier', 'httpFilters', 'normalizePath', 'mergeSlashes'] as const),
  ...(['pathWithEscapedSlashesAction', 'stripTrailingHostDot'] as const),
  ...(['codecType', 'statPrefix', 'tracing', 'serverName', 'via', 'addUserAgent'] as const),
  ...(['commonHttpProtocolOptions', 'httpProtocolOptions', 'http2ProtocolOptions'] as const),
  ...(['http3ProtocolOptions', 'serverHeaderTransformation', 'maxRequestHeadersKb'] as const),
  ...(['streamIdleTimeout', 'streamFlushTimeout', 'requestTimeout', 'drainTimeout'] as const),
  ...(['requestHeadersTimeout', 'delayedCloseTimeout', 'drainTimeoutJitter'] as const),
  ...(['accessLog', 'accessLogFlushInterval', 'flushAccessLogOnNewRequest'] as const),
  ...(['accessLogOptions', 'useRemoteAddress', 'xffNumTrustedHops', 'skipXffAppend'] as const),
  ...(['generateRequestId', 'preserveExternalRequestId', 'requestIdExtension'] as const),
  ...(['alwaysSetRequestIdInResponse', 'internalAddressConfig', 'proxyStatusConfig'] as const),
  ...(['streamErrorOnInvalidHttpMessage', 'proxy100Continue', 'upgradeConfigs'] as const),
])
