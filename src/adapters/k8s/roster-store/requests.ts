import { type Digest, digestStrings } from '../../../core/digest.js'
import type { ApiRequest } from '../api.js'
import { pathTo, type Place, versionOf } from '../objects/places.js'
import { type JsonObject, objectIn, textIn } from '../reflector/index.js'
import { dataOfHead, dataOfPiece, type Head } from './head.js'

/** How long the reply to one request may take, in milliseconds; a busy API server needs some hundred. */
export const requestDeadlineMs = 10_000

/** The label of all parts of a roster, with its name. */
const partLabel = 'net.10xdev.io/part-of-roster'

/** Says in the head which store has written it, and how often that had tried to before. */
const markAnnotation = 'net.10xdev.io/saved-by'

const ours = { 'app.kubernetes.io/managed-by': 'edgewright' }

/** How many parts are read at once: 6 MiB on average, 25 at most. */
const pageSize = 50

/** Reads the head. */
export const readHead = (place: Place): ApiRequest => ({
  method: 'GET',
  path: pathTo(place),
  deadlineMs: requestDeadlineMs,
  isVital: true,
})

/** Writes the head in the place of the state `version`, or where there is none if that is `undefined`. */
export const writeHead = (
  place: Place,
  head: Head,
  version: string | undefined,
  mark: string,
): ApiRequest => ({
  method: version === undefined ? 'POST' : 'PUT',
  path: version === undefined ? place.collection : pathTo(place),
  body: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: place.name,
      labels: ours,
      annotations: { [markAnnotation]: mark },
      ...(version !== undefined && { resourceVersion: version }),
    },
    data: dataOfHead(head),
  },
  deadlineMs: requestDeadlineMs,
  isVital: true,
})

/** What tells one state of the head from another. */
export interface Seen {
  readonly version: string
  /** By which try of which store it was written; empty if it does not say. */
  readonly mark: string
  /** Of the mark and of what it says: the same where nothing but its labels and the like were changed. */
  readonly fingerprint: Digest
}

export const seenIn = (head: JsonObject): Seen => {
  const metadata = objectIn(head, 'metadata')
  const mark = textIn(objectIn(metadata, 'annotations'), markAnnotation) ?? ''
  const fingerprint = digestStrings(mark, JSON.stringify(objectIn(head, 'data')))
  return { version: versionOf(head), mark, fingerprint }
}

/** Reads a page of the parts. */
export const listParts = ({ collection, name }: Place, rest: string | undefined): ApiRequest => ({
  method: 'GET',
  path: collection,
  query: {
    labelSelector: `${partLabel}=${name}`,
    limit: `${pageSize}`,
    ...(rest !== undefined && { continue: rest }),
  },
  deadlineMs: requestDeadlineMs,
  isVital: true,
})

export const createPart = (
  { collection, name: roster }: Place,
  name: string,
  piece: string,
): ApiRequest => ({
  method: 'POST',
  path: collection,
  body: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { ...ours, [partLabel]: roster } },
    immutable: true,
    data: dataOfPiece(piece),
  },
  deadlineMs: requestDeadlineMs,
  isVital: true,
})

export const deletePart = ({ collection }: Place, name: string): ApiRequest => ({
  method: 'DELETE',
  path: pathTo({ collection, name }),
  deadlineMs: requestDeadlineMs,
  isVital: true,
})
