import type { Deletions } from '../core/deletions.js'
import { showKey } from '../core/edge-route.js'
import type { FieldError } from '../core/field-error.js'
import type { Acceptance, Verdict } from '../core/verdict.js'
import type { SourceProblem } from '../ports/route-source.js'
import type { Verdicts } from './programmed-verdicts.js'

/**
 * The verdicts with those of the objects that `translate` is not shown: what is being deleted, what lacks
 * our finalizer, and what cannot be read. Costs O(1) where there is none of these.
 */
export const withDeletions = (
  verdicts: Verdicts,
  { records, pending }: Deletions,
  problems: ReadonlyArray<SourceProblem>,
): Verdicts => {
  const errors = errorsByName(problems)
  const added = new Map<string, Verdict>()
  for (const { key, uid, generation, object, state } of records.values()) {
    const of = { key, uid, generation, unresolved: [] }
    if (pending.has(uid))
      added.set(uid, { ...of, accepted: { _tag: 'Terminating' }, deletion: state })
    else if (state._tag === 'Guarding')
      added.set(uid, { ...of, accepted: { _tag: 'Unguarded', failure: state.failure } })
    else if (object !== undefined) {
      const invalid = errors.get(showKey(key))
      if (invalid !== undefined) added.set(uid, { ...of, accepted: invalid })
    }
  }
  return added.size === 0 ? verdicts : new Map([...verdicts, ...added])
}

/** A problem of a store speaks of the object that has the name now: two objects never have one at once. */
const errorsByName = (problems: ReadonlyArray<SourceProblem>): ReadonlyMap<string, Acceptance> => {
  const errors = new Map<string, Acceptance>()
  for (const { key, errors: found } of problems) {
    const [first, ...rest] = found
    if (key === undefined || first === undefined) continue
    const all: readonly [FieldError, ...Array<FieldError>] = [first, ...rest]
    errors.set(showKey(key), { _tag: 'Invalid', errors: all })
  }
  return errors
}
