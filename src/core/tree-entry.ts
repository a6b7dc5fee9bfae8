import { RouteList } from '../gen/envoy/config/route/v3/route_components.js'
import { Any } from '../gen/google/protobuf/any.js'
import { TypedExtensionConfig } from '../gen/xds/core/v3/extension.js'
import { type EncodedRoute, fieldSize, writePiece, writeRoutes, writeTag } from './splice.js'

/** How many bytes a key and its list, which has that many, take in the map of an encoded tree. */
export const entrySize = (key: string, listBytes: number): number =>
  fieldSize(sizesOf(Buffer.byteLength(key), listBytes).entry)

/** Writes a key and its list as an entry of that map, and returns where the next one goes. */
export const writeEntry = (
  out: Uint8Array,
  from: number,
  key: string,
  list: ReadonlyArray<EncodedRoute>,
  listBytes: number,
): number => {
  const keyBytes = utf8.encode(key)
  const sizes = sizesOf(keyBytes.length, listBytes)
  let at = writeTag(out, from, entryTag, sizes.entry)
  at = writeTag(out, at, keyTag, keyBytes.length)
  at = writePiece(out, at, keyBytes)
  at = writeTag(out, at, onMatchTag, sizes.onMatch)
  at = writeTag(out, at, actionTag, sizes.action)
  at = writePiece(out, at, actionHead)
  at = writeTag(out, at, typedConfigTag, sizes.any)
  at = writePiece(out, at, anyHead)
  at = writeTag(out, at, valueTag, listBytes)
  return writeRoutes(out, at, routesTag, list)
}

/** The sizes of the messages in an entry, from the outermost to that in which its routes stand. */
interface EntrySizes {
  readonly entry: number
  readonly onMatch: number
  readonly action: number
  readonly any: number
}

const sizesOf = (keyBytes: number, listBytes: number): EntrySizes => {
  const any = anyHead.length + fieldSize(listBytes)
  const action = actionHead.length + fieldSize(any)
  const onMatch = fieldSize(action)
  return { entry: fieldSize(keyBytes) + fieldSize(onMatch), onMatch, action, any }
}

const utf8 = new TextEncoder()

/** `MatchMap.map` is field 1. Of an entry of a map field 1 is its key, field 2 its value, an `OnMatch`. */
const entryTag = 0x0a
const keyTag = 0x0a
const onMatchTag = 0x12
/** `OnMatch.action`, `TypedExtensionConfig.typed_config` and `Any.value` are fields 2, `RouteList.routes` field 1. */
const actionTag = 0x12
const typedConfigTag = 0x12
const valueTag = 0x12
const routesTag = 0x0a

/** What comes before the routes, in each message that they stand in. */
const actionHead = TypedExtensionConfig.encode({ name: 'routes' }).finish()
const anyHead = Any.encode({ typeUrl: `type.googleapis.com/${RouteList.$type}` }).finish()
