import type { NamedNodes } from './programmed/statement.js'

/** What is seen of an object in its source. */
export type Sighting =
  /** It is there, in a source without finalizers, such as a directory of files. */
  | { readonly _tag: 'Plain' }
  /** It is there, is not being deleted, and has our finalizer, or has not. */
  | { readonly _tag: 'Live'; readonly isGuarded: boolean }
  /** It is being deleted, and our finalizer holds it; or it has left a source without finalizers. */
  | { readonly _tag: 'Terminating' }
  /** It is being deleted, and others alone hold it. */
  | { readonly _tag: 'Freed' }
  /** It is not there. */
  | { readonly _tag: 'Absent' }

/** What is known of whether any Envoy may still serve an object. */
export type Evidence = Clear | NotYet

/** None may: each that counts has said so itself. */
export interface Clear {
  readonly _tag: 'Clear'
  /** How many Envoys had come back by then: one that has come since has workers of its own to wait for. */
  readonly returns: number
}

/** Why nobody can say that an object is gone. */
export type NotYet =
  /** These have not confirmed it. */
  | ({ readonly _tag: 'Owed' } & NamedNodes)
  /** The control plane has begun a moment ago, and Envoys may be about to come back. */
  | { readonly _tag: 'Starting'; readonly untilMs: number }
  /** The list of Envoys could not be written, or read: after a crash nobody would know whom to ask. */
  | { readonly _tag: 'RosterUnsaved'; readonly message: string }
  /** Another control plane may be at work: this one does not hold the Lease at the moment, say. */
  | { readonly _tag: 'NotHolding'; readonly message: string }

/** Where an object stands between the source and the Envoys. */
export type DeletionState =
  /** It lacks our finalizer, and is not served yet. */
  | { readonly _tag: 'Guarding'; readonly failure: string | undefined }
  /** It is served. One whose finalizer somebody took away gets it back, and is served meanwhile. */
  | {
      readonly _tag: 'Serving'
      readonly isGuarded: boolean
      readonly failure: string | undefined
    }
  /** It is withdrawn, and not everybody has confirmed that. */
  | ({ readonly _tag: 'Waiting'; readonly waitsFor: NotYet } & Course)
  /** Everybody has, a moment ago. */
  | ({
      readonly _tag: 'Settling'
      readonly clearSinceMs: number
      readonly returns: number
    } & Course)
  /** It is gone from every Envoy, and our finalizer is being taken off. */
  | ({
      readonly _tag: 'Releasing'
      readonly returns: number
      readonly failure: string | undefined
    } & Course)
  /**
   * Our finalizer is off; that it vanishes is no more our affair. `waitedFor` is what was not proven by then, if
   * somebody else took it off.
   */
  | ({ readonly _tag: 'Released'; readonly waitedFor?: NotYet } & Course)

/** What is known of a deletion from its beginning to its end. */
export interface Course {
  /** When it was withdrawn. */
  readonly sinceMs: number
  /** The Envoys that had not confirmed when they were forgotten; absent if there are none. */
  readonly forgotten?: NamedNodes
  /** When it was last told that it takes long; absent if it was not. */
  readonly toldMs?: number
}

/** What is to be told of a deletion. */
export type DeletionFact =
  /** It is served no more. */
  | { readonly _tag: 'Withdrawn' }
  /** It has come back to its source before it was proven gone, and is served again. */
  | { readonly _tag: 'CalledOff' }
  /** It has waited for long. Told again as long as it waits, but seldom. */
  | { readonly _tag: 'Overdue'; readonly waitsFor: NotYet }
  /** No Envoy can serve it any more, as far as these were not forgotten, and it may vanish. */
  | { readonly _tag: 'Proven'; readonly forgotten?: NamedNodes }
  /** Nothing held it any more although these had not confirmed: somebody took our finalizer off. */
  | { readonly _tag: 'GlassBroken'; readonly waitedFor: NotYet }
