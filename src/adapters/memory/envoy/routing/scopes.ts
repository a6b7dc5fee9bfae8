import { scopeHeader, scopeKey, scopeScript, shardOf } from '../../../../core/table-form.js'
import {
  ScopedRouteConfiguration,
  ScopedRouteConfiguration_Key as Key,
} from '../../../../gen/envoy/config/route/v3/scoped_route.js'
import { Lua } from '../../../../gen/envoy/extensions/filters/http/lua/v3/lua.js'
import {
  ScopedRoutes,
  ScopedRoutes_ScopeKeyBuilder as KeyBuilder,
  ScopedRoutes_ScopeKeyBuilder_FragmentBuilder_HeaderValueExtractor as HeaderValue,
} from '../../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import { memoize } from '../memo.js'
import { type Header, valuesOf } from './headers.js'
import { modelled, notModelled } from './modelled.js'
import { withoutPort } from './path.js'

/** A script that tells the shard of a request, of so many. */
export interface ShardScript {
  readonly shards: number
}

/** Reads a script, which is to be that of `scopeScript`: what any other does, nobody knows here. */
export const readScript = (filter: Lua): ShardScript => {
  checkScript(filter)
  const source = filter.defaultSourceCode?.specifier
  const text = source?.$case === 'inlineString' ? source.value : ''
  const shards = Number(/"([1-9][0-9]*)-"/.exec(text)?.[1])
  return text === scopeScript(shards) ? { shards } : notModelled('a Lua script of others')
}

/** What the script makes of the headers of a request: what a client says of its shard is gone. */
export const withShard = (
  headers: ReadonlyArray<Header>,
  host: string,
  { shards }: ShardScript,
): ReadonlyArray<Header> => [
  ...headers.filter(([name]) => name !== scopeHeader),
  [scopeHeader, scopeKey(shards, shardOf(withoutPort(host.toLowerCase()), shards))],
]

/** Reads which header has the key of a request's scope, as a whole. */
export const readKeyHeader = (routes: ScopedRoutes): string => {
  checkRoutes(routes)
  if (routes.configSpecifier?.$case !== 'scopedRds') return notModelled('scopes in a listener')
  const builder = routes.scopeKeyBuilder ?? {}
  checkBuilder(builder)
  const [fragment, another] = builder.fragments ?? []
  if (fragment?.type === undefined || another !== undefined)
    return notModelled('a key of scopes with other than one fragment')
  const { value: extractor } = fragment.type
  checkExtractor(extractor)
  if (extractor.extractType?.$case !== 'index' || extractor.extractType.value !== 0)
    return notModelled('a key of scopes that is part of a header')
  return (extractor.name ?? '').toLowerCase()
}

/** Encoded scopes by name. */
export type EncodedScopes = ReadonlyMap<string, { readonly bytes: Uint8Array }>

/** The name of the table of a request; `undefined` where its headers have no key of a scope. */
export const tableByScope = (
  scopes: EncodedScopes,
  keyHeader: string,
  headers: ReadonlyArray<Header>,
): string | undefined => {
  const [key] = valuesOf(headers, keyHeader)
  return key === undefined ? undefined : byKey(scopes).get(key)
}

/** The names of the tables that these scopes lead to, each once. */
export const tablesOfScopes = (scopes: EncodedScopes): ReadonlySet<string> =>
  new Set(byKey(scopes).values())

const byKey = memoize(
  (scopes: EncodedScopes): ReadonlyMap<string, string> =>
    new Map([...scopes.values()].map(({ bytes }) => readScope(bytes))),
)

const readScope = memoize((bytes: Uint8Array): readonly [key: string, table: string] => {
  const scope = ScopedRouteConfiguration.decode(bytes)
  checkScope(scope)
  const key = scope.key ?? {}
  checkKey(key)
  const [fragment, another] = key.fragments ?? []
  if (fragment?.type === undefined || another !== undefined)
    return notModelled('a scope whose key has other than one fragment')
  return [fragment.type.value, scope.routeConfigurationName ?? '']
})

const checkScript = modelled(Lua, ['defaultSourceCode', 'statPrefix'])
/** Where scopes and tables come from is for the client of the protocol to know. */
const checkRoutes = modelled(ScopedRoutes, [
  ...(['scopeKeyBuilder', 'configSpecifier'] as const),
  ...(['name', 'rdsConfigSource'] as const),
])
const checkBuilder = modelled(KeyBuilder, ['fragments'])
const checkExtractor = modelled(HeaderValue, ['name', 'extractType'])
const checkScope = modelled(ScopedRouteConfiguration, ['name', 'key', 'routeConfigurationName'])
const checkKey = modelled(Key, ['fragments'])
