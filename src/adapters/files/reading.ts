import type { RouteKey } from '../../core/edge-route.js'
import type { FieldError } from '../../core/field-error.js'
import type { FileContent, FileKind } from './objects.js'

/** What one look at one file gave. The same object as long as the file has not changed. */
export type Reading = Parsed | Empty | Unreadable

export interface Parsed {
  readonly _tag: 'Parsed'
  /** In their order; empty documents are left out. */
  readonly documents: ReadonlyArray<FileDocument>
  /**
   * True where the text is not YAML: half written as a rule. An unclosed quote swallows the
   * documents behind it, so what seems to be missing from such a file proves nothing.
   */
  readonly broken: boolean
}

/** The file has no byte: a shell empties a file before the program runs that is to fill it. */
export interface Empty {
  readonly _tag: 'Empty'
}

export interface Unreadable {
  readonly _tag: 'Unreadable'
  readonly message: string
  /** Tells one content of the file from another, where that is known. */
  readonly stamp: string | undefined
}

/** One document of a file. */
export type FileDocument =
  | {
      readonly _tag: 'Valid'
      /** From 1, as YAML counts them: empty ones count too. */
      readonly document: number
      readonly key: RouteKey
      readonly content: FileContent
    }
  | {
      readonly _tag: 'Invalid'
      /** Absent where the fault is of the file as a whole. */
      readonly document: number | undefined
      /** Absent where it could not be read, or may be misspelt. */
      readonly kind: FileKind | 'Other' | undefined
      /** The name of the object, where it could be read all the same. */
      readonly key: RouteKey | undefined
      readonly errors: ReadonlyArray<FieldError>
    }

/** True if two looks at one file saw the same. */
export const isSameReading = (a: Reading | undefined, b: Reading | undefined): boolean =>
  a === b ||
  (a?._tag === 'Unreadable' &&
    b?._tag === 'Unreadable' &&
    a.message === b.message &&
    a.stamp === b.stamp)

/** How a place is named to people: `shop.yaml`, or `shop.yaml#2` for its second document. */
export const showPlace = (path: string, document: number | undefined): string =>
  document === undefined ? path : `${path}#${document}`
