import type { Uid } from '../core/resource.js'
import { type Condition, conditionsOf } from '../core/status.js'
import type { Verdict } from '../core/verdict.js'
import type { Verdicts } from './programmed-verdicts.js'

/**
 * The conditions of objects that no store keeps, by uid: nobody else knows since when they are as they are.
 * One entry for each object that there is.
 */
export type DatedConditions = ReadonlyMap<Uid, Dated>

interface Dated {
  readonly verdict: Verdict
  readonly conditions: ReadonlyArray<Condition>
}

export const nothingDated: DatedConditions = new Map()

/** Dates what is said now; a condition whose status is what it was keeps its time. Costs O(verdicts). */
export const dateConditions = (
  before: DatedConditions,
  verdicts: Verdicts,
  nowMs: number,
): DatedConditions => {
  const now = new Date(nowMs).toISOString()
  const dated = new Map<Uid, Dated>()
  for (const [uid, verdict] of verdicts) {
    const known = before.get(uid)
    const isKnown = known !== undefined && known.verdict === verdict
    const conditions = isKnown
      ? known.conditions
      : conditionsOf(verdict, known?.conditions ?? [], now)
    dated.set(uid, isKnown ? known : { verdict, conditions })
  }
  return dated
}
