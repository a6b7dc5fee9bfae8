import { expect, test } from 'vitest'
import { deleteWithCrash } from './crash.js'
import type { Variant } from '../../src/core/xds/messages.js'

const fleets: ReadonlyArray<{ readonly fleet: ReadonlyArray<Variant> }> = [
  { fleet: ['sotw', 'delta'] },
  { fleet: ['delta', 'delta', 'sotw'] },
]

/** For how long the control plane is down, in milliseconds. */
const outages = [0, 3_000]

test.each(fleets)(
  'a control plane that crashes after any single step of a deletion comes to the same end ($fleet)',
  async ({ fleet }) => {
    const calm = await deleteWithCrash(fleet)
    expect(calm.violation).toBeUndefined()
    expect(calm.steps).toBeGreaterThan(5)
    for (const outageMs of outages)
      for (let step = 0; step < calm.steps; step += 1) {
        const crashed = await deleteWithCrash(fleet, step, outageMs)
        expect({ step, ...crashed, steps: 0 }).toEqual({ step, ...calm, steps: 0 })
      }
  },
)
