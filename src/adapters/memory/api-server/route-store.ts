import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { showKey } from '../../../core/edge-route.js'
import type { Condition } from '../../../core/status.js'
import { finalizer, type StoredObject } from '../../../core/stored-object.js'
import type { RouteStore, WriteError, WriteFailure } from '../../../ports/route-store.js'
import type { ApiError } from './api-error.js'
import type { ApiObject } from './api-object.js'
import { withOwnConditions } from './conditions.js'
import type { ApiConnection } from './connection.js'
import { isJsonObject, isSameJson } from './json.js'
import type { PatchOperation } from './json-patch.js'

type Written = E.Either<WriteError, void>

/**
 * Writes to the objects of a server, by JSON Patches that begin with tests of the uid and the resource version
 * which were seen. Of an object that is as it should be, nothing is asked.
 */
export const apiRouteStore = (connection: ApiConnection): RouteStore => ({
  guard: (object) =>
    object.finalizers.includes(finalizer)
      ? nothingToDo
      : answered((done) => {
          patch(connection, object, undefined, [addition(object)], done)
        }),
  release: (object, isProven) => {
    const removals = removalsOf(object)
    return removals.length === 0
      ? nothingToDo
      : answered((done) => {
          if (isProven?.() === false) done(unproven)
          else patch(connection, object, undefined, removals, done)
        })
  },
  writeConditions: (object, conditions) =>
    isSaid(object, conditions)
      ? nothingToDo
      : answered((done) => {
          lookUp(connection, object, done, (present) => {
            const next = withOwnConditions(present.status, conditions)
            patch(connection, object, 'status', [statusWith(present.status, next)], done)
          })
        }),
})

const isSaid = (
  { conditions, hasForeignConditions }: StoredObject,
  wanted: ReadonlyArray<Condition>,
): boolean =>
  hasForeignConditions !== true &&
  conditions.length === wanted.length &&
  wanted.every((each) => conditions.some((said) => isSameJson(said, each)))

const nothingToDo: TaskEither<WriteError, void> = () => Promise.resolve(E.right(undefined))

const answered =
  (ask: (done: (written: Written) => void) => void): TaskEither<WriteError, void> =>
  () =>
    new Promise(ask)

/** A patch cannot add to a list that is not there. */
const addition = ({ finalizers }: StoredObject): PatchOperation =>
  finalizers.length === 0
    ? { op: 'add', path: '/metadata/finalizers', value: [finalizer] }
    : { op: 'add', path: '/metadata/finalizers/-', value: finalizer }

/** The last entry first, so that what is removed moves none of the others: an API server keeps what is there twice. */
const removalsOf = ({ finalizers }: StoredObject): ReadonlyArray<PatchOperation> =>
  finalizers
    .flatMap((each, index) => (each === finalizer ? [`/metadata/finalizers/${index}`] : []))
    .reverse()
    .flatMap((path) => [
      { op: 'test', path, value: finalizer },
      { op: 'remove', path },
    ])

const statusWith = (status: unknown, conditions: ReadonlyArray<unknown>): PatchOperation =>
  isJsonObject(status)
    ? { op: 'add', path: '/status/conditions', value: conditions }
    : { op: 'add', path: '/status', value: { conditions } }

const patch = (
  connection: ApiConnection,
  object: StoredObject,
  subresource: 'status' | undefined,
  operations: ReadonlyArray<PatchOperation>,
  done: (written: Written) => void,
): void => {
  const { key, uid, resourceVersion } = object
  const tests: ReadonlyArray<PatchOperation> = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
  ]
  const write = {
    _tag: 'Patch',
    key,
    patch: [...tests, ...operations],
    ...(subresource && { subresource }),
  } as const
  connection.write(write, (answer) => {
    if (E.isRight(answer)) done(E.right(undefined))
    else if (answer.left.code === testFailedCode) explain(connection, object, answer.left, done)
    else done(E.left(writeErrorOf(answer.left)))
  })
}

/** A patch is answered so where a test fails, and where what it asks for is not allowed. */
const testFailedCode = 422

/** Looks which of the two it was: either way nothing was written. */
const explain = (
  connection: ApiConnection,
  object: StoredObject,
  error: ApiError,
  done: (written: Written) => void,
): void => {
  lookUp(connection, object, done, () => {
    done(failure('Refused', error.message))
  })
}

/** Goes on if the object is still as it was seen. */
const lookUp = (
  connection: ApiConnection,
  { key, uid, resourceVersion }: StoredObject,
  done: (written: Written) => void,
  goOn: (present: ApiObject) => void,
): void => {
  connection.get(key, (answer) => {
    if (E.isLeft(answer)) done(E.left(writeErrorOf(answer.left)))
    else if (answer.right.metadata.uid !== uid)
      done(failure('NotFound', `${showKey(key)} is another object now`))
    else if (answer.right.metadata.resourceVersion !== resourceVersion)
      done(failure('Conflict', `${showKey(key)} has changed`))
    else goOn(answer.right)
  })
}

const failure = (_tag: WriteFailure, message: string): Written => E.left({ _tag, message })

const unproven = failure('Unproven', 'not sent: it is no longer proven that no Envoy serves it')

const writeErrorOf = ({ code, message }: ApiError): WriteError => ({
  _tag: failureOf(code),
  message,
})

/** What is neither said to be wrong nor to be gone may have happened. */
const failureOf = (code: number): WriteFailure => {
  if (code === 404) return 'NotFound'
  if (code === 409) return 'Conflict'
  return refusals.has(code) ? 'Refused' : 'Unavailable'
}

/** Malformed, forbidden, not valid: 401 too, since who asks again asks with the same credentials. */
const refusals: ReadonlySet<number> = new Set([400, 401, 403, 405, 413, 415, 422])
