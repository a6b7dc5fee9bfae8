import { showKey } from '../../core/edge-route.js'
import { type OrderedMap, withValues } from '../../core/ordered-map.js'
import type { Verdict } from '../../core/verdict.js'
import type { VerdictChange } from './verdict-changes.js'

/** How many verdicts speak of each name: a new object may be there while the old one is going. */
export type JudgedNames = OrderedMap<number>

/** The names after these changes. Costs O(d log n) for d of them; most change no name, and cost next to nothing. */
export const judgedNames = (
  names: JudgedNames,
  changes: ReadonlyArray<VerdictChange>,
): JudgedNames => {
  const counts = new Map<string, number>()
  const add = (verdict: Verdict | undefined, amount: number): void => {
    if (verdict === undefined) return
    const name = showKey(verdict.key)
    counts.set(name, (counts.get(name) ?? names.get(name) ?? 0) + amount)
  }
  for (const { before, after } of changes) {
    if (before?.key === after?.key) continue
    add(before, -1)
    add(after, 1)
  }
  const isThere = (count: number): number | undefined => (count === 0 ? undefined : count)
  return withValues(names, new Map([...counts].map(([name, count]) => [name, isThere(count)])))
}
