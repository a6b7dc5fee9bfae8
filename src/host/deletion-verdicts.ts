import { type DeletionState, isInService } from '../core/deletion.js'
import type { Deletions } from '../core/deletions.js'
import { showKey } from '../core/edge-route.js'
import type { FieldError } from '../core/field-error.js'
import { changedKeys, withValues } from '../core/ordered-map.js'
import type { Uid } from '../core/resource.js'
import type { Acceptance, Verdict } from '../core/verdict.js'
import type { SourceProblem } from '../ports/route-source.js'
import type { Verdicts } from './programmed-verdicts.js'

/** What verdicts are put together from. */
export interface Sources {
  /** What `translate` says together with the Envoys. */
  readonly judged: Verdicts
  readonly records: Deletions['records']
  readonly problems: ReadonlyArray<SourceProblem>
}

/**
 * The verdicts with those of the objects that `translate` is not shown: what is being deleted, what lacks
 * our finalizer, and what cannot be read. `said` are those of before; what has not changed since is the same reference.
 *
 * Costs what has changed; where an object has another problem than before, or none any more, a look at the names of
 * all objects.
 */
export const withDeletions = (before: Sources, said: Verdicts, now: Sources): Verdicts => {
  const errors = now.problems === before.problems ? undefined : errorsByName(now.problems)
  const touched = new Set([
    ...changedKeys(before.judged, now.judged),
    ...changedKeys(before.records, now.records),
    ...(errors === undefined ? [] : uidsNamed(now, changedErrors(before, errors))),
  ])
  if (touched.size === 0) return said
  const known = errors ?? errorsByName(now.problems)
  const edits = new Map<Uid, Verdict | undefined>()
  for (const uid of touched) edits.set(uid, verdictOf(before, said, now, known, uid))
  return withValues(said, edits)
}

const verdictOf = (
  before: Sources,
  said: Verdicts,
  { judged, records }: Sources,
  errors: Errors,
  uid: Uid,
): Verdict | undefined => {
  const record = records.get(uid)
  if (record === undefined) return judged.get(uid)
  const { key, generation, object, state } = record
  const of = { key, uid, generation, unresolved: [] }
  if (!isInService(state)) {
    const known = before.records.get(uid) === record ? said.get(uid) : undefined
    return known ?? { ...of, ...ofDeletion(state) }
  }
  const accepted = object === undefined ? undefined : errors.get(showKey(key))
  return accepted === undefined ? judged.get(uid) : { ...of, accepted }
}

type Errors = ReadonlyMap<string, Acceptance>

/** The names of which another error is told than before, or none any more. */
const changedErrors = ({ problems }: Sources, errors: Errors): ReadonlySet<string> => {
  const known = errorsByName(problems)
  const names = [...known.keys(), ...errors.keys()]
  return new Set(names.filter((name) => !isSame(known.get(name), errors.get(name))))
}

/** (They are plain data, always put together in the same order of fields.) */
const isSame = (a: Acceptance | undefined, b: Acceptance | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b)

const uidsNamed = ({ records }: Sources, names: ReadonlySet<string>): ReadonlyArray<Uid> =>
  names.size === 0
    ? []
    : [...records.values()].flatMap(({ key, uid }) => (names.has(showKey(key)) ? [uid] : []))

const ofDeletion = (state: DeletionState): Pick<Verdict, 'accepted' | 'deletion'> =>
  state._tag === 'Guarding'
    ? { accepted: { _tag: 'Unguarded', failure: state.failure } }
    : { accepted: { _tag: 'Terminating' }, deletion: state }

/** A problem of a store speaks of the object that has the name now: two objects never have one at once. */
const errorsByName = (problems: ReadonlyArray<SourceProblem>): Errors => {
  const errors = new Map<string, Acceptance>()
  for (const { key, errors: found } of problems) {
    const [first, ...rest] = found
    if (key === undefined || first === undefined) continue
    const all: readonly [FieldError, ...Array<FieldError>] = [first, ...rest]
    errors.set(showKey(key), { _tag: 'Invalid', errors: all })
  }
  return errors
}
