import type { DeletionState } from './deletion.js'
import type { RouteKey } from './edge-route.js'
import type { FieldError } from './field-error.js'
import type { Programmed } from './programmed/statement.js'
import type { RuleMatch } from './rule.js'

/** What became of one object in a translation. */
export interface Verdict {
  readonly key: RouteKey
  readonly uid: string
  readonly generation: number
  readonly accepted: Acceptance
  /** The backends that lead nowhere at the moment, whatever claims the route has; none if it was refused. */
  readonly unresolved: ReadonlyArray<UnresolvedRef>
  /**
   * How far the Envoys are with it. Absent from what `translate` says, which knows of no Envoys, and of a
   * route that is not served.
   */
  readonly programmed?: Programmed
  /** How far its deletion is. Absent from what `translate` says, and of a route that nobody deletes. */
  readonly deletion?: DeletionState
}

export type Acceptance =
  | { readonly _tag: 'Accepted' }
  /** It is being deleted, and is served no more. */
  | { readonly _tag: 'Terminating' }
  /** It lacks our finalizer, without which it is not served; `failure` says why it could not be added. */
  | { readonly _tag: 'Unguarded'; readonly failure: string | undefined }
  /** Its spec cannot be served. */
  | { readonly _tag: 'Invalid'; readonly errors: ReadonlyArray<FieldError> }
  /** No fleet of that name is there. */
  | {
      readonly _tag: 'UnknownDataPlane'
      readonly dataPlane: string
      readonly known: ReadonlyArray<string>
    }
  /** Older objects have some of its claims, or all of them. */
  | {
      readonly _tag: 'Conflicted'
      /** The first of the claims that it has lost. */
      readonly lost: ReadonlyArray<LostClaim>
      /** How many it has lost in all. */
      readonly lostCount: number
      /** How many claims it keeps, and serves. */
      readonly kept: number
    }

export interface LostClaim {
  readonly claim: Claim
  readonly winner: RouteKey
}

/** One kind of request: two routes may not have the same. */
export interface Claim extends RuleMatch {
  readonly host: string
}

export interface UnresolvedRef {
  /** As in `spec.backends[0]`. */
  readonly path: string
  readonly reason: 'ServiceNotFound' | 'PortNotFound' | 'NoReadyEndpoints' | 'AddressNotAllowed'
  readonly message: string
}
