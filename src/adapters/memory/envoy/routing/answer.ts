import { RouteConfiguration } from '../../../../gen/envoy/config/route/v3/route.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  type TypeUrl,
} from '../../../../core/type-url.js'
import { memoize } from '../memo.js'
import { readCluster, readEndpoints } from './cluster.js'
import { type Header, lowerCased } from './headers.js'
import { type HttpEntrance, readListener } from './listener.js'
import type { Facts } from './predicates.js'
import { normalizeHost, normalizePath, queryParameters, splitPath } from './path.js'
import type { Answer, Decision, EndpointAddress, Forward, Request } from './request.js'
import { compileTable, type Table } from './table.js'

/** Encoded resources by type and name. */
export type EncodedResources = Readonly<
  Record<TypeUrl, ReadonlyMap<string, { readonly bytes: Uint8Array }>>
>

/**
 * Says what an Envoy 1.40 that holds these resources does with a request.
 *
 * Pure, and without time, failures or load: an endpoint that is named is one that answers. Throws
 * "not modelled: …" where the listener, the table or the cluster that the request meets says
 * something that is not evaluated here; a table is looked through as a whole. Each resource is decoded
 * and compiled once; a request then costs O(routes of its virtual host), as in Envoy.
 */
export const answer = (resources: EncodedResources, request: Request): Answer => {
  const entrance = findListener(resources, request.listener)
  const table = entrance === undefined ? undefined : tableOf(resources, entrance)
  if (entrance === undefined || table === undefined) return { _tag: 'ConnectionRefused' }
  const headers = lowerCased(request.headers ?? [])
  const facts = factsOf(request, headers, entrance)
  if (facts === undefined) return badRequest
  const decision = table({ facts, headers, pick: request.pick ?? 0 })
  return decision === undefined ? { _tag: 'NotFound' } : settle(resources, decision)
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

const tableOf = (resources: EncodedResources, { routes }: HttpEntrance): Table | undefined => {
  if (routes._tag === 'Inline') return compileInline(routes.table)
  const held = resources[routeType].get(routes.table)
  return held === undefined ? undefined : readTable(held.bytes)
}

const compileInline = memoize(compileTable)
const readTable = memoize((bytes: Uint8Array) => compileTable(RouteConfiguration.decode(bytes)))

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

const settle = (resources: EncodedResources, decision: Decision): Answer =>
  decision._tag === 'Forward' ? forward(resources, decision) : decision

const forward = (resources: EncodedResources, decision: Forward): Answer => {
  const { cluster } = decision
  const endpoints = endpointsOf(resources, cluster)
  if (endpoints === undefined) return { _tag: 'ServiceUnavailable', flag: 'NC', cluster }
  if (endpoints.length === 0) return { _tag: 'ServiceUnavailable', flag: 'UH', cluster }
  return { ...decision, _tag: 'Forwarded', endpoints }
}

/** A cluster that still waits for its endpoints does not exist for the router. */
const endpointsOf = (
  resources: EncodedResources,
  cluster: string,
): ReadonlyArray<EndpointAddress> | undefined => {
  const held = resources[clusterType].get(cluster)
  if (held === undefined) return undefined
  const source = readCluster(held.bytes)
  if (source._tag === 'Own') return source.endpoints
  const assignment = resources[endpointType].get(source.service)
  return assignment === undefined ? undefined : readEndpoints(assignment.bytes)
}
