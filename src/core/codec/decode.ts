import { type Either, left, map, mapLeft, right } from 'fp-ts/lib/Either.js'
import type { ReadonlyNonEmptyArray } from 'fp-ts/lib/ReadonlyNonEmptyArray.js'
import type * as t from 'io-ts'
import { type Envelope, envelopeCodec, kindCodec, metadataCodec } from './envelope.js'
import type { Codec } from './record.js'
import { locate, type Located, report } from './report.js'
import { specCodec } from './spec.js'
import { unknownFields } from './unknown-fields.js'
import {
  defaultNamespace,
  type EdgeRoute,
  type EdgeRouteSpec,
  type Metadata,
} from '../edge-route.js'
import type { FieldError } from '../field-error.js'

export type Errors = ReadonlyNonEmptyArray<FieldError>

export interface DecodeOptions {
  /** What to do with fields that EdgeRoute does not have: refuse the object, or warn and go on. */
  readonly unknownFields: 'refuse' | 'warn'
}

export interface Decoded {
  readonly route: EdgeRoute
  /** Fields that were ignored. */
  readonly warnings: ReadonlyArray<FieldError>
}

/** The most errors that one object reports: who reads them mends the first, and decodes again. */
const maxErrors = 100

/**
 * Decodes an object of kind EdgeRoute, as parsed from YAML or JSON.
 *
 * On the left are all of its errors, in the order in which the fields stand in it. Of `metadata` it
 * takes what Kubernetes knows and keeps what routing needs: `namespace` is `default` if absent, `uid`
 * is `namespace/name`. The spec is as its author wrote it. Never throws, whatever JSON or YAML parses to,
 * and looks no deeper into it than EdgeRoute goes.
 *
 * ```ts
 * import assert from 'node:assert/strict'
 * import { decodeEdgeRoute } from 'edgewright'
 *
 * const decoded = decodeEdgeRoute({
 *   apiVersion: 'net.10xdev.io/v1',
 *   kind: 'EdgeRoute',
 *   metadata: { namespace: 'shop', name: 'checkout' },
 *   spec: { backends: [{ address: { host: '10.0.0.7', port: 8080 } }] },
 * })
 * assert.equal(decoded._tag, 'Right')
 * ```
 */
export const decodeEdgeRoute = (
  value: unknown,
  options: DecodeOptions = { unknownFields: 'refuse' },
): Either<Errors, Decoded> => {
  const kindErrors = errorsOf(value, '', kindCodec)
  if (kindErrors.length > 0) return failed(kindErrors)
  const unknown = unknownFields(value, envelopeCodec.shape, maxErrors + 1)
  const decoded = read(value, '', envelopeCodec)
  const wrong = decoded._tag === 'Left' ? decoded.left : []
  const refused = options.unknownFields === 'refuse' ? unknown : []
  if (decoded._tag === 'Left' || refused.length > 0) return failed([...wrong, ...refused])
  return right({ route: unwrap(decoded.right), warnings: report(unknown, maxErrors) })
}

/**
 * All that is wrong with a spec, in the order of its fields; none of it if it can be served.
 *
 * What Envoy would refuse is refused here. Paths start at `spec`.
 */
export const checkSpec = (spec: EdgeRouteSpec): ReadonlyArray<FieldError> =>
  report(errorsOf(spec, 'spec', specCodec), maxErrors)

/** A route as its codec reads it, part by part. */
export interface ReadRoute {
  readonly metadata: Either<Errors, Metadata>
  readonly spec: Either<Errors, EdgeRouteSpec>
}

/**
 * Reads an object that claims to be a route: what is taken of it is what was checked, and nothing else of it.
 * Never throws, not even if reading a property does.
 */
export const readRoute = (route: unknown): ReadRoute => ({
  metadata: map(named)(readPart(route, 'metadata', metadataCodec)),
  spec: readPart(route, 'spec', specCodec),
})

/** Decodes a value of any kind, as `decodeEdgeRoute` does one of its own. Never throws, not even if reading does. */
export const decodeValue = <A>(value: unknown, codec: Codec<A>): Either<Errors, A> => {
  try {
    const decoded = read(value, '', codec)
    return decoded._tag === 'Left' ? failed(decoded.left) : decoded
  } catch {
    return left([{ path: '', message: 'cannot be read' }])
  }
}

/** A property of anything; of what has none, nothing. May throw where reading it does. */
export const propertyOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined

const readPart = <A>(route: unknown, key: string, codec: Codec<A>): Either<Errors, A> => {
  try {
    const decoded = read(propertyOf(route, key), key, codec)
    return decoded._tag === 'Left' ? failed(decoded.left) : decoded
  } catch {
    return left([{ path: key, message: 'cannot be read' }])
  }
}

const errorsOf = <A>(value: unknown, key: string, codec: Codec<A>): ReadonlyArray<Located> => {
  const decoded = read(value, key, codec)
  return decoded._tag === 'Left' ? decoded.left : []
}

/** What a codec says of a value that stands at `key`. */
const read = <A>(value: unknown, key: string, codec: Codec<A>): Either<ReadonlyArray<Located>, A> =>
  mapLeft((errors: t.Errors) => errors.map(locate))(
    codec.validate(value, [{ key, type: codec, actual: value }]),
  )

const failed = (errors: ReadonlyArray<Located>): Either<Errors, never> => {
  const [first = { path: '', message: 'is wrong' }, ...rest] = report(errors, maxErrors)
  return left([first, ...rest])
}

const unwrap = ({ metadata, spec }: Envelope): EdgeRoute => ({ metadata: named(metadata), spec })

const named = (given: Envelope['metadata']): Metadata => {
  const { name, namespace = defaultNamespace, generation = 1, finalizers = [] } = given
  const { uid = `${namespace}/${name}`, creationTimestamp, deletionTimestamp } = given
  return {
    namespace,
    name,
    uid,
    generation,
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    finalizers,
  }
}
