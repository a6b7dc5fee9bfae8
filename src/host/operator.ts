import type { DeletionState, NotYet } from '../core/deletion.js'
import type { RouteKey } from '../core/edge-route.js'
import type { Condition } from '../core/status.js'
import type { ForgottenBy } from './report-roster.js'

/** What a person asks a running control plane, and tells it. */
export interface Operator {
  /** Why a route is where it is; empty if no object has that name. Several uids may have had one name. */
  readonly explain: (key: RouteKey) => ReadonlyArray<Explanation>
  /** The Envoys that may serve something, by id; lost ones among them. */
  readonly nodes: () => ReadonlyArray<NodeReport>
  /**
   * Stops waiting for a lost Envoy, in everything that waits for it. One that is connected is refused, unless its id
   * is shared: then those are forgotten that are lost. By a person if nothing else is said.
   */
  readonly forget: (id: string, by?: ForgottenBy) => Promise<ForgetResult>
  /**
   * Stops waiting for any Envoy with one route, proven or not: it may still be served afterwards. Takes our
   * finalizer off, and nothing else. Where the object has changed meanwhile it is tried again, a few times.
   */
  readonly breakGlass: (key: RouteKey) => Promise<BreakGlassResult>
}

/** One object. */
export interface Explanation {
  readonly key: RouteKey
  readonly uid: string
  readonly state: DeletionState
  /** It is in a store with finalizers, such as a cluster, and not in a directory; absent where nobody says. */
  readonly isStored?: boolean
  readonly conditions: ReadonlyArray<Condition>
  /** The Envoys that may still serve it, if it is being deleted. */
  readonly owed: ReadonlyArray<NodeReport>
}

/** One node: an Envoy process, connected or lost. */
export interface NodeReport {
  readonly id: string
  readonly dataPlane: string
  readonly connected: boolean
  /**
   * It was on the list of Envoys when the control plane began, a moment ago, and has not been heard of since: it may be
   * about to come back. Lost, as far as anybody can tell; none is once all have come, or were waited for.
   */
  readonly isAwaited: boolean
  /** Two connections had this id at once. */
  readonly isShared: boolean
  /** Since when it is connected, or lost; RFC 3339. `undefined` of one that was lost before the control plane began. */
  readonly since: string | undefined
  /** What it has said last of a route table since it is connected. */
  readonly lastSaid: LastSaid | undefined
  /**
   * It is connected, and has accepted every route table in the form that is published. One that comes back with all of
   * them is sent none, and so it has nothing to say.
   */
  readonly isUpToDate: boolean
  /** What it refuses that stands for no route, a listener above all: what is refused of a route, that route says. */
  readonly refusals: ReadonlyArray<NodeRefusal>
  /** The names of the routes that wait for it. */
  readonly holdsUp: ReadonlyArray<string>
}

export interface NodeRefusal {
  /** Of the resource, as in `Listener`. */
  readonly type: string
  readonly name: string
  /** In the Envoy's words, cut to a size that a person reads. */
  readonly message: string
}

export interface LastSaid {
  readonly what: 'ACK' | 'NACK'
  /** RFC 3339. */
  readonly at: string
  readonly version: string
  /** The error of a NACK, cut to a size that a person reads. */
  readonly message: string
}

export type ForgetResult =
  | 'Forgotten'
  /** It is forgotten, and whoever has asked for it should know this. */
  | { readonly warning: string }
  | 'Connected'
  | 'Unknown'
  | { readonly failure: string }

export type BreakGlassResult =
  /** Our finalizer is off, or the waiting is over. */
  | {
      readonly _tag: 'Broken'
      /** The ids of the Envoys that are known not to have confirmed. */
      readonly unconfirmed: ReadonlyArray<string>
      /** Why nobody can say that it was gone; `undefined` if it was proven. */
      readonly waitedFor: NotYet | undefined
    }
  | { readonly _tag: 'NotTerminating' }
  | { readonly _tag: 'Unknown' }
  | { readonly _tag: 'Failed'; readonly message: string }
