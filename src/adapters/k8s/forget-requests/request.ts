import { createHash } from 'node:crypto'
import type { ApiRequest } from '../api.js'
import { isObject, textIn } from '../informers/index.js'
import { type Place, pathTo } from '../objects/places.js'

/** What has become of a wish to forget an Envoy. */
export type ForgetAnswer =
  | 'Forgotten'
  /** It is forgotten, and whoever has asked for it should know this. */
  | { readonly warning: string }
  /** It is connected: what it says itself is what counts. */
  | 'Connected'
  /** No Envoy of this id is known. */
  | 'Unknown'
  | { readonly failure: string }

/** One entry of the ConfigMap in which people ask, and the control plane answers. */
export interface ForgetRequest {
  /** Of the Envoy's node. */
  readonly id: string
  /** Tells one request for an id from the next one. */
  readonly nonce: string
  /** Absent as long as there is none. */
  readonly answer?: ForgetAnswer
}

/** What the ConfigMap is called. */
export const forgetRequestsName = 'edgewright-forget'

/** How long a request about it may take, in milliseconds. */
export const requestDeadlineMs = 5_000

/** Under what key a request stands: ids are longer than keys may be, and have other characters. */
export const keyOfId = (id: string): string => createHash('sha256').update(id).digest('hex')

export const readRequests = (place: Place): ApiRequest => ({
  method: 'GET',
  path: pathTo(place),
  deadlineMs: requestDeadlineMs,
})

/** Makes the object, which has nothing but this one request. */
export const createRequests = (place: Place, request: ForgetRequest): ApiRequest => ({
  method: 'POST',
  path: place.collection,
  body: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: place.name },
    data: { [keyOfId(request.id)]: JSON.stringify(request) },
  },
  deadlineMs: requestDeadlineMs,
})

/**
 * Writes some entries, and takes away those that are `undefined`; all others stay as they are. If a version is given,
 * only as long as the object is still in that state.
 */
export const patchRequests = (
  place: Place,
  entries: ReadonlyArray<readonly [key: string, request: ForgetRequest | undefined]>,
  version?: string,
): ApiRequest => ({
  method: 'PATCH',
  path: pathTo(place),
  contentType: 'application/merge-patch+json',
  body: {
    ...(version !== undefined && { metadata: { resourceVersion: version } }),
    data: Object.fromEntries(
      entries.map(([key, request]) => [
        key,
        request === undefined ? null : JSON.stringify(request),
      ]),
    ),
  },
  deadlineMs: requestDeadlineMs,
})

/** Reads an entry; `undefined` of what is none. */
export const requestIn = (text: unknown): ForgetRequest | undefined => {
  const json = typeof text === 'string' ? parsed(text) : undefined
  if (!isObject(json)) return undefined
  const [id, nonce] = [textIn(json, 'id'), textIn(json, 'nonce')]
  if (id === undefined || id === '' || nonce === undefined) return undefined
  const answer = answerIn(json.answer)
  return answer === undefined ? { id, nonce } : { id, nonce, answer }
}

const answerIn = (value: unknown): ForgetAnswer | undefined => {
  if (value === 'Forgotten' || value === 'Connected' || value === 'Unknown') return value
  if (!isObject(value)) return undefined
  const [failure, warning] = [textIn(value, 'failure'), textIn(value, 'warning')]
  if (failure !== undefined) return { failure }
  return warning === undefined ? undefined : { warning }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
