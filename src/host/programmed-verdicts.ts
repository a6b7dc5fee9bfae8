import type { Ledger } from '../core/ledger.js'
import {
  nothingProgrammed,
  type Programmed,
  type ProgrammedState,
  stepProgrammed,
} from '../core/programmed.js'
import { emptyOrderedMap, type OrderedMap, orderedMapOf } from '../core/ordered-map.js'
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
 * A verdict that is as it was is the same reference, and so are all of them together, as long as the
 * translation is the same.
 */
export const judge = (
  before: Judged,
  { snapshot, verdicts: translated }: Translation,
  ledger: Ledger | undefined,
  nowMs: number,
): Judged => {
  if (ledger === undefined) return { ...before, translated, verdicts: translated }
  const seen = { ledger, snapshot, verdicts: translated, nowMs }
  const [programmed, statements] = stepProgrammed(before.programmed, seen)
  const isSame = translated === before.translated && statements === before.programmed.statements
  return {
    translated,
    verdicts: isSame ? before.verdicts : merge(before, translated, statements),
    programmed,
  }
}

const merge = (
  before: Judged,
  translated: Verdicts,
  statements: ReadonlyMap<string, Programmed>,
): Verdicts => {
  const verdicts = new Map<string, Verdict>()
  for (const [uid, verdict] of translated) {
    const programmed = statements.get(uid)
    const known = before.translated === translated ? before.verdicts.get(uid) : undefined
    const isKnown = known !== undefined && known.programmed === programmed
    const fresh = programmed === undefined ? verdict : { ...verdict, programmed }
    verdicts.set(uid, isKnown ? known : fresh)
  }
  return orderedMapOf(verdicts)
}

/** True if the same is said of the same routes. */
export const sameVerdicts = (before: Verdicts, after: Verdicts): boolean =>
  before === after ||
  (before.size === after.size &&
    [...after].every(([uid, verdict]) => isSame(before.get(uid), verdict)))

/** Verdicts are plain data, and are always put together in the same order of fields. */
const isSame = (a: Verdict | undefined, b: Verdict): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)
