import { changedKeys, emptyOrderedMap, type OrderedMap, withValues } from '../core/ordered-map.js'
import { type Condition, conditionsOf } from '../core/status.js'
import type { Verdicts } from './programmed-verdicts.js'

/**
 * The conditions of objects that no store keeps: nobody else knows since when they are as they are.
 */
export interface DatedConditions {
  /** What they were made of. */
  readonly verdicts: Verdicts
  /** By uid, one entry for each verdict. */
  readonly conditions: OrderedMap<ReadonlyArray<Condition>>
}

export const nothingDated: DatedConditions = {
  verdicts: emptyOrderedMap,
  conditions: emptyOrderedMap,
}

/**
 * Dates what is said now; a condition whose status is what it was keeps its time. Costs O(d log n) for d verdicts that
 * are not the very same as those of `before`.
 */
export const dateConditions = (
  before: DatedConditions,
  verdicts: Verdicts,
  nowMs: number,
): DatedConditions => {
  const now = new Date(nowMs).toISOString()
  const dated = changedKeys(before.verdicts, verdicts).map((uid) => {
    const verdict = verdicts.get(uid)
    const known = before.conditions.get(uid) ?? []
    return [uid, verdict && conditionsOf(verdict, known, now)] as const
  })
  return { verdicts, conditions: withValues(before.conditions, new Map(dated)) }
}
