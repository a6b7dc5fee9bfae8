import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Condition } from '../core/status.js'
import type { StoredObject } from '../core/stored-object.js'

/**
 * Where the objects behind routes are written to.
 *
 * Each write names the object as it was seen, and takes effect only if it is still that one, with this
 * uid and resource version. None creates anything, and none changes more than it says. A write
 * that fails may have taken effect all the same, unless it says `Conflict`, `Refused` or `Unproven`.
 */
export interface RouteStore {
  /** Adds our finalizer to those that are there. */
  readonly guard: (object: StoredObject) => TaskEither<WriteError, void>
  /**
   * Takes our finalizer off, and no other one. Of one that has none it changes nothing.
   *
   * A store that has writes wait, for their turn say, asks `isProven` after that, as the request goes out: if it says
   * no, nothing is asked of anybody, and the release is `Unproven`. Absent where nothing needs to be proven.
   */
  readonly release: (object: StoredObject, isProven?: () => boolean) => TaskEither<WriteError, void>
  /** Makes these the conditions that we own; the object's spec and finalizers stay as they are. */
  readonly writeConditions: (
    object: StoredObject,
    conditions: ReadonlyArray<Condition>,
  ) => TaskEither<WriteError, void>
}

/** Why a write failed. */
export interface WriteError {
  readonly _tag: WriteFailure
  /** For people. */
  readonly message: string
}

export type WriteFailure =
  /** The object was changed meanwhile: try again with what is there then. */
  | 'Conflict'
  /** There is no object of this uid any more. */
  | 'NotFound'
  /** It is not allowed, or not valid: trying again as it stands will not help. */
  | 'Refused'
  /** What had been proven when it was asked for was no longer so when its turn came: it was not sent. */
  | 'Unproven'
  /** No answer, or none that says what happened. */
  | 'Unavailable'
