import * as E from 'fp-ts/lib/Either.js'
import { decodeEdgeRoute } from '../../core/codec.js'
import { nearest, show } from '../../core/codec/show.js'
import { apiVersion, defaultNamespace, kind, type RouteKey } from '../../core/edge-route.js'
import type { FieldError } from '../../core/field-error.js'
import type { FileDocument, Reading } from './reading.js'
import type { Pieces } from './turns.js'
import { readYaml, type YamlDocument } from './yaml-stream.js'

/**
 * Reads the text of a file: each of its documents is an EdgeRoute, or is told to be none and why.
 *
 * Total. A document that is wrong takes no other with it. Fields that EdgeRoute does not have are
 * refused: in a file, an unknown field is a typing error. Empty documents are passed over. Errors
 * name the line where YAML knows it. To read and to decode one document are a piece each.
 */
export function* parseFile(text: string): Pieces<Reading> {
  const stream = yield* readYaml(text)
  if (E.isLeft(stream)) return { _tag: 'Parsed', documents: [whole(stream.left)], broken: true }
  const documents: Array<FileDocument> = []
  for (const [index, document] of stream.right.entries()) {
    if (document === undefined) continue
    documents.push(parseDocument(document, index + 1))
    yield
  }
  return { _tag: 'Parsed', documents, broken: stream.right.some((document) => document?.broken) }
}

const whole = (error: FieldError): FileDocument => ({
  _tag: 'Invalid',
  document: undefined,
  key: undefined,
  errors: [error],
})

const parseDocument = (yaml: YamlDocument, document: number): FileDocument => {
  const invalid = (errors: ReadonlyArray<FieldError>): FileDocument => ({
    _tag: 'Invalid',
    document,
    key: errors.some(isOfName) ? undefined : keyOf(yaml),
    errors,
  })
  if (E.isLeft(yaml.value)) return invalid(yaml.value.left)
  const stranger = strangeKind(yaml.value.right)
  if (stranger !== undefined) return invalid([yaml.locate(stranger)])
  const decoded = decodeEdgeRoute(yaml.value.right, { unknownFields: 'refuse' })
  if (E.isLeft(decoded)) return invalid(decoded.left.map(yaml.locate))
  const { metadata, spec } = decoded.right.route
  const key = { namespace: metadata.namespace, name: metadata.name }
  return { _tag: 'Valid', document, key, spec }
}

/** A name that is wrong may stand for any object. */
const isOfName = ({ path }: FieldError): boolean =>
  path === 'metadata.name' || path === 'metadata.namespace'

const keyOf = (yaml: YamlDocument): RouteKey | undefined => {
  const name = yaml.textAt(['metadata', 'name'])
  const namespace = yaml.has(['metadata', 'namespace'])
    ? yaml.textAt(['metadata', 'namespace'])
    : defaultNamespace
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}

/** What to say of a document that is not even meant to be an EdgeRoute. */
const strangeKind = (value: unknown): FieldError | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = Array.isArray(value) ? 'a list' : `a ${typeof value}`
    return { path: '', message: `this is ${what}; a document is an object of kind ${kind}` }
  }
  if (!('kind' in value) || typeof value.kind !== 'string' || value.kind === kind) return undefined
  const rule = `files carry objects of kind ${kind} (${apiVersion}) only, one in a document`
  const meant = nearest(value.kind, [kind])
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return { path: 'kind', message: `${rule}; this one is ${show(value.kind)}${hint}` }
}
