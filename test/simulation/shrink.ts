import { run } from './run.js'
import type { Plan } from './steps.js'

/** How many runs shrinking takes at most. */
const maxRuns = 300

/**
 * Takes steps out of a plan as long as the same law is broken: first many at once, then each by itself. What is
 * left is not the shortest plan that there is, but no single step of it can be left out, as a rule.
 */
export const shrink = async (plan: Plan, law: string): Promise<Plan> => {
  let best = plan
  let runs = 0
  const breaks = async (steps: Plan['steps']): Promise<boolean> => {
    runs += 1
    const { violation } = await run({ ...plan, steps })
    return violation?.law === law
  }
  for (let size = Math.ceil(best.steps.length / 2); size >= 1 && runs < maxRuns;) {
    let isShorter = false
    for (let from = 0; from < best.steps.length && runs < maxRuns;) {
      const steps = [...best.steps.slice(0, from), ...best.steps.slice(from + size)]
      if (await breaks(steps)) {
        best = { ...best, steps }
        isShorter = true
      } else from += size
    }
    if (!isShorter || size > 1) size = size === 1 ? 0 : Math.ceil(size / 2)
  }
  return best
}
