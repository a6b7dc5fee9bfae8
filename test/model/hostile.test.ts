import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { variants } from '../support/xds.js'
import { cases } from './hostile-cases.js'
import { actions, plans, type Traits } from './hostile-plan.js'
import { play } from './hostile-world.js'

const kinds: ReadonlyArray<readonly [string, Traits]> = [
  ['of which each refuses something', { refusing: true, crash: true }],
  ['whose listeners come and go', { refusing: true, listeners: true, ports: true, crash: true }],
  ['one of whose clusters is slow', { refusing: true, slow: true, listeners: true, crash: true }],
  ['whose control plane forgets', { refusing: true, crash: true, forget: true }],
]

/** What a run costs is some 30 ms. */
const numRuns = 50

/** The same runs each time. Other seeds find more, in hours: what they find belongs to the recorded runs. */
const seed = 4

describe('whatever breaks, no route of an Envoy names a cluster that it lacks; an innocent route that it serves is never taken away; the ledger names it as long as it serves an object; and then it comes to rest with all that is published, nothing is sent any more, and no deleted object is held up', () => {
  describe.each(variants)('%s', (variant) => {
    test.each(kinds)('with Envoys %s', (_, traits) => {
      fc.assert(fc.property(plans(variant, traits), actions(traits), play), { numRuns, seed })
    })
  })
})

describe('so does each run that once broke one of these laws', () => {
  test.each(cases)('$title', ({ plan, actions: recorded }) => {
    expect(() => play(plan, recorded)).not.toThrow()
  })
})
