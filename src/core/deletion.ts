import type { NamedNodes } from './programmed/statement.js'

/**
 * How long after the last ACK a route counts as gone, in milliseconds: an ACK speaks for Envoy's main
 * thread, and its workers follow.
 */
export const settleMs = 100

/** What is seen of an object in its source. */
export type Sighting =
  /** It is there, in a source without finalizers, such as a directory of files. */
  | { readonly _tag: 'Plain' }
  /** It is there, is not being deleted, and has our finalizer, or has not. */
  | { readonly _tag: 'Live'; readonly isGuarded: boolean }
  /** It is being deleted, and our finalizer holds it; or it has left a source without finalizers. */
  | { readonly _tag: 'Terminating' }
  /** Nothing of ours holds it: it is not there, or is being deleted without our finalizer. */
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
  | { readonly _tag: 'Waiting'; readonly sinceMs: number; readonly waitsFor: NotYet }
  /** Everybody has, a moment ago. */
  | {
      readonly _tag: 'Settling'
      readonly sinceMs: number
      readonly clearSinceMs: number
      readonly returns: number
    }
  /** It is gone from every Envoy, and our finalizer is being taken off. */
  | {
      readonly _tag: 'Releasing'
      readonly sinceMs: number
      readonly returns: number
      readonly failure: string | undefined
    }
  /** Our finalizer is off; that it vanishes is no more our affair. */
  | { readonly _tag: 'Released'; readonly sinceMs: number }

/** What is to be told of a deletion. */
export type DeletionFact =
  /** It is served no more. */
  | { readonly _tag: 'Withdrawn' }
  /** It has come back to its source before it was proven gone, and is served again. */
  | { readonly _tag: 'CalledOff' }
  /** No Envoy can serve it any more, and it may vanish. */
  | { readonly _tag: 'Proven' }
  /** Nothing held it any more although these had not confirmed: somebody took our finalizer off. */
  | { readonly _tag: 'GlassBroken'; readonly waitedFor: NotYet }

export type DeletionStep = readonly [
  state: DeletionState | undefined,
  facts: ReadonlyArray<DeletionFact>,
]

/** What is to be written to an object. */
export type Write = 'Guard' | 'Release'

/**
 * Advances one object by what is seen of it, at a time in milliseconds that never goes back.
 *
 * `evidence` is only asked where it counts, and must speak of Envoys that were told: the snapshot without the
 * object is published before. No state, `undefined`, is an object of which nothing is to be done.
 *
 * | state     | Plain      | Live, guarded | Live, unguarded | Terminating, clear   | Terminating, owed  | Absent  |
 * | --------- | ---------- | ------------- | --------------- | -------------------- | ------------------ | ------- |
 * | none      | Serving    | Serving       | Guarding        | Settling, Withdrawn  | Waiting, Withdrawn | none    |
 * | Guarding  | Serving    | Serving       | Guarding        | Settling, Withdrawn  | Waiting, Withdrawn | none    |
 * | Serving   | Serving    | Serving       | Serving         | Settling, Withdrawn  | Waiting, Withdrawn | none, † |
 * | Waiting   | Serving, § | as it was     | as it was       | Settling             | Waiting            | none, † |
 * | Settling  | Serving, § | as it was     | as it was       | Releasing, Proven, ‡ | Waiting            | none, † |
 * | Releasing | Serving    | as it was     | as it was       | Releasing, ‡         | Waiting            | none    |
 * | Released  | Serving    | as it was     | as it was       | Settling             | Waiting            | none    |
 *
 * † GlassBroken, unless nobody was owed anything. § CalledOff. ‡ Settling anew if a stream has begun since; and
 * Settling as it was until `settleMs` have passed. A deletion is never taken back: a sighting that
 * says otherwise is an old one, save in a source without finalizers, where the object is the same if it is
 * back. Terminating asks the evidence again each time: what comes back late counts until the very end, and what
 * was released and is seen with our finalizer again is proven anew.
 */
export const stepDeletion = (
  state: DeletionState | undefined,
  sighting: Sighting,
  evidence: () => Evidence,
  nowMs: number,
): DeletionStep => {
  switch (sighting._tag) {
    case 'Plain':
      return plain(state)
    case 'Live':
      return [stepLive(state, sighting.isGuarded), []]
    case 'Terminating':
      return terminating(state, evidence(), nowMs)
    case 'Absent':
      return absent(state, evidence)
  }
}

/** What was proven gone is another matter when it is there again: nothing waited any more. */
const plain = (state: DeletionState | undefined): DeletionStep => {
  const isCalledOff = state?._tag === 'Waiting' || state?._tag === 'Settling'
  const serving = stepLive(state?._tag === 'Serving' ? state : undefined, true)
  return [serving, isCalledOff ? [{ _tag: 'CalledOff' }] : []]
}

