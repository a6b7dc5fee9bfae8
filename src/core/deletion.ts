import { courseOf, overdueMs, wait } from './deletion-course.js'
import type { Course, DeletionFact, DeletionState, Evidence, Sighting } from './deletion-state.js'

export type {
  Clear,
  Course,
  DeletionFact,
  DeletionState,
  Evidence,
  NotYet,
  Sighting,
} from './deletion-state.js'

/**
 * How long after the last ACK a route counts as gone, in milliseconds: an ACK speaks for Envoy's main
 * thread, and its workers follow.
 */
export const settleMs = 100

export { noteForgotten, patienceMs, repeatMs } from './deletion-course.js'

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
 * object is published before. No state, `undefined`, is an object of which nothing is to be done. Live is Guarded
 * or Unguarded.
 *
 * | state     | Plain      | Guarded   | Unguarded | Terminating, clear   | Terminating, owed | Freed       | Absent  |
 * | --------- | ---------- | --------- | --------- | -------------------- | ----------------- | ----------- | ------- |
 * | none      | Serving    | Serving   | Guarding  | Settling, ∗          | Waiting, ∗        | none        | none    |
 * | Guarding  | Serving    | Serving   | Guarding  | Settling, ∗          | Waiting, ∗        | none        | none    |
 * | Serving   | Serving    | Serving   | Serving   | Settling, ∗          | Waiting, ∗        | Released, † | none, † |
 * | Waiting   | Serving, § | as it was | as it was | Settling             | Waiting, ¶        | Released, † | none, † |
 * | Settling  | Serving, § | as it was | as it was | Releasing, Proven, ‡ | Waiting, ¶        | Released, † | none, † |
 * | Releasing | Serving    | as it was | as it was | Releasing, ‡         | Waiting, ¶        | Released    | none    |
 * | Released  | Serving    | as it was | as it was | Settling             | Waiting, ¶        | as it was   | none    |
 *
 * ∗ Withdrawn. † GlassBroken, unless nobody was owed anything. § CalledOff. ‡ Settling anew if a stream has begun
 * since; and Settling as it was until `settleMs` have passed. ¶ Overdue after `patienceMs`, and again each
 * `repeatMs`, unless what it waits for ends by itself. A deletion is never taken back: a sighting that says otherwise
 * is an old one, save in a source without finalizers, where the object is the same if it is back. Terminating asks
 * the evidence again each time: what comes back late counts until the very end, and what was released and is seen
 * with our finalizer again is proven anew. Of what is Freed when it is first seen nobody knows what was proven: it
 * keeps what it says.
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
    case 'Freed':
      return freed(state, evidence, nowMs)
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
  const course = courseOf(state, nowMs)
  const withdrawn: ReadonlyArray<DeletionFact> =
    state === undefined || state._tag === 'Guarding' || state._tag === 'Serving'
      ? [{ _tag: 'Withdrawn' }]
      : []
  if (evidence._tag !== 'Clear') {
    const [waiting, overdue] = wait(course, evidence, nowMs)
    return [stay(state, waiting), [...withdrawn, ...overdue]]
  }
  const { returns } = evidence
  const settling: DeletionState = { _tag: 'Settling', ...course, clearSinceMs: nowMs, returns }
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
        : [{ _tag: 'Releasing', ...course, returns, failure: undefined }, [proven(course)]]
    case 'Releasing':
      return [state.returns === returns ? state : settling, []]
    // What we were told of our write was not so, or what is seen is older than that. Nobody has looked since.
    case 'Released':
      return [settling, []]
  }
}

const proven = ({ forgotten }: Course): DeletionFact => ({
  _tag: 'Proven',
  ...(forgotten !== undefined && { forgotten }),
})

const freed = (
  state: DeletionState | undefined,
  evidence: () => Evidence,
  nowMs: number,
): DeletionStep => {
  switch (state?._tag) {
    case undefined:
    case 'Guarding':
      return [undefined, []]
    case 'Serving':
    case 'Waiting':
    case 'Settling': {
      const released: DeletionState = { _tag: 'Released', ...courseOf(state, nowMs) }
      const waitedFor = evidence()
      return waitedFor._tag === 'Clear'
        ? [released, []]
        : [{ ...released, waitedFor }, [{ _tag: 'GlassBroken', waitedFor }]]
    }
    // Our write has come to pass, whatever we were told of it.
    case 'Releasing':
      return [{ _tag: 'Released', ...courseOf(state, nowMs) }, []]
    case 'Released':
      return [state, []]
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
        ? { _tag: 'Released', ...courseOf(state, state.sinceMs) }
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
    // Whoever keeps them waiting says when that is over; but people may be to be told that it is not.
    case 'Waiting':
      return overdueMs(state, state.waitsFor)
    case 'Guarding':
    case 'Serving':
    case 'Releasing':
    case 'Released':
      return undefined
  }
}
