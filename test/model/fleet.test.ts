import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { variants } from '../support/xds.js'
import { type Action, action, type Plan, play, plan, type Traits } from './fleet-world.js'

/** Every Envoy accepts everything: what is left is the order of things. */
const wellMeaning: Traits = { refusing: false, slow: false }

const laws = (traits: Traits) =>
  fc.property(
    plan(traits),
    fc.array(action, { maxLength: 60 }),
    (of: Plan, actions: ReadonlyArray<Action>) => {
      const fleet = play(of)
      for (const each of actions) fleet.act(each)
      fleet.rest()
      expect(fleet.missing()).toEqual([])
    },
  )

describe('under any order of publishes, answers, losses, restarts and time, no route ever names a cluster that its Envoy lacks, and each Envoy ends with the target', () => {
  test.each(variants)('%s: of Envoys that accept everything', (variant) => {
    fc.assert(laws({ ...wellMeaning, variant }), { numRuns: 400 })
  })

  test.each(variants)('%s: of Envoys of which each refuses something', (variant) => {
    fc.assert(laws({ refusing: true, slow: false, variant }), { numRuns: 400 })
  })

  test.each(variants)('%s: of Envoys some of whose clusters never become ready', (variant) => {
    fc.assert(laws({ refusing: true, slow: true, variant }), { numRuns: 200 })
  })
})
