import * as E from 'fp-ts/lib/Either.js'
import { apiVersion, kind, type RouteKey } from '../../../core/edge-route.js'
import {
  alreadyExists,
  type ApiError,
  badRequest,
  conflict,
  internalError,
  invalid,
} from './api-error.js'
import { type ApiObject, type ObjectInput, readInput } from './api-object.js'
import type { JsonPatch } from './json-patch.js'
import { type Change, commit, findObject, getObject, type ServerState } from './server-state.js'
import { patched, put, type Update } from './update.js'

/** What a client asks to be changed. */
export type Write =
  | { readonly _tag: 'Create'; readonly object: ObjectInput }
  /** Replaces an object (a PUT), or its status alone. */
  | {
      readonly _tag: 'Update'
      readonly object: ObjectInput
      readonly subresource?: 'status'
    }
  /** A JSON Patch, applied all or not at all. */
  | {
      readonly _tag: 'Patch'
      readonly key: RouteKey
      readonly patch: JsonPatch
      readonly subresource?: 'status'
    }
  /** Deletes, if nothing else holds the object; else it is marked as terminating. */
  | {
      readonly _tag: 'Delete'
      readonly key: RouteKey
      readonly uid?: string
      readonly resourceVersion?: string
    }

/** What the server is set up with. */
export interface Rules {
  /** How many changes watches can look back. */
  readonly historyLimit: number
  /** What is wrong with an object whose metadata or spec is written; `undefined` if nothing is. */
  readonly validate: (object: ApiObject, before: ApiObject | undefined) => string | undefined
}

/** What a write has come to. */
export interface Written {
  readonly state: ServerState
  /** The object as it is now; of one that is gone, its last form. */
  readonly answer: E.Either<ApiError, ApiObject>
  /** Absent where nothing has changed. */
  readonly change?: Change
}

/**
 * Carries out one write, as a Kubernetes API server does for a custom resource with a status subresource.
 *
 * | write                | object                       | becomes                                     |
 * | -------------------- | ---------------------------- | ------------------------------------------- |
 * | Create               | absent                       | there: a new uid, generation 1, no status   |
 * | Create               | there                        | 409 AlreadyExists                           |
 * | any other            | absent                       | 404 NotFound                                |
 * | Update               | of another version, or uid   | 409 Conflict                                |
 * | Update, Patch        | would be what it is          | the same, with its version                  |
 * | Update, Patch        | spec differs                 | generation + 1; its status stays            |
 * | Update, Patch        | terminating, new finalizer   | 422 Invalid                                 |
 * | Update, Patch        | terminating, no finalizer    | deleted                                     |
 * | … of the status      | status differs               | with this status; all else stays            |
 * | Patch                | an operation fails           | 422 Invalid                                 |
 * | Delete               | of another version, or uid   | 409 Conflict                                |
 * | Delete               | without finalizers           | deleted                                     |
 * | Delete               | with finalizers              | terminating, generation + 1                 |
 * | Delete               | terminating                  | the same, with its version                  |
 *
 * Each change takes the next resource version. What a deletion tells watches is the object as it was stored,
 * its last finalizer included; who took that off is answered with the object without it, in its old version.
 */
export const step = (state: ServerState, write: Write, nowMs: number, rules: Rules): Written => {
  switch (write._tag) {
    case 'Create':
      return create(state, write.object, nowMs, rules)
    case 'Update':
      return E.match(
        (message: string) => failed(state, badRequest(message)),
        (sent: ObjectInput) =>
          update(state, sent.metadata, rules, (before) => put(before, sent, write.subresource)),
      )(readInput(write.object))
    case 'Patch':
      return update(state, write.key, rules, (before) =>
        patched(before, write.patch, write.subresource),
      )
    case 'Delete':
      return E.match(
        (error: ApiError) => failed(state, error),
        (object: ApiObject) => erase(state, object, write, nowMs, rules),
      )(getObject(state, write.key))
  }
}

const create = (state: ServerState, object: unknown, nowMs: number, rules: Rules): Written => {
  const read = readInput(object)
  if (E.isLeft(read)) return failed(state, badRequest(read.left))
  const { metadata, spec } = read.right
  const { namespace, name, finalizers, labels, annotations, resourceVersion } = metadata
  if (resourceVersion !== undefined)
    return failed(
      state,
      internalError('resourceVersion should not be set on objects to be created'),
    )
  const created: ApiObject = {
    apiVersion,
    kind,
    metadata: {
      namespace,
      name,
      uid: uidOf(state.created + 1),
      resourceVersion: '',
      generation: 1,
      creationTimestamp: showTime(nowMs),
      ...(finalizers && { finalizers }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    ...(spec !== undefined && { spec }),
  }
  const wrong = rules.validate(created, undefined)
  if (wrong !== undefined) return failed(state, invalid(wrong))
  const there = findObject(state, metadata)
  return there === undefined
    ? done(state, 'ADDED', created, rules)
    : failed(state, alreadyExists(metadata, there.metadata.deletionTimestamp !== undefined))
}

const update = (
  state: ServerState,
  key: RouteKey,
  rules: Rules,
  change: (before: ApiObject) => E.Either<ApiError, Update>,
): Written => {
  const found = getObject(state, key)
  if (E.isLeft(found)) return failed(state, found.left)
  const before = found.right
  const updated = change(before)
  if (E.isLeft(updated)) return failed(state, updated.left)
  const { object, outcome } = updated.right
  const wrong = outcome === 'StatusOnly' ? undefined : rules.validate(object, before)
  if (wrong !== undefined) return failed(state, invalid(wrong))
  switch (outcome) {
    case 'Nothing':
      return { state, answer: E.right(before) }
    case 'Deletes':
      return { ...done(state, 'DELETED', before, rules), answer: E.right(object) }
    case 'Modifies':
    case 'StatusOnly':
      return done(state, 'MODIFIED', object, rules)
  }
}

const erase = (
  state: ServerState,
  object: ApiObject,
  { uid, resourceVersion }: Write & { readonly _tag: 'Delete' },
  nowMs: number,
  rules: Rules,
): Written => {
  const { metadata } = object
  if (uid !== undefined && uid !== metadata.uid)
    return failed(state, conflict(`the UID in the precondition (${uid}) is not ${metadata.uid}`))
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    return failed(
      state,
      conflict(
        `the ResourceVersion in the precondition (${resourceVersion}) is not the present one`,
      ),
    )
  if (metadata.finalizers === undefined) return done(state, 'DELETED', object, rules)
  if (metadata.deletionTimestamp !== undefined) return { state, answer: E.right(object) }
  const terminating = {
    ...metadata,
    generation: metadata.generation + 1,
    deletionTimestamp: showTime(nowMs),
    deletionGracePeriodSeconds: 0,
  }
  return done(state, 'MODIFIED', { ...object, metadata: terminating }, rules)
}

const done = (
  before: ServerState,
  type: Change['type'],
  object: ApiObject,
  { historyLimit }: Rules,
): Written => {
  const [state, change] = commit(before, type, object, historyLimit)
  return { state, change, answer: E.right(change.object) }
}

const failed = (state: ServerState, error: ApiError): Written => ({ state, answer: E.left(error) })

/** A uid in the form that Kubernetes gives it, of the how manieth object it is. */
const uidOf = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** In seconds, as Kubernetes writes it. */
const showTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -5)}Z`
