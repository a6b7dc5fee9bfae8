import * as E from 'fp-ts/lib/Either.js'
import { showKey } from '../../../core/edge-route.js'
import { type ApiError, badRequest, conflict, invalid, refuse } from './api-error.js'
import {
  type ApiObject,
  type MetaInput,
  type ObjectInput,
  type ObjectMeta,
  readInput,
} from './api-object.js'
import { freeze, isSameJson } from './json.js'
import { applyPatch, type JsonPatch } from './json-patch.js'

/** What an update makes of an object. */
export interface Update {
  readonly object: ApiObject
  readonly outcome: 'Nothing' | 'Modifies' | 'StatusOnly' | 'Deletes'
}

/** Puts an object, or its status, in the place of another one. Its uid, if it brings one, is a precondition. */
export const put = (
  before: ApiObject,
  sent: ObjectInput,
  subresource: 'status' | undefined,
): E.Either<ApiError, Update> => {
  const { uid } = sent.metadata
  return uid !== undefined && uid !== before.metadata.uid
    ? refuse(
        conflict(
          `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
        ),
      )
    : replaced(before, sent, subresource)
}

/** Applies a patch to an object, or to its status: the rest of what it does is then ignored. */
export const patched = (
  before: ApiObject,
  patch: JsonPatch,
  subresource: 'status' | undefined,
): E.Either<ApiError, Update> => {
  const applied = applyPatch(before, patch)
  if (E.isLeft(applied)) return refuse(invalid(applied.left))
  const read = readInput(applied.right)
  if (E.isLeft(read)) return refuse(invalid(read.left))
  const { namespace, name } = read.right.metadata
  return namespace === before.metadata.namespace && name === before.metadata.name
    ? replaced(before, read.right, subresource)
    : refuse(badRequest('the name of the object does not match the name that was asked for'))
}

const replaced = (
  before: ApiObject,
  sent: ObjectInput,
  subresource: 'status' | undefined,
): E.Either<ApiError, Update> => {
  const { resourceVersion } = sent.metadata
  if (resourceVersion === undefined)
    return refuse(invalid('metadata.resourceVersion: must be specified for an update'))
  if (resourceVersion !== before.metadata.resourceVersion)
    return refuse(
      conflict(
        `Operation cannot be fulfilled on ${showKey(before.metadata)}: the object has been modified`,
      ),
    )
  return subresource === 'status'
    ? E.right(withStatus(before, sent.status))
    : E.map((metadata: ObjectMeta) => withSpec(before, metadata, sent.spec))(
        metadataAfter(before, sent.metadata),
      )
}

const withStatus = (before: ApiObject, status: unknown): Update => {
  const { status: old, ...rest } = before
  return isSameJson(old, status)
    ? { object: before, outcome: 'Nothing' }
    : { object: { ...rest, ...(status !== undefined && { status }) }, outcome: 'StatusOnly' }
}

const withSpec = (before: ApiObject, metadata: ObjectMeta, spec: unknown): Update => {
  const { spec: old, ...rest } = before
  const isSameSpec = isSameJson(old, spec)
  const generation = metadata.generation + (isSameSpec ? 0 : 1)
  const object = {
    ...rest,
    metadata: { ...metadata, generation },
    ...(spec !== undefined && { spec }),
  }
  if (metadata.deletionTimestamp !== undefined && metadata.finalizers === undefined)
    return { object: freeze(object), outcome: 'Deletes' }
  return isSameJson(before, object)
    ? { object: before, outcome: 'Nothing' }
    : { object, outcome: 'Modifies' }
}

/** What the server knows itself stays as it is; finalizers, labels and annotations are the client's. */
const metadataAfter = (
  { metadata: before }: ApiObject,
  { uid, deletionTimestamp, finalizers, labels, annotations }: MetaInput,
): E.Either<ApiError, ObjectMeta> => {
  if (uid !== undefined && uid !== before.uid)
    return refuse(invalid('metadata.uid: field is immutable'))
  if (before.deletionTimestamp === undefined && deletionTimestamp !== undefined)
    return refuse(invalid('metadata.deletionTimestamp: field is immutable'))
  const known = new Set(before.finalizers)
  const added = (finalizers ?? []).filter((each) => !known.has(each))
  if (before.deletionTimestamp !== undefined && added.length > 0)
    return refuse(
      invalid(
        `metadata.finalizers: no new ones if the object is being deleted: ${added.join(', ')}`,
      ),
    )
  return E.right({
    ...serverMeta(before),
    ...(finalizers && { finalizers }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  })
}

const serverMeta = (meta: ObjectMeta): ObjectMeta => {
  const { namespace, name, uid, resourceVersion, generation, creationTimestamp } = meta
  const { deletionTimestamp, deletionGracePeriodSeconds } = meta
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  }
}