/** What `stepDeletion` makes of an object that is there and not being deleted: that needs no evidence, and no time. */
export const stepLive = (state: DeletionState | undefined, isGuarded: boolean): DeletionState => {
  switch (state?._tag) {
    case undefined:
      return isGuarded
        ? { _tag: 'Serving', isGuarded, failure: undefined }
        : { _tag: 'Guarding', failure: undefined }
    case 'Guarding':
      return isGuarded ? { _tag: 'Serving', isGuarded, failure: undefined } : state
    case 'Serving': {
      const failure = isGuarded ? undefined : state.failure
      const isSame = state.isGuarded === isGuarded && state.failure === failure
      return isSame ? state : { _tag: 'Serving', isGuarded, failure }
    }
    case 'Waiting':
    case 'Settling':
    case 'Releasing':
    case 'Released':
      return state
  }
}

const terminating = (
  state: DeletionState | undefined,
  evidence: Evidence,
  nowMs: number,
): DeletionStep => {
  const sinceMs = state !== undefined && 'sinceMs' in state ? state.sinceMs : nowMs
  const withdrawn: ReadonlyArray<DeletionFact> =
    state === undefined || state._tag === 'Guarding' || state._tag === 'Serving'
      ? [{ _tag: 'Withdrawn' }]
      : []
  if (evidence._tag !== 'Clear')
    return [stay(state, { _tag: 'Waiting', sinceMs, waitsFor: evidence }), withdrawn]
  const { returns } = evidence
  const settling: DeletionState = { _tag: 'Settling', sinceMs, clearSinceMs: nowMs, returns }
  switch (state?._tag) {
    case undefined:
    case 'Guarding':
    case 'Serving':
    case 'Waiting':
      return [settling, withdrawn]
    case 'Settling':
      if (state.returns !== returns) return [settling, []]
      return nowMs - state.clearSinceMs < settleMs
        ? [state, []]
        : [{ _tag: 'Releasing', sinceMs, returns, failure: undefined }, [{ _tag: 'Proven' }]]
    case 'Releasing':
      return [state.returns === returns ? state : settling, []]
    // What we were told of our write was not so, or what is seen is older than that. Nobody has looked since.
    case 'Released':
      return [settling, []]
  }
}

const absent = (state: DeletionState | undefined, evidence: () => Evidence): DeletionStep => {
  switch (state?._tag) {
    case undefined:
    case 'Guarding':
    case 'Releasing':
    case 'Released':
      return [undefined, []]
    case 'Serving':
    case 'Waiting':
    case 'Settling': {
      const waitedFor = evidence()
      return [undefined, waitedFor._tag === 'Clear' ? [] : [{ _tag: 'GlassBroken', waitedFor }]]
    }
  }
}

/** The very same state where nothing has changed. (They are plain data, in one order of fields.) */
const stay = (before: DeletionState | undefined, next: DeletionState): DeletionState =>
  before !== undefined && JSON.stringify(before) === JSON.stringify(next) ? before : next

/** What is to be written to an object now; the same answer until it has succeeded. */
export const wantedWrite = (state: DeletionState): Write | undefined => {
  switch (state._tag) {
    case 'Guarding':
      return 'Guard'
    case 'Serving':
      return state.isGuarded ? undefined : 'Guard'
    case 'Releasing':
      return 'Release'
    case 'Waiting':
    case 'Settling':
    case 'Released':
      return undefined
  }
}

/** Notes how a write went: `failure` is `undefined` if it succeeded. One that is no more wanted says nothing. */
export const noteWrite = (
  state: DeletionState,
  write: Write,
  failure: string | undefined,
): DeletionState => {
  if (wantedWrite(state) !== write) return state
  switch (state._tag) {
    // That an object is guarded counts once it is seen: only then does the source say so, too.
    case 'Guarding':
    case 'Serving':
      return stay(state, { ...state, failure })
    case 'Releasing':
      return failure === undefined
        ? { _tag: 'Released', sinceMs: state.sinceMs }
        : stay(state, { ...state, failure })
    case 'Waiting':
    case 'Settling':
    case 'Released':
      return state
  }
}

/** True if the object is in the snapshot. */
export const isInService = (state: DeletionState | undefined): boolean => state?._tag === 'Serving'

/** When the state may change although nothing happens, in milliseconds. */
export const nextDeletionTimer = (state: DeletionState): number | undefined => {
  switch (state._tag) {
    case 'Settling':
      return state.clearSinceMs + settleMs
    // Whoever keeps them waiting says when that is over.
    case 'Waiting':
    case 'Guarding':
    case 'Serving':
    case 'Releasing':
    case 'Released':
      return undefined
  }
}
