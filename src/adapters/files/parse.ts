import * as E from 'fp-ts/lib/Either.js'
import { decodeEdgeRoute, type Decoded } from '../../core/codec.js'
import { propertyOf } from '../../core/codec/decode.js'
import { nearest, show } from '../../core/codec/show.js'
import type { EndpointSlice, Service } from '../../core/context.js'
import { apiVersion, defaultNamespace, kind, type RouteKey } from '../../core/edge-route.js'
import type { FieldError } from '../../core/field-error.js'
import {
  decodeEndpointSlice,
  decodeService,
  endpointSliceKind,
  type ObjectKind,
  serviceKind,
} from '../../core/kubernetes.js'
import { type FileContent, type FileKind, fileKinds } from './objects.js'
import type { FileDocument, Reading } from './reading.js'
import type { Pieces } from './turns.js'
import { readYaml, type YamlDocument } from './yaml-stream.js'

/**
 * Reads the text of a file: each of its documents is an EdgeRoute, a Service or an EndpointSlice, or is told to
 * be none and why.
 *
 * Total. A document that is wrong takes no other with it. Fields that EdgeRoute does not have are
 * refused: in a file, an unknown field is a typing error. Those of the other kinds are Kubernetes', of which
 * routing needs a few. Empty documents are passed over. Errors name the line where YAML knows it. To read and
 * to decode one document are a piece each.
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
  kind: undefined,
  key: undefined,
  errors: [error],
})

const parseDocument = (yaml: YamlDocument, document: number): FileDocument => {
  const written = yaml.textAt(['kind'])
  const kindOf = fileKinds.find((each) => each === written)
  const invalid = (errors: ReadonlyArray<FieldError>): FileDocument => ({
    _tag: 'Invalid',
    document,
    kind: kindOf ?? (isOther(written) ? 'Other' : undefined),
    key: errors.some(isOfName) ? undefined : keyOf(yaml),
    errors,
  })
  if (E.isLeft(yaml.value)) return invalid(yaml.value.left)
  const value = yaml.value.right
  const stranger = strangeKind(value)
  if (stranger !== undefined) return invalid([yaml.locate(stranger)])
  const decoded = decode(kindOf ?? kind, value)
  return E.isLeft(decoded)
    ? invalid(decoded.left.map(yaml.locate))
    : { _tag: 'Valid', document, ...decoded.right }
}

interface Named {
  readonly key: RouteKey
  readonly content: FileContent
}

const decode = (of: FileKind, value: unknown): E.Either<ReadonlyArray<FieldError>, Named> => {
  switch (of) {
    case 'EdgeRoute':
      return E.map(({ route: { metadata, spec } }: Decoded) => ({
        key: { namespace: metadata.namespace, name: metadata.name },
        content: { _tag: 'EdgeRoute' as const, spec },
      }))(decodeEdgeRoute(value, { unknownFields: 'refuse' }))
    case 'Service':
      return E.map((service: Service) => ({
        key: { namespace: service.namespace, name: service.name },
        content: { _tag: 'Service' as const, service },
      }))(withVersion(serviceKind, value, decodeService))
    case 'EndpointSlice':
      return E.map((slice: EndpointSlice) => ({
        key: { namespace: slice.namespace, name: slice.name },
        content: { _tag: 'EndpointSlice' as const, slice },
      }))(withVersion(endpointSliceKind, value, decodeEndpointSlice))
  }
}

/** An API server leaves out what the path says already; a file has no such path. */
const withVersion = <A>(
  { apiVersion: version }: ObjectKind,
  value: unknown,
  decodeOne: (json: unknown) => E.Either<ReadonlyArray<FieldError>, A>,
): E.Either<ReadonlyArray<FieldError>, A> =>
  propertyOf(value, 'apiVersion') === undefined
    ? E.left([{ path: 'apiVersion', message: `is required: write ${version}` }])
    : decodeOne(value)

/** True of a kind that nobody writes in place of one of ours. */
const isOther = (written: string | undefined): boolean =>
  written !== undefined && nearest(written, fileKinds) === undefined

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

/** What to say of a document that is not even meant to be an object of ours. */
const strangeKind = (value: unknown): FieldError | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = Array.isArray(value) ? 'a list' : `a ${typeof value}`
    return {
      path: '',
      message: `this is ${what}; a document is an object, of kind ${kind} for one`,
    }
  }
  if (!('kind' in value) || typeof value.kind !== 'string') return undefined
  const known: ReadonlyArray<string> = fileKinds
  if (known.includes(value.kind)) return undefined
  const meant = nearest(value.kind, known)
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return { path: 'kind', message: `${rule}; this one is ${show(value.kind)}${hint}` }
}

const rule = `files carry objects of kind ${[
  `${kind} (${apiVersion})`,
  `${serviceKind.kind} (${serviceKind.apiVersion})`,
  `${endpointSliceKind.kind} (${endpointSliceKind.apiVersion})`,
].join(', ')} only, one in a document`
