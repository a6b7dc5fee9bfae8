import { expect, test } from 'vitest'
import type { Variant } from '../../src/core/xds/messages.js'
import { deleteWithCrash } from './crash.js'

const fleets: ReadonlyArray<ReadonlyArray<Variant>> = [
  ['sotw', 'delta'],
  ['delta', 'delta', 'sotw'],
]

test.each(fleets)(
  'a control plane that crashes after any single step of a deletion comes to the same end (%s, %s, %s)',
  async (...variants) => {
    const fleet = variants.filter((variant) => variant !== undefined)
    const calm = await deleteWithCrash(fleet)
    expect(calm.violation).toBeUndefined()
    expect(calm.steps).toBeGreaterThan(5)
    for (const outageMs of [0, 3_000])
      for (let step = 0; step < calm.steps; step += 1) {
        const crashed = await deleteWithCrash(fleet, step, outageMs)
        expect({ step, ...crashed, steps: 0 }).toEqual({ step, ...calm, steps: 0 })
      }
  },
)
