import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { encodeContent, type Resource } from '../../core/resource.js'
import type { TypeUrl } from '../../core/type-url.js'
import type { Response, Variant } from '../../core/xds/messages.js'

/** Makes the bytes of a `DiscoveryResponse` or a `DeltaDiscoveryResponse`. */
export type EncodeResponse = (variant: Variant, response: Response) => Buffer

/**
 * How many bodies of each variant and type are kept: a fleet on its way from one version to the
 * next needs two, and two data planes need them twice.
 */
export const keptBodies = 4

/**
 * Makes an encoder that shares its work between the streams of a server.
 *
 * A resource is encoded once, for as long as it lives; the body of a response, which is everything
 * but the nonce, once for all streams that are sent the same. A further stream then costs a
 * comparison by reference of n resources, and one copy of the body with its nonce behind it:
 * protobuf lets fields come in any order. Bodies are kept until `keptBodies` others of their type
 * came after them.
 */
export const responseEncoder = (): EncodeResponse => {
  const encodeEntry = entryEncoder()
  const bodies = new Map<string, ReadonlyArray<Body>>()
  return (variant, response) => {
    const key = `${variant} ${response.typeUrl}`
    const kept = bodies.get(key) ?? []
    const known = kept.find((body) => isBodyOf(body.response, response))
    const body = known ?? { response, pieces: encodeBody(variant, response, encodeEntry) }
    if (kept[0] !== body)
      bodies.set(key, [body, ...kept.filter((other) => other !== body)].slice(0, keptBodies))
    return Buffer.concat([
      ...body.pieces,
      new BinaryWriter().uint32(nonceTag).string(response.nonce).finish(),
    ])
  }
}

interface Body {
  readonly response: Response
  /** One behind the other. */
  readonly pieces: ReadonlyArray<Uint8Array>
}

const isBodyOf = (a: Response, b: Response): boolean =>
  a.version === b.version && sameItems(a.resources, b.resources) && sameItems(a.removed, b.removed)

const sameItems = <A>(a: ReadonlyArray<A>, b: ReadonlyArray<A>): boolean =>
  a === b || (a.length === b.length && a.every((item, index) => item === b[index]))

/** Field number << 3 | 2 (length-delimited); both kinds of response agree on 1, 2, 4 and 5. */
const versionTag = (1 << 3) | 2
const resourcesTag = (2 << 3) | 2
const typeUrlTag = (4 << 3) | 2
const nonceTag = (5 << 3) | 2
const removedResourcesTag = (6 << 3) | 2

const encodeBody = (
  variant: Variant,
  response: Response,
  encodeEntry: EncodeEntry,
): ReadonlyArray<Uint8Array> => {
  const head = new BinaryWriter().uint32(versionTag).string(response.version)
  head.uint32(typeUrlTag).string(response.typeUrl)
  for (const name of response.removed) head.uint32(removedResourcesTag).string(name)
  const entries = response.resources.flatMap((resource) => {
    const entry = encodeEntry(response.typeUrl, resource)
    return [variant === 'sotw' ? entry.sotwHead : entry.deltaHead, entry.content]
  })
  return joined([head.finish(), ...entries])
}

/** Of a piece that is as large it costs more to have it twice than to copy one more for each stream, in bytes. */
export const largePieceBytes: number = 64 * 1024

/** The same bytes in few pieces: the small ones put together, the large ones as they are. */
const joined = (pieces: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const result: Array<Uint8Array> = []
  let small: Array<Uint8Array> = []
  const close = (): void => {
    if (small.length > 0) result.push(Buffer.concat(small))
    small = []
  }
  for (const piece of pieces) {
    if (piece.length < largePieceBytes) small.push(piece)
    else {
      close()
      result.push(piece)
    }
  }
  close()
  return result
}

/**
 * An entry of `resources`, up to and with its content, which comes last in both variants: the Any
 * of a state-of-the-world response, and the Resource with name, version and that Any of an
 * incremental one.
 */
interface Entry {
  readonly typeUrl: TypeUrl
  readonly sotwHead: Uint8Array
  readonly deltaHead: Uint8Array
  readonly content: Uint8Array
}

type EncodeEntry = (typeUrl: TypeUrl, resource: Resource) => Entry

/** Keeps entries by the identity of their resource, and lets go of them with it. */
const entryEncoder = (): EncodeEntry => {
  const entries = new WeakMap<Resource, Entry>()
  return (typeUrl, resource) => {
    const known = entries.get(resource)
    if (known?.typeUrl === typeUrl) return known
    const entry = makeEntry(typeUrl, resource)
    entries.set(resource, entry)
    return entry
  }
}

/** `Any`: type_url = 1, value = 2. `Resource`: version = 1, resource = 2, name = 3. */
const makeEntry = (typeUrl: TypeUrl, { name, version, content }: Resource): Entry => {
  const value = encodeContent(content)
  const any = new BinaryWriter().uint32(10).string(typeUrl).uint32(18).uint32(value.length).finish()
  const sotwHead = messageHead(any, value.length)
  const wrapper = new BinaryWriter().uint32(10).string(version).uint32(26).string(name)
  const deltaHead = messageHead(wrapper.raw(sotwHead).finish(), value.length)
  return { typeUrl, sotwHead, deltaHead, content: value }
}

/**
 * Begins a message in field 2 (here always `resources` or `resource`): tag, length, first bytes.
 */
const messageHead = (start: Uint8Array, restBytes: number): Uint8Array =>
  new BinaryWriter()
    .uint32(resourcesTag)
    .uint32(start.length + restBytes)
    .raw(start)
    .finish()
