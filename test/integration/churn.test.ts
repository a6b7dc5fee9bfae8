import { expect, test } from 'vitest'
import { judge } from '../support/churn/judge.js'
import { planOf } from '../support/churn/plan.js'
import { showViolations, summaryOf } from '../support/churn/report.js'
import { type ChurnRun, runChurn } from '../support/churn/run.js'
import { envoyNames } from '../support/two-envoys.js'

const size = { stable: 8, changing: 50, steps: 500 }

/** Another one in each run, and named by what it prints; to set it repeats a plan. */
const seed = Number(process.env['EDGEWRIGHT_CHURN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

test('500 changes of 50 routes under load break no request, and each reaches both Envoys', async () => {
  const run = await runChurn(planOf(seed, size))
  const judgement = judge(run.entries)
  const summary = `${summaryOf(seed, judgement)} | ${showPace(run)}`
  process.stdout.write(`${summary}\n`)

  expect(showViolations(judgement.violations), summary).toEqual([])
  expect(run.refusals, summary).toEqual([])
  expect(run.unproven, summary).toEqual([])
  for (const name of envoyNames) {
    const tally = judgement.tallies.get(name)
    // With less than this too little was tried for all of the above to mean anything.
    expect(tally?.answers, summary).toBeGreaterThan(2_000)
    expect(tally?.delayed, summary).toBeGreaterThan(300)
    expect(tally?.owed, summary).toBeGreaterThan(1_000)
    expect(tally?.barred, summary).toBeGreaterThan(200)
    expect(tally?.flips, summary).toBeGreaterThan(50)
    expect(tally?.programmedForms, summary).toBeGreaterThan(0.5 * judgement.publishedForms)
  }
})

const showPace = ({ durationMs, longestPauseMs }: ChurnRun): string =>
  `${size.steps} steps in ${(durationMs / 1_000).toFixed(1)} s, ${longestPauseMs.toFixed(0)} ms at most without load`
