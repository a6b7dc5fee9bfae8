import type { Course, DeletionFact, DeletionState, NotYet } from './deletion-state.js'
import { addNamed } from './programmed/statement.js'

/** After how long it is told that a deletion waits, in milliseconds: longer than an Envoy takes to come back. */
export const patienceMs = 60_000

/** After how long that is told again, in milliseconds: somebody may have missed it, and nobody wants a stream of it. */
export const repeatMs = 3_600_000

/** Those that are due within as long are told together, in milliseconds: a look at one is a look at all that wait. */
const tellEveryMs = 10_000

/** In one order of fields, so that equal states look equal. One that has not begun begins now. */
export const courseOf = (state: DeletionState | undefined, nowMs: number): Course => {
  if (state === undefined || !('sinceMs' in state)) return { sinceMs: nowMs }
  const { sinceMs, forgotten, toldMs } = state
  return {
    sinceMs,
    ...(forgotten !== undefined && { forgotten }),
    ...(toldMs !== undefined && { toldMs }),
  }
}

/** It waits; and what is to be told of that now. */
export const wait = (
  course: Course,
  waitsFor: NotYet,
  nowMs: number,
): readonly [waiting: DeletionState, facts: ReadonlyArray<DeletionFact>] => {
  const dueMs = overdueMs(course, waitsFor)
  return dueMs === undefined || nowMs < dueMs
    ? [{ _tag: 'Waiting', ...course, waitsFor }, []]
    : [{ _tag: 'Waiting', ...course, toldMs: nowMs, waitsFor }, [{ _tag: 'Overdue', waitsFor }]]
}

/** When it is to be told that a deletion takes long. */
export const overdueMs = ({ sinceMs, toldMs }: Course, waitsFor: NotYet): number | undefined => {
  if (waitsFor._tag === 'Starting') return undefined
  const dueMs = toldMs === undefined ? sinceMs + patienceMs : toldMs + repeatMs
  return Math.ceil(dueMs / tellEveryMs) * tellEveryMs
}

/**
 * Notes that nobody waits any more for Envoys that had not confirmed: once for each of them. An object that is seen for
 * the first time after that may have nothing to wait for, and settles at once.
 */
export const noteForgotten = (state: DeletionState, ids: ReadonlyArray<string>): DeletionState => {
  if ((state._tag !== 'Waiting' && state._tag !== 'Settling') || ids.length === 0) return state
  const course = courseOf({ ...state, forgotten: addNamed(state.forgotten, ids) }, state.sinceMs)
  switch (state._tag) {
    case 'Waiting':
      return { _tag: 'Waiting', ...course, waitsFor: state.waitsFor }
    case 'Settling': {
      const { clearSinceMs, returns } = state
      return { _tag: 'Settling', ...course, clearSinceMs, returns }
    }
  }
}
