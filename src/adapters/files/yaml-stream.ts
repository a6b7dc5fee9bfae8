import * as E from 'fp-ts/lib/Either.js'
import { Composer, type Document, isMap, isNode, isScalar, LineCounter, Parser } from 'yaml'
import type { FieldError } from '../../core/field-error.js'
import type { Pieces } from './turns.js'
import { cycleIn, hasMoreAliases, nameOf, repeatedKeys, splitPath } from './yaml-checks.js'
import { oversizeOf } from './yaml-size.js'

/** One YAML document: its value, or why it has none. */
export interface YamlDocument {
  readonly value: E.Either<ReadonlyArray<FieldError>, unknown>
  /** True where the text is not YAML. */
  readonly broken: boolean
  /** True if there is anything at a path, also in a document that has no value. */
  readonly has: (path: ReadonlyArray<string>) => boolean
  /** The text at a path, also in a document that has no value. */
  readonly textAt: (path: ReadonlyArray<string>) => string | undefined
  /** Adds to an error the line of its field, or of what encloses that. */
  readonly locate: (error: FieldError) => FieldError
}

/**
 * How many aliases a document may have, and each anchor expand to. An EdgeRoute needs none, and a
 * few dozen may save typing; without a bound, 200 bytes of nested aliases make gigabytes.
 */
export const maxAliases = 100

/** How many errors are told of one document: nobody reads more, and a mebibyte can have 200,000. */
export const maxErrors = 20

/**
 * Splits a text into its YAML documents: YAML 1.2 with the core schema and without merge keys,
 * whatever a `%YAML` directive says.
 *
 * Total: a left says what is wrong with the text as a whole, as that it has too many documents. A
 * document without content is `undefined`. A value has no cycle, no key twice, and only types that
 * JSON has too (and infinity, and not-a-number). Each document is a piece; its cost is bounded by
 * its length, see `oversizeOf`.
 */
export function* readYaml(
  text: string,
): Pieces<E.Either<FieldError, ReadonlyArray<YamlDocument | undefined>>> {
  const oversize = oversizeOf(text)
  if (oversize !== undefined) return E.left({ path: '', message: oversize })
  const lines = new LineCounter()
  const composer = new Composer(options)
  const documents: Array<YamlDocument | undefined> = []
  try {
    for (const document of composer.compose(new Parser(lines.addNewLine).parse(text))) {
      documents.push(readDocument(document, lines))
      yield
    }
    const { errors, warnings } = composer.streamInfo()
    const fault = [...errors, ...warnings][0]
    if (fault !== undefined) return E.left({ path: '', message: inWords(fault.message) })
    return E.right(documents)
  } catch (error) {
    return E.left({ path: '', message: showThrown(error) })
  }
}

const options = {
  version: '1.2',
  schema: 'core',
  merge: false,
  resolveKnownTags: false,
  uniqueKeys: false, // checked by `repeatedKeys`
  prettyErrors: false,
  logLevel: 'silent',
} as const

const readDocument = (document: Document.Parsed, lines: LineCounter): YamlDocument | undefined => {
  const faults = [...document.errors, ...document.warnings].map(({ message, pos }) => {
    const { line, col } = lines.linePos(pos[0])
    return { path: '', message: `line ${line}, column ${col}: ${inWords(message)}` }
  })
  if (faults.length === 0 && isEmpty(document)) return undefined
  return {
    value: faults.length > 0 ? E.left(bounded(faults)) : valueOf(document, lines),
    broken: document.errors.length > 0,
    has: (path) => document.hasIn(path),
    textAt: (path) => {
      const value: unknown = document.getIn(path)
      return typeof value === 'string' ? value : undefined
    },
    locate: locator(document, lines),
  }
}

const isEmpty = ({ contents }: Document.Parsed): boolean =>
  contents === null || (isScalar(contents) && contents.value === null)

const valueOf = (document: Document.Parsed, lines: LineCounter): YamlDocument['value'] => {
  const repeated = repeatedKeys(document, lines, maxErrors)
  if (repeated.length > 0) return E.left(repeated)
  if (hasMoreAliases(document, maxAliases)) return E.left([{ path: '', message: tooManyAliases }])
  try {
    // The library counts the anchor too.
    const value: unknown = document.toJS({ maxAliasCount: maxAliases + 1 })
    const path = cycleIn(value)
    if (path === undefined) return E.right(value)
    const message = 'contains itself: an alias must not stand inside its anchor'
    return E.left([locator(document, lines)({ path, message })])
  } catch (error) {
    return E.left([{ path: '', message: showThrown(error) }])
  }
}

const locator =
  (document: Document.Parsed, lines: LineCounter): YamlDocument['locate'] =>
  ({ path, message }) => {
    const start = startOf(document, splitPath(path))
    const line = start === undefined ? '' : ` (line ${lines.linePos(start).line})`
    return { path, message: `${message}${line}` }
  }

/** Where the innermost part of a path that is there begins: at its key, or at its dash. */
const startOf = (document: Document.Parsed, path: ReadonlyArray<string>): number | undefined => {
  for (let length = path.length; length > 0; length -= 1) {
    const parent: unknown =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true)
    const name = path[length - 1]
    const pair = isMap(parent) ? parent.items.find(({ key }) => nameOf(key) === name) : undefined
    const found: unknown = pair?.key ?? document.getIn(path.slice(0, length), true)
    if (isNode(found) && found.range) return found.range[0]
  }
  return document.contents?.range[0]
}

const bounded = (errors: ReadonlyArray<FieldError>): ReadonlyArray<FieldError> => {
  const more = errors.length - maxErrors
  if (more <= 0) return errors
  return [...errors.slice(0, maxErrors), { path: '', message: `and ${more} more errors` }]
}

/**
 * The library throws a RangeError where the stack ends, and a ReferenceError for aliases. V8 throws a SyntaxError where
 * the stack ends while it compiles a regular expression.
 */
const showThrown = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof RangeError || message.includes('Maximum call stack size exceeded')
    ? 'is nested too deeply'
    : inWords(message)
}

const inWords = (message: string): string =>
  message.startsWith('Excessive alias count')
    ? tooManyAliases
    : `is not valid YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`

const tooManyAliases = `its aliases expand to too much: more than ${maxAliases} values`
