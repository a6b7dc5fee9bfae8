import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { planOf } from './plan.js'
import { randomOf } from './random.js'
import { run } from './run.js'
import { shrink } from './shrink.js'
import type { Plan } from './steps.js'

/** How many seeds are run here; `npm run simulate` runs as many as it is told to. */
const seedCount = 100

test('a whole control plane keeps every law, whatever happens to it', async () => {
  const broken: Array<string> = []
  for (let seed = 1; seed <= seedCount; seed += 1) {
    const { violation } = await run(planOf(seed))
    if (violation !== undefined)
      broken.push(`npm run simulate -- --seed ${seed}: ${violation.law}: ${violation.message}`)
  }
  expect(broken).toEqual([])
})

/** Plans that broke a law once, shortened, one on a line: seeds mean something else when the generator changes. */
const pinned = readFileSync(new URL('./pinned.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Plan & { readonly law: string })

test.each(pinned)(
  'what broke $law with $setup.envoys.length Envoys, seed $setup.seed, breaks none',
  async (plan) => {
    const { violation, steps } = await run(plan)
    expect(violation).toBeUndefined()
    expect(steps).toBe(plan.steps.length)
  },
)

test('a run tells the same story each time', async () => {
  for (const seed of [3, 11, 29]) {
    const stories = [[], []] as const satisfies ReadonlyArray<Array<string>>
    for (const story of stories)
      await run(planOf(seed), (line) => void (story as Array<string>).push(line))
    expect(stories[0].length).toBeGreaterThan(100)
    expect(stories[0]).toEqual(stories[1])
  }
})

test('what is drawn from a fork does not touch the generator that it came from', () => {
  const [a, b] = [randomOf(7), randomOf(7)]
  const fork = a.fork()
  b.fork()
  for (let n = 0; n < 10; n += 1) fork.next()
  expect([a.next(), a.below(100)]).toEqual([b.next(), b.below(100)])
})

test('a plan without a violation is not shrunk', async () => {
  const plan = planOf(1)
  expect(await shrink({ ...plan, steps: plan.steps.slice(0, 3) }, 'GoneForEver')).toEqual({
    ...plan,
    steps: plan.steps.slice(0, 3),
  })
})
