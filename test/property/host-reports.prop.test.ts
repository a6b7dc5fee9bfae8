import { test } from '@fast-check/vitest'
import { expect } from 'vitest'
import { type Condition, conditionsOf } from '../../src/core/status.js'
import { dateConditions, nothingDated } from '../../src/host/dated-conditions.js'
import { handOut } from '../../src/host/hand-out.js'
import type { Reconciled } from '../../src/host/reconcile.js'
import { reporter } from '../../src/host/report.js'
import { passSteps, statesAfter, type Step } from '../support/pass-histories.js'
import { wholeHandOut, wholeReporter } from '../support/whole-reports.js'

const runs = { numRuns: 2_000 }

type Pass = (before: Reconciled, after: Reconciled) => void

/** What is told in each pass, in bytes: `toEqual` is blind to the order of a Map. */
const toldBy = (
  steps: ReadonlyArray<Step>,
  make: (tell: (...words: ReadonlyArray<unknown>) => void) => Pass,
): ReadonlyArray<ReadonlyArray<string>> => {
  const states = statesAfter(steps)
  let told: Array<string> = []
  const pass = make((...words) => told.push(JSON.stringify(words)))
  return states.slice(1).map((after, index) => {
    told = []
    pass(states[index] ?? after, after)
    return told
  })
}

const portsOf = (tell: (...words: ReadonlyArray<unknown>) => void) => ({
  logger: { log: (...words: ReadonlyArray<unknown>) => tell('log', ...words) },
  metrics: {
    add: (...words: ReadonlyArray<unknown>) => tell('add', ...words),
    set: (...words: ReadonlyArray<unknown>) => tell('set', ...words),
  },
  onVerdicts: (translation: { readonly verdicts: Iterable<unknown> }) =>
    tell('verdicts', [...translation.verdicts]),
  onDeletion: () => tell('deletion'),
})

test.prop([passSteps], runs)(
  'a reporter that looks at what has changed says what one says that goes through everything, in its order',
  (steps) => {
    const incremental = toldBy(steps, (tell) => {
      const { pass } = reporter(portsOf(tell))
      return (before, after) => pass(before, after, [])
    })
    expect(incremental).toEqual(toldBy(steps, (tell) => wholeReporter(portsOf(tell))))
  },
)

test.prop([passSteps], runs)(
  'what is handed out for writing is what a walk through all objects hands out, in its order',
  (steps) => {
    const by = (hand: typeof handOut) =>
      toldBy(steps, (tell) => {
        const writes = {
          finalizer: (...words: ReadonlyArray<unknown>) => tell('finalizer', ...words),
          conditions: (...words: ReadonlyArray<unknown>) => tell('conditions', ...words),
        }
        return (before, after) => hand(writes, before, after)
      })
    expect(by(handOut)).toEqual(by(wholeHandOut))
  },
)

test.prop([passSteps], runs)(
  'conditions are dated as if all were in each pass, and those of the very same verdict are the very same',
  (steps) => {
    let dated = nothingDated
    let whole: ReadonlyMap<string, ReadonlyArray<Condition>> = new Map()
    statesAfter(steps).forEach(({ verdicts }, second) => {
      const before = dated
      dated = dateConditions(before, verdicts, second * 1_000)
      const now = new Date(second * 1_000).toISOString()
      const known = whole
      whole = new Map(
        [...verdicts].map(([uid, each]) => [uid, conditionsOf(each, known.get(uid) ?? [], now)]),
      )
      expect(JSON.stringify([...dated.conditions])).toBe(JSON.stringify([...whole]))
      for (const [uid, verdict] of verdicts)
        if (before.verdicts.get(uid) === verdict)
          expect(dated.conditions.get(uid)).toBe(before.conditions.get(uid))
    })
  },
)
