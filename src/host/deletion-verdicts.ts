import { type DeletionState, isInService } from '../core/deletion.js'
import type { Deletions } from '../core/deletions.js'
import { showKey } from '../core/edge-route.js'
import type { FieldError } from '../core/field-error.js'
import { withValues } from '../core/ordered-map.js'
import type { Acceptance, Verdict } from '../core/verdict.js'
import type { SourceProblem } from '../ports/route-source.js'
import type { Verdicts } from './programmed-verdicts.js'

/** What was said before, and of which objects. */
export interface Said {
  readonly verdicts: Verdicts
  readonly deletions: Deletions
}

/**
 * The verdicts with those of the objects that `translate` is not shown: what is being deleted, what lacks
 * our finalizer, and what cannot be read. What is said of a deletion that has not gone on is the same reference.
 *
 * Costs O(objects), and makes something new only of those that are others than `before`.
 */
export const withDeletions = (
  before: Said,
  verdicts: Verdicts,
  { records }: Deletions,
  problems: ReadonlyArray<SourceProblem>,
): Verdicts => {
  const errors = errorsByName(problems)
  const added = new Map<string, Verdict>()
  for (const record of records.values()) {
    const { key, uid, generation, object, state } = record
    const of = { key, uid, generation, unresolved: [] }
    if (!isInService(state)) {
      const isSame = before.deletions.records.get(uid) === record
      const said = isSame ? before.verdicts.get(uid) : undefined
      added.set(uid, said ?? { ...of, ...ofDeletion(state) })
    } else if (object !== undefined) {
      const invalid = errors.get(showKey(key))
      if (invalid !== undefined) added.set(uid, { ...of, accepted: invalid })
    }
  }
  return withValues(verdicts, added)
}

const ofDeletion = (state: DeletionState): Pick<Verdict, 'accepted' | 'deletion'> =>
  state._tag === 'Guarding'
    ? { accepted: { _tag: 'Unguarded', failure: state.failure } }
    : { accepted: { _tag: 'Terminating' }, deletion: state }

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
