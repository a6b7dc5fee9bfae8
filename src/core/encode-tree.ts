import { RouteList } from '../gen/envoy/config/route/v3/route_components.js'
import { HttpRequestHeaderMatchInput } from '../gen/envoy/type/matcher/v3/http_inputs.js'
import { Any } from '../gen/google/protobuf/any.js'
import { TypedExtensionConfig } from '../gen/xds/core/v3/extension.js'
import { Matcher_MatcherTree } from '../gen/xds/type/matcher/v3/matcher.js'
import type { PathRoute, Tree } from './matcher-tree.js'
import { fieldSize, routesSize, writeRoutes, writeTag } from './splice.js'

/**
 * The encoded VirtualHost that has this tree and nothing else: `matcher`, with an `xds.type.matcher.v3.Matcher`
 * that looks up `:path` in a map of prefixes. Spliced, as tables are:
 * a generated codec copies what stands seven levels deep seven times.
 */
export const encodeTree = (tree: Tree): Uint8Array => {
  const entries = [...tree].map(([key, list]) => entryOf(key, list))
  const map = entries.reduce((sum, { size }) => sum + fieldSize(size), 0)
  const matcherTree = pathInput.length + fieldSize(map)
  const matcher = fieldSize(matcherTree)
  const out = new Uint8Array(1 + fieldSize(matcher))
  out[0] = matcherTag.first
  let at = writeTag(out, 1, matcherTag.second, matcher)
  at = writeTag(out, at, matcherTreeTag, matcherTree)
  at = writePiece(out, at, pathInput)
  at = writeTag(out, at, prefixMatchMapTag, map)
  for (const entry of entries) at = writeEntry(out, at, entry)
  return out
}

/** An entry of the map, and the sizes of the messages in it, from the outermost to that of its routes. */
interface Entry {
  readonly key: Uint8Array
  readonly list: ReadonlyArray<PathRoute>
  readonly size: number
  readonly onMatch: number
  readonly action: number
  readonly any: number
  readonly routes: number
}

const entryOf = (key: string, list: ReadonlyArray<PathRoute>): Entry => {
  const bytes = utf8.encode(key)
  const routes = routesSize(list)
  const any = anyHead.length + fieldSize(routes)
  const action = actionHead.length + fieldSize(any)
  const onMatch = fieldSize(action)
  const size = fieldSize(bytes.length) + fieldSize(onMatch)
  return { key: bytes, list, size, onMatch, action, any, routes }
}

const writeEntry = (out: Uint8Array, from: number, entry: Entry): number => {
  let at = writeTag(out, from, entryTag, entry.size)
  at = writeTag(out, at, keyTag, entry.key.length)
  at = writePiece(out, at, entry.key)
  at = writeTag(out, at, onMatchTag, entry.onMatch)
  at = writeTag(out, at, actionTag, entry.action)
  at = writePiece(out, at, actionHead)
  at = writeTag(out, at, typedConfigTag, entry.any)
  at = writePiece(out, at, anyHead)
  at = writeTag(out, at, valueTag, entry.routes)
  return writeRoutes(out, at, routesTag, entry.list)
}

const writePiece = (out: Uint8Array, at: number, piece: Uint8Array): number => {
  out.set(piece, at)
  return at + piece.length
}

const utf8 = new TextEncoder()

/** `VirtualHost.matcher` is field 21, whose tag takes two bytes. */
const matcherTag = { first: 0xaa, second: 0x01 }
/** `Matcher.matcher_tree` is field 2, `MatcherTree.prefix_match_map` field 3, `MatchMap.map` field 1. */
const matcherTreeTag = 0x12
const prefixMatchMapTag = 0x1a
const entryTag = 0x0a
/** Of an entry of a map: field 1 is its key, field 2 its value, an `OnMatch`. */
const keyTag = 0x0a
const onMatchTag = 0x12
/** `OnMatch.action`, `TypedExtensionConfig.typed_config` and `Any.value` are fields 2, `RouteList.routes` field 1. */
const actionTag = 0x12
const typedConfigTag = 0x12
const valueTag = 0x12
const routesTag = 0x0a

const typeUrl = (type: string): string => `type.googleapis.com/${type}`

/** What comes before the routes, in each message that they stand in. */
const actionHead = TypedExtensionConfig.encode({ name: 'routes' }).finish()
const anyHead = Any.encode({ typeUrl: typeUrl(RouteList.$type) }).finish()

/** The path as Envoy has normalised it, with the query. */
const pathInput = Matcher_MatcherTree.encode({
  input: {
    name: 'path',
    typedConfig: {
      typeUrl: typeUrl(HttpRequestHeaderMatchInput.$type),
      value: HttpRequestHeaderMatchInput.encode({ headerName: ':path' }).finish(),
    },
  },
}).finish()
