import {
  Route,
  RouteList,
  type VirtualHost,
} from '../../../../gen/envoy/config/route/v3/route_components.js'
import { HttpRequestHeaderMatchInput } from '../../../../gen/envoy/type/matcher/v3/http_inputs.js'
import type { Any } from '../../../../gen/google/protobuf/any.js'
import type { TypedExtensionConfig } from '../../../../gen/xds/core/v3/extension.js'
import {
  Matcher,
  Matcher_MatcherTree as MatcherTree,
  Matcher_OnMatch as OnMatch,
} from '../../../../gen/xds/type/matcher/v3/matcher.js'
import { digest } from '../../../../core/digest.js'
import { memoize } from '../memo.js'
import { modelled, notModelled } from './modelled.js'
import type { Facts } from './predicates.js'

/** The routes of a virtual host, as it looks for the one that takes a request. */
export type HostRoutes =
  | { readonly _tag: 'List'; readonly routes: ReadonlyArray<Route> }
  /**
   * The longest key that the request's `:path`, with its query, begins with has the list. That is final: where nothing
   * in the list matches, no other is tried.
   */
  | { readonly _tag: 'Tree'; readonly lists: ReadonlyMap<string, ReadonlyArray<Route>> }

/** Reads a virtual host's routes, or its matcher: a map of prefixes of the path, with a list of routes each. */
export const hostRoutes: (host: VirtualHost) => HostRoutes = memoize(({ routes, matcher }) => {
  if (matcher === undefined) return { _tag: 'List', routes: routes ?? [] }
  if (routes !== undefined && routes.length > 0) return notModelled('routes beside a matcher')
  return { _tag: 'Tree', lists: readMatcher(matcher) }
})

/**
 * The routes of a virtual host, each once: in order of precedence, as far as two of them may match one request.
 * What a tree has several times, byte for byte, is one route.
 */
export const routesOf: (host: VirtualHost) => ReadonlyArray<Route> = memoize((host) => {
  const read = hostRoutes(host)
  return read._tag === 'List' ? read.routes : uniqueRoutes(read.lists)
})

/** What a list has beyond those of the keys above it is more specific than what they have. */
const uniqueRoutes = (lists: ReadonlyMap<string, ReadonlyArray<Route>>): ReadonlyArray<Route> => {
  const seen = new Set<string>()
  const isNew = (route: Route): boolean => {
    const size = seen.size
    return seen.add(digest([Route.encode(route).finish()])).size > size
  }
  return [...lists]
    .sort(([a], [b]) => a.length - b.length)
    .map(([, list]) => list.filter(isNew))
    .reverse()
    .flat()
}

/** Finds what stands in a tree for a request. Costs O(length of the path). */
export const findList = <A>(lists: ReadonlyMap<string, A>, { headers }: Facts): A | undefined => {
  const path = headers.find(([name]) => name === pathHeader)?.[1] ?? ''
  for (let length = path.length; length > 0; length -= 1) {
    const list = lists.get(path.slice(0, length))
    if (list !== undefined) return list
  }
  return undefined
}

const pathHeader = ':path'

const readMatcher = (matcher: Matcher): ReadonlyMap<string, ReadonlyArray<Route>> => {
  checkMatcher(matcher)
  if (matcher.matcherType?.$case !== 'matcherTree') return notModelled('a matcher without a tree')
  const { value: tree } = matcher.matcherType
  checkTree(tree)
  const { headerName } = HttpRequestHeaderMatchInput.decode(
    unpacked(tree.input, HttpRequestHeaderMatchInput.$type),
  )
  if (headerName !== pathHeader) return notModelled(`a tree over the header ${headerName ?? ''}`)
  if (tree.treeType?.$case !== 'prefixMatchMap') return notModelled('a tree without prefixes')
  return new Map(
    Object.entries(tree.treeType.value.map ?? {}).map(([key, found]) => [key, readList(found)]),
  )
}

const readList = (found: OnMatch): ReadonlyArray<Route> => {
  checkFound(found)
  if (found.onMatch?.$case !== 'action') return notModelled('a matcher in a tree')
  return RouteList.decode(unpacked(found.onMatch.value, RouteList.$type)).routes ?? []
}

const unpacked = (extension: TypedExtensionConfig | undefined, type: string): Uint8Array => {
  const { typeUrl = '', value = new Uint8Array() }: Any = extension?.typedConfig ?? {}
  return typeUrl === `type.googleapis.com/${type}`
    ? value
    : notModelled(`${typeUrl} in the place of ${type}`)
}

const checkMatcher = modelled(Matcher, ['matcherType'])
const checkTree = modelled(MatcherTree, ['input', 'treeType'])
const checkFound = modelled(OnMatch, ['onMatch'])
