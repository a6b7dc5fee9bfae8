import { isDeepStrictEqual } from 'node:util'
import { answer, type EncodedResources } from '../../../src/adapters/memory/envoy/routing/answer.js'
import { changeHeaders } from '../../../src/adapters/memory/envoy/routing/headers.js'
import type * as Envoy from '../../../src/adapters/memory/envoy/routing/request.js'
import * as PM from '../../../src/core/persistent-map.js'
import { encodeContent } from '../../../src/core/resource.js'
import type { Resources, View } from '../../../src/core/snapshot.js'
import { type TypeUrl, typeUrls } from '../../../src/core/type-url.js'
import {
  type Answer,
  type Pair,
  queryOf,
  type Request,
  sharesOf,
  upstreamHeaders,
} from './answer.js'
import { sayAddress } from './backends.js'

/** What an Envoy would hold of a data plane: nothing but bytes. */
export const encoded = (view: View): EncodedResources => {
  const [clusters, assignments, listeners, scopes, tables] = typeUrls
  return {
    [clusters]: bytesByName(view[clusters]),
    [assignments]: bytesByName(view[assignments]),
    [listeners]: bytesByName(view[listeners]),
    [scopes]: bytesByName(view[scopes]),
    [tables]: bytesByName(view[tables]),
  }
}

const bytesByName = (resources: Resources): EncodedResources[TypeUrl] =>
  new Map(
    [...PM.entries(resources)].map(({ name, content }) => [
      name,
      { bytes: encodeContent(content) },
    ]),
  )

/**
 * What an Envoy with these resources gives to `picks` requests of one kind that differ in nothing
 * but the backend that chance picks: each pick has the same share of the whole.
 */
export const envoyAnswer = (
  resources: EncodedResources,
  listener: string,
  request: Request,
  picks: number,
): Answer => {
  const { host, path, method, headers } = request
  const asked = { listener, host, path: path + queryOf(request), method, headers }
  const all = Array.from({ length: picks }, (_, index) =>
    answer(resources, { ...asked, pick: (index + 0.5) / picks }),
  )
  const taken = all.find((one) => one._tag !== 'ServiceUnavailable')
  if (taken === undefined) return { _tag: 'Unavailable' }
  const result = read(taken, all)
  for (const one of all)
    if (one._tag !== 'ServiceUnavailable' && !isDeepStrictEqual(read(one, all), result))
      throw new Error(`the backends of one route are treated differently: ${JSON.stringify(all)}`)
  return result
}

const read = (one: Envoy.Answer, all: ReadonlyArray<Envoy.Answer>): Answer => {
  switch (one._tag) {
    case 'NotFound':
      return { _tag: 'NotFound' }
    case 'ServiceUnavailable':
      return { _tag: 'Unavailable' }
    case 'ConnectionRefused':
      throw new Error('the listener or its route table is not there')
    case 'Redirected':
      return {
        _tag: one._tag,
        code: one.code,
        location: one.location,
        responseHeaders: lines(one.headers),
      }
    case 'Responded':
      return { _tag: one._tag, code: one.code, body: one.body, responseHeaders: lines(one.headers) }
    case 'Forwarded':
      return {
        _tag: one._tag,
        shares: sharesOf(all.map((pick) => [endpointsIn(pick), 1])),
        path: one.path,
        host: one.host,
        requestHeaders: lines(one.headers),
        responseHeaders: lines(changeHeaders(upstreamHeaders, one.responseChanges)),
      }
  }
}

/** `NC` would mean that a route names a cluster that is not there, or a cluster without endpoints. */
const endpointsIn = (one: Envoy.Answer): string => {
  if (one._tag === 'ServiceUnavailable' && one.flag === 'UH') return ''
  if (one._tag !== 'Forwarded') throw new Error(`not forwarded: ${JSON.stringify(one)}`)
  return one.endpoints
    .map(({ address, port }) => sayAddress({ host: address, port }))
    .sort()
    .join(' ')
}

const lines = (headers: ReadonlyArray<Pair>): ReadonlyArray<string> =>
  headers.map(([name, value]) => `${name}: ${value}`).sort()
