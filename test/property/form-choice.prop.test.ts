import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseForm, type FormChoice, type FormLimits } from '../../src/core/form-choice.js'

const limits: fc.Arbitrary<FormLimits> = fc
  .record({ down: fc.nat(5), more: fc.nat(5), restMs: fc.nat(50) })
  .map(({ down, more, restMs }) => ({ down, up: down + more, restMs }))

const course = fc.array(fc.record({ passMs: fc.nat(30), hosts: fc.nat(12) }), { maxLength: 40 })

interface Moment {
  readonly nowMs: number
  readonly hosts: number
  readonly choice: FormChoice
}

/** Asks at each step, and when it says that it wants to be asked. */
const played = (
  steps: ReadonlyArray<{ readonly passMs: number; readonly hosts: number }>,
  shards: number,
  of: FormLimits,
): ReadonlyArray<Moment> => {
  const moments: Array<Moment> = []
  let [nowMs, hosts] = [0, 0]
  const ask = (): void => {
    const choice = chooseForm(moments.at(-1)?.choice, { shards }, hosts, nowMs, of)
    moments.push({ nowMs, hosts, choice })
  }
  for (const step of steps) {
    const end = nowMs + step.passMs
    const dueAt = moments.at(-1)?.choice.dueAt
    if (dueAt !== undefined && dueAt <= end) {
      nowMs = dueAt
      ask()
    }
    nowMs = end
    hosts = step.hosts
    ask()
  }
  return moments
}

test('there is one switch in any time of rest at most, only over a limit, and none is missed', () => {
  fc.assert(
    fc.property(course, limits, fc.constantFrom(0, 3), (steps, of, shards) => {
      const moments = played(steps, shards, of)
      let last: number | undefined
      let before: Moment | undefined
      for (const moment of moments) {
        const { choice, hosts, nowMs } = moment
        const isSharded = choice.form._tag === 'Sharded'
        if (shards === 0) expect(isSharded).toBe(false)
        if (before !== undefined && before.choice.form._tag !== choice.form._tag) {
          expect(isSharded ? hosts >= of.up : hosts < of.down).toBe(true)
          if (last !== undefined) expect(nowMs - last).toBeGreaterThanOrEqual(of.restMs)
          last = nowMs
        }
        const mayWait = last !== undefined && nowMs - last < of.restMs
        if (!mayWait && shards > 0 && hosts >= of.up) expect(isSharded).toBe(true)
        if (!mayWait && hosts < of.down) expect(isSharded).toBe(false)
        before = moment
      }
    }),
  )
})
