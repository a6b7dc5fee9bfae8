import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Context } from '../core/context.js'
import type { EdgeRoute, RouteKey } from '../core/edge-route.js'
import type { FieldError } from '../core/field-error.js'
import type { StoredObject } from '../core/stored-object.js'

/** Where routes come from: a directory of files, a cluster, a test. */
export interface RouteSource {
  /**
   * Watches until `signal` aborts; ends with a left only if watching cannot go on at all.
   *
   * `onState` is called with the whole state, first when the first complete list was read, and then after
   * each change. It is level-based: states may be skipped, the latest is what counts. What a
   * source cannot read at the moment keeps its last good state, and is named in `problems`.
   */
  readonly watch: (
    onState: (state: SourceState) => void,
    signal: AbortSignal,
  ) => TaskEither<SourceError, void>
}

export interface SourceState {
  /** The valid routes, each uid once. */
  readonly routes: ReadonlyArray<EdgeRoute>
  /**
   * Every object with its bookkeeping, those with an invalid spec too, each uid once; absent from a source
   * that keeps no finalizers, where an object that has left is one that was deleted.
   */
  readonly objects?: ReadonlyArray<StoredObject>
  /** What routes may send to, of the same moment as they; from a source that has none, the host's context counts. */
  readonly backends?: SourceBackends
  /** What could not be read, in the order of `where`. */
  readonly problems: ReadonlyArray<SourceProblem>
}

/** The Services that there are, as far as routes name them. */
export type SourceBackends = Pick<Context, 'services' | 'endpointSlices'>

/** Something in a source that is not served as it stands there. */
export interface SourceProblem {
  /** The place in words of the source, as in `shop.yaml#2` or `shop/checkout`. */
  readonly where: string
  /** The object, where its name could be read. */
  readonly key: RouteKey | undefined
  readonly errors: ReadonlyArray<FieldError>
  /** True where an earlier form of the object is still served. */
  readonly keepsLastGood: boolean
}

/** Why watching ended. Nothing was lost: start it again, with backoff. */
export interface SourceError {
  readonly _tag: 'Unavailable'
  readonly message: string
  readonly cause: unknown
}
