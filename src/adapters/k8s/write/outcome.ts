import * as E from 'fp-ts/lib/Either.js'
import { cutMessage } from '../../../core/cut-message.js'
import { type RouteKey, showKey } from '../../../core/edge-route.js'
import type { StoredObject } from '../../../core/stored-object.js'
import type { WriteError, WriteFailure } from '../../../ports/route-store.js'
import type { ApiFailure, ApiReply } from '../api.js'
import { objectIn, textIn } from '../informers/index.js'
import { isDone, isVersioned, saidBy } from '../reply.js'
import { defaultPauseMs, maxPauseMs } from './limits.js'

export const writeError = (_tag: WriteFailure, message: string): WriteError => ({
  _tag,
  message: cutMessage(message),
})

/** It was not sent. */
export const unproven: WriteError = writeError(
  'Unproven',
  'not sent: it is no longer proven that no Envoy serves it',
)

/** Why there was no reply. The write may have taken effect, unless it was not sent. */
export const unanswered = ({ _tag, message }: ApiFailure): WriteError =>
  _tag === 'Unwanted' ? unproven : writeError('Unavailable', message)

/**
 * Whether only a look at the object tells what a reply means: 422 says that a test of a patch has failed, and that
 * what it asks for is not allowed; 409 that the object has changed, and that it is another one.
 */
export const isAmbiguous = ({ status }: ApiReply): boolean =>
  status === 409 || status === 412 || status === 422

/**
 * What a reply says against a write.
 *
 * | status                                 | is            |
 * | -------------------------------------- | ------------- |
 * | 404 of this object                     | `NotFound`    |
 * | 409, 412                               | `Conflict`    |
 * | 400, 401, 403, 405, 406, 413, 415, 422 | `Refused`     |
 * | any other                              | `Unavailable` |
 *
 * A 404 that names no object is said by a server that does not know the kind, perhaps because it has just started.
 */
export const refusalOf = (object: StoredObject, reply: ApiReply): WriteError => {
  const said = saidBy(reply)
  const message = `the API server answers ${reply.status}${said === undefined ? '' : `: ${said}`}`
  return writeError(failureOf(object, reply), message)
}

const failureOf = ({ key }: StoredObject, { status, body }: ApiReply): WriteFailure => {
  if (status === 404)
    return textIn(objectIn(body, 'details'), 'name') === key.name ? 'NotFound' : 'Unavailable'
  if (status === 409 || status === 412) return 'Conflict'
  return refusals.has(status) ? 'Refused' : 'Unavailable'
}

const refusals: ReadonlySet<number> = new Set([400, 401, 403, 405, 406, 413, 415, 422])

/** What an ambiguous reply to a write has meant, by what a look at the object has shown afterwards. */
export const explained = (
  object: StoredObject,
  reply: ApiReply,
  look: E.Either<WriteError, ApiReply>,
): WriteError => {
  const refusal = refusalOf(object, reply)
  if (E.isRight(look) && isDone(look.right)) return compared(object, look.right, refusal)
  const onLook = E.isLeft(look) ? look.left : refusalOf(object, look.right)
  return refusal._tag === 'Conflict' && onLook._tag !== 'NotFound' ? refusal : onLook
}

const compared = (
  { key, uid, resourceVersion }: StoredObject,
  { body }: ApiReply,
  refusal: WriteError,
): WriteError => {
  const metadata = objectIn(body, 'metadata')
  if (!isVersioned(body)) return noObject(key)
  if (textIn(metadata, 'uid') !== uid)
    return writeError('NotFound', `${showKey(key)} is another object now`)
  if (textIn(metadata, 'resourceVersion') !== resourceVersion)
    return writeError('Conflict', `${showKey(key)} has changed`)
  return refusal
}

/** A reply that says that it was done, and brings something else than an object: nobody knows who has answered. */
export const noObject = (key: RouteKey): WriteError =>
  writeError(
    'Unavailable',
    `something else than ${showKey(key)} was sent. Is there a proxy before the API server?`,
  )

/** How long a server asks to be left alone with a reply, in milliseconds; `undefined` if it does not. */
export const pauseAskedFor = ({ status, retryAfterMs }: ApiReply): number | undefined => {
  if (status !== 429 && (status < 500 || retryAfterMs === undefined)) return undefined
  return Math.min(retryAfterMs ?? defaultPauseMs, maxPauseMs)
}
