import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { type Digest, digestStrings } from '../../../core/digest.js'
import { type JsonObject, objectIn } from '../reflector/index.js'
import { cutText, type PieceSizes } from './pieces.js'

/** What the ConfigMap by whose name a roster goes holds: the text, or the names of its parts in order. */
export type Head =
  | { readonly _tag: 'Whole'; readonly text: string }
  | { readonly _tag: 'Parts'; readonly parts: ReadonlyArray<Part> }

/** A ConfigMap with a piece of the text. It is never changed. */
export interface Part {
  readonly name: string
  readonly digest: Digest
}

/** A text as it is to be written: the head, and the pieces that it names. */
export interface Layout {
  readonly head: Head
  readonly pieces: ReadonlyMap<Digest, string>
}

/** How long a text may be that is written into the head itself, in bytes: as long as a piece or two. */
export const maxWholeBytes: number = 192 * 1024

/** The form in which the names of parts are written. One that older readers would misunderstand is another one. */
const partsVersion = 1

/** Lays a text out; `nameOf` says what the part with a piece of this digest is called. */
export const layOut = (
  text: string,
  nameOf: (digest: Digest) => string,
  sizes?: PieceSizes,
): Layout => {
  if (Buffer.byteLength(text) <= maxWholeBytes)
    return { head: { _tag: 'Whole', text }, pieces: new Map() }
  const pieces = new Map<Digest, string>()
  const parts = cutText(text, sizes).map((piece): Part => {
    const digest = digestStrings(piece)
    pieces.set(digest, piece)
    return { name: nameOf(digest), digest }
  })
  return { head: { _tag: 'Parts', parts }, pieces }
}

/** Puts a text together of what is there, by name; a left says what is missing or wrong. */
export const textOf = (
  head: Head,
  pieces: ReadonlyMap<string, string>,
): E.Either<Misread, string> => {
  if (head._tag === 'Whole') return E.right(head.text)
  const text: Array<string> = []
  for (const { name, digest } of head.parts) {
    const piece = pieces.get(name)
    if (piece === undefined)
      return E.left({ _tag: 'PartMissing', message: `its part, the ConfigMap ${name}, is missing` })
    if (digestStrings(piece) !== digest)
      return E.left({
        _tag: 'Wrong',
        message: `its part, the ConfigMap ${name}, is not what was written`,
      })
    text.push(piece)
  }
  return E.right(text.join(''))
}

/** Why there is no text. A part may be missing because the head is older than what was found of parts. */
export interface Misread {
  readonly _tag: 'PartMissing' | 'Wrong'
  /** For people. */
  readonly message: string
}

const wholeKey = 'roster'
const partsKey = 'parts'
const pieceKey = 'part'

/** The `data` of the head. */
export const dataOfHead = (head: Head): Readonly<Record<string, string>> =>
  head._tag === 'Whole'
    ? { [wholeKey]: head.text }
    : { [partsKey]: JSON.stringify({ version: partsVersion, parts: head.parts }) }

/** The `data` of a part. */
export const dataOfPiece = (piece: string): Readonly<Record<string, string>> => ({
  [pieceKey]: piece,
})

/** The piece in a part; `undefined` if it has none. */
export const pieceIn = (object: JsonObject): string | undefined => {
  const piece = objectIn(object, 'data')[pieceKey]
  return typeof piece === 'string' ? piece : undefined
}

/** Reads what `dataOfHead` has written; a left says what is wrong with it. */
export const headIn = (object: JsonObject): E.Either<string, Head> => {
  const { [wholeKey]: text, [partsKey]: parts } = objectIn(object, 'data')
  if (typeof text === 'string') return E.right({ _tag: 'Whole', text })
  if (typeof parts !== 'string')
    return E.left(`it has neither data.${wholeKey} nor data.${partsKey}`)
  const json = E.tryCatch(
    (): unknown => JSON.parse(parts),
    () => `data.${partsKey} is no JSON, or was cut off`,
  )
  if (E.isLeft(json)) return json
  const version = Versioned.decode(json.right)
  if (E.isRight(version) && version.right.version !== partsVersion)
    return E.left(unknownVersion(version.right.version))
  const written = Written.decode(json.right)
  if (E.isLeft(written)) return E.left(`data.${partsKey} is no list of parts`)
  return E.right({ _tag: 'Parts', parts: written.right.parts })
}

const unknownVersion = (version: number): string =>
  `its list of parts is of version ${version}, and this edgewright knows version ${partsVersion} only: ` +
  'run the edgewright that has written it, or a newer one'

const Versioned = t.type({ version: t.number })
const Written = t.type({
  version: t.literal(partsVersion),
  parts: t.array(t.type({ name: t.string, digest: t.string })),
})
