import { RouteConfiguration } from '../../../../gen/envoy/config/route/v3/route.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../../../../core/type-url.js'
import { memoize } from '../memo.js'
import { isIpLiteral, readCluster, readEndpoints } from './cluster.js'
import { type Header, lowerCased } from './headers.js'
import { type HttpEntrance, readListener } from './listener.js'
import type { Facts } from './predicates.js'
import { normalizeHost, normalizePath, queryParameters, splitPath } from './path.js'
import type { Answer, Decision, EndpointAddress, Forward, Request } from './request.js'
import { tableByScope, tablesOfScopes, withShard } from './scopes.js'
import { compileTable, type Table } from './table.js'

/** Encoded resources by type and name. */
export type EncodedResources = Readonly<
  Record<TypeUrl, ReadonlyMap<string, { readonly bytes: Uint8Array }>>
>

/** What the resources by themselves do not say. */
export interface Surroundings {
  /** The encoded listener that takes the request; found by its name or port if absent. */
  readonly listener?: Uint8Array
  /**
   * The encoded endpoints of a cluster that has them from elsewhere. Those under its service's name if
   * absent; without such a cluster is not ready.
   */
  readonly assignmentOf?: (cluster: string) => Uint8Array
  /** Whether a host name is resolved; each is if absent. */
  readonly resolves?: (host: string) => boolean
}

/**
 * Says what an Envoy 1.40 that holds these resources does with a request.
 *
 * Pure, and without time, failures or load: an endpoint that is named is one that answers. Throws
 * "not modelled: …" where the listener, the table or the cluster that the request meets says
 * something that is not evaluated here; a table is looked through as a whole. Each resource is decoded
 * and compiled once; a request then costs O(routes of its virtual host), as in Envoy.
 */
export const answer = (
  resources: EncodedResources,
  request: Request,
  surroundings: Surroundings = {},
): Answer => {
  const entrance =
    surroundings.listener === undefined
      ? findListener(resources, request.listener)
      : readListener(surroundings.listener)
  const tableFor = entrance === undefined ? undefined : tablesAt(resources, entrance)
  if (entrance === undefined || tableFor === undefined) return { _tag: 'ConnectionRefused' }
  const headers = headersAt(request, entrance)
  const facts = factsOf(request, headers, entrance)
  if (facts === undefined) return badRequest
  const decision = tableFor(headers)?.({ facts, headers, pick: request.pick ?? 0 })
  return decision === undefined ? { _tag: 'NotFound' } : settle(resources, decision, surroundings)
}

/** The body that Envoy sends with it depends on the reason. */
const badRequest: Answer = { _tag: 'Responded', code: 400, body: '', headers: [] }

const findListener = (
  resources: EncodedResources,
  at: string | number,
): HttpEntrance | undefined => {
  if (typeof at === 'string') {
    const held = resources[listenerType].get(at)
    return held === undefined ? undefined : readListener(held.bytes)
  }
  return [...resources[listenerType].values()]
    .map(({ bytes }) => readListener(bytes))
    .find(({ address }) => address.port === at)
}

/** Finds the table of a request with these headers; `undefined` of a listener that still waits for its own. */
const tablesAt = (
  resources: EncodedResources,
  { routes }: HttpEntrance,
): ((headers: ReadonlyArray<Header>) => Table | undefined) | undefined => {
  switch (routes._tag) {
    case 'Inline':
      return () => compileInline(routes.table)
    case 'Named': {
      const table = tableNamed(resources, routes.table)
      return table && (() => table)
    }
    case 'Scoped':
      return (headers) => {
        const name = tableByScope(resources[scopeType], routes.keyHeader, headers)
        return name === undefined ? undefined : tableNamed(resources, name)
      }
  }
}

const tableNamed = (resources: EncodedResources, name: string): Table | undefined => {
  const held = resources[routeType].get(name)
  return held === undefined ? undefined : readTable(held.bytes)
}

/** The route tables behind a listener, as far as they have come. */
export const tablesBehind = (
  resources: EncodedResources,
  listener: Uint8Array,
): ReadonlyArray<RouteConfiguration> => {
  const { routes } = readListener(listener)
  switch (routes._tag) {
    case 'Inline':
      return [routes.table]
    case 'Named':
      return tablesNamed(resources, [routes.table])
    case 'Scoped':
      return tablesNamed(resources, [...tablesOfScopes(resources[scopeType])])
  }
}

const tablesNamed = (
  resources: EncodedResources,
  names: ReadonlyArray<string>,
): ReadonlyArray<RouteConfiguration> =>
  names.flatMap((name) => {
    const held = resources[routeType].get(name)
    return held === undefined ? [] : [decodeTable(held.bytes)]
  })

const decodeTable = memoize((bytes: Uint8Array) => RouteConfiguration.decode(bytes))
const compileInline = memoize(compileTable)
const readTable = memoize((bytes: Uint8Array) => compileTable(decodeTable(bytes)))

/** The headers that routes are matched with. */
const headersAt = (request: Request, entrance: HttpEntrance): ReadonlyArray<Header> => {
  const { script, normalization } = entrance
  const headers = lowerCased(request.headers ?? [])
  return script === undefined
    ? headers
    : withShard(headers, normalizeHost(request.host, normalization), script)
}

const factsOf = (
  request: Request,
  headers: ReadonlyArray<Header>,
  { normalization }: HttpEntrance,
): Facts | undefined => {
  const pathAndQuery = normalizePath(request.path, normalization)
  if (pathAndQuery === undefined) return undefined
  const { path, query } = splitPath(pathAndQuery)
  const host = normalizeHost(request.host, normalization)
  const pseudo: ReadonlyArray<Header> = [
    [':method', request.method ?? 'GET'],
    [':path', pathAndQuery],
    [':authority', host],
    [':scheme', 'http'],
  ]
  return {
    path,
    query,
    host,
    headers: [...pseudo, ...headers],
    parameters: queryParameters(query),
  }
}

const settle = (
  resources: EncodedResources,
  decision: Decision,
  surroundings: Surroundings,
): Answer => (decision._tag === 'Forward' ? forward(resources, decision, surroundings) : decision)

const forward = (
  resources: EncodedResources,
  decision: Forward,
  surroundings: Surroundings,
): Answer => {
  const { cluster } = decision
  const endpoints = endpointsOf(resources, cluster, surroundings)
  if (endpoints === undefined) return { _tag: 'ServiceUnavailable', flag: 'NC', cluster }
  if (endpoints.length === 0) return { _tag: 'ServiceUnavailable', flag: 'UH', cluster }
  return { ...decision, _tag: 'Forwarded', endpoints }
}

/**
 * The endpoints that a cluster sends requests to; `undefined` where the router does not know it, as
 * while it still waits for them.
 */
export const endpointsOf = (
  resources: EncodedResources,
  cluster: string,
  { assignmentOf, resolves = () => true }: Surroundings,
): ReadonlyArray<EndpointAddress> | undefined => {
  const held = resources[clusterType].get(cluster)
  if (held === undefined) return undefined
  const source = readCluster(held.bytes)
  switch (source._tag) {
    case 'Own':
      return source.endpoints
    case 'Resolved':
      return source.endpoints.filter(({ address }) => isIpLiteral(address) || resolves(address))
    case 'Eds': {
      const bytes = assignmentOf?.(cluster) ?? resources[endpointType].get(source.service)?.bytes
      return bytes === undefined ? undefined : readEndpoints(bytes)
    }
  }
}
