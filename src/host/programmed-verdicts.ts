import type { Ledger } from '../core/ledger.js'
import {
  nothingProgrammed,
  type Programmed,
  type ProgrammedState,
  stepProgrammed,
} from '../core/programmed.js'
import {
  changedKeys,
  emptyOrderedMap,
  type OrderedMap,
  orderedMapOf,
  withValues,
} from '../core/ordered-map.js'
import type { StoredObject } from '../core/stored-object.js'
import type { Translation } from '../core/translate.js'
import type { Verdict } from '../core/verdict.js'

export type Verdicts = OrderedMap<Verdict>

/** What `translate` says, and what it says together with the Envoys. */
export interface Judged {
  readonly translated: Verdicts
  readonly verdicts: Verdicts
  readonly programmed: ProgrammedState
}

export const nothingJudged: Judged = {
  translated: emptyOrderedMap,
  verdicts: emptyOrderedMap,
  programmed: nothingProgrammed,
}

/**
 * What is to be gone on from after a start: a route that its object says to be programmed is, until an Envoy says
 * something else. Else every restart would take that back from all routes, and say it again. Costs O(objects).
 */
export const judgedBefore = (objects: ReadonlyArray<StoredObject>): Judged => {
  const statements = new Map<string, Programmed>()
  for (const { uid, conditions } of objects)
    for (const { type, status, observedGeneration: generation } of conditions)
      if (type === 'Programmed' && status === 'True')
        statements.set(uid, { _tag: 'Programmed', generation })
  return {
    ...nothingJudged,
    programmed: { ...nothingProgrammed, statements: orderedMapOf(statements) },
  }
}

/**
 * Adds to each verdict how far the Envoys are with its route; without a ledger nothing.
 *
 * A verdict that is as it was is the same reference, and so are all of them together. Beside what `stepProgrammed`
 * costs, O(d log n) for d objects of which something else is said than before.
 */
export const judge = (
  before: Judged,
  { snapshot, verdicts: translated }: Translation,
  ledger: Ledger | undefined,
  nowMs: number,
): Judged => {
  if (ledger === undefined) return { ...nothingJudged, translated, verdicts: translated }
  const seen = { ledger, snapshot, verdicts: translated, nowMs }
  const [programmed] = stepProgrammed(before.programmed, seen)
  return { translated, verdicts: merge(before, translated, programmed.statements), programmed }
}

/** What was said before was put together in the same way: what went into it says what is to be said anew. */
const merge = (
  before: Judged,
  translated: Verdicts,
  statements: OrderedMap<Programmed>,
): Verdicts => {
  const edits = new Map<string, Verdict | undefined>()
  const edit = (uid: string): void => {
    edits.set(uid, withProgrammed(translated.get(uid), statements.get(uid)))
  }
  changedKeys(before.translated, translated).forEach(edit)
  changedKeys(before.programmed.statements, statements).forEach(edit)
  return withValues(before.verdicts, edits)
}

const withProgrammed = (
  verdict: Verdict | undefined,
  programmed: Programmed | undefined,
): Verdict | undefined =>
  verdict === undefined || programmed === undefined ? verdict : { ...verdict, programmed }

/**
 * True if the same is said of the same routes. Costs O(d log n) for d verdicts that are not the very same, where one
 * map was made of the other.
 */
export const sameVerdicts = (before: Verdicts, after: Verdicts): boolean =>
  changedKeys(before, after).every((uid) => isSame(before.get(uid), after.get(uid)))

/** Verdicts are plain data, and are always put together in the same order of fields. */
const isSame = (a: Verdict | undefined, b: Verdict | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b)
