import { expect, test } from 'vitest'
import { loadSimulation } from '../../tools/bundle-simulation.mjs'
import { planOf } from './plan.js'
import { plants } from './plants.js'
import { run } from './run.js'
import { seeds } from './seeds.js'

test('every planted bug has a seed that shows it', () => {
  expect(Object.keys(seeds).sort()).toEqual(plants.map(({ name }) => name).sort())
})

test.each(plants)(
  'a control plane that $name breaks the law $law',
  async ({ name, law, patches }) => {
    const planted = await loadSimulation(name, patches)
    const { violation } = await planted.run(planted.planOf(seeds[name] ?? 0))
    expect(violation?.law).toBe(law)
  },
)

test.each([...new Set(Object.values(seeds))])(
  'without a bug nothing is wrong with the recorded seed %i',
  async (seed) => {
    expect(await run(planOf(seed))).toMatchObject({ violation: undefined })
  },
)
