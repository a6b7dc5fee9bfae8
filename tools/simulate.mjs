/**
 * Runs the simulation: `node tools/simulate.mjs [--seeds N] [--seed S] [--trace] [--plant BUG]`.
 *
 * Runs N seeds from S on (500 from 1), in as many threads as there are processors. With `--seed` alone, that seed. The
 * last line says `N seeds, V violations`; the exit code is 1 if there are any, or none where a bug was planted.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { loadSimulation } from './bundle-simulation.mjs'

const load = async (plant) => {
  const plain = await loadSimulation()
  if (plant === undefined) return plain
  const found = plain.plants.find(({ name }) => name === plant)
  if (found === undefined)
    throw new Error(`no such bug; there are: ${plain.plants.map(({ name }) => name).join(', ')}`)
  return loadSimulation(plant, found.patches)
}

const describe = (seed, plan, violation, simulation) => [
  `seed ${seed} (${plan.setup.profile}) breaks ${violation.law}: ${violation.message}`,
  `  Envoys: ${plan.setup.envoys.map(({ id, variant }) => `${id} ${variant}`).join(', ')}`,
  ...plan.steps.map((step, index) => `  ${index + 1}. ${simulation.showStep(step)}`),
  `  again: npm run simulate -- --seed ${seed}`,
]

const runSeed = async (simulation, seed, isTraced) => {
  const plan = simulation.planOf(seed)
  const { violation } = await simulation.run(plan)
  if (violation === undefined) return []
  const short = await simulation.shrink(plan, violation.law)
  const again = await simulation.run(short, isTraced ? console.log : undefined)
  return describe(seed, short, again.violation ?? violation, simulation)
}

const work = async ({ seeds, plant }) => {
  const simulation = await load(plant)
  for (const seed of seeds) parentPort.postMessage(await runSeed(simulation, seed, false))
}

const inThreads = (seeds, plant, onResult) => {
  const count = Math.min(availableParallelism(), Math.ceil(seeds.length / 50))
  const shares = Array.from({ length: count }, (_, n) => seeds.filter((_, i) => i % count === n))
  return Promise.all(
    shares.map(
      (share) =>
        new Promise((resolve, reject) => {
          const worker = new Worker(new URL(import.meta.url), {
            workerData: { seeds: share, plant },
          })
          worker.on('message', onResult)
          worker.on('error', reject)
          worker.on('exit', resolve)
        }),
    ),
  )
}

/** True if a seed shows a bug by the law that it breaks, and nothing is wrong with it otherwise. */
const shows = async (plain, planted, law, seed) => {
  const plan = plain.planOf(seed)
  const { violation } = await planted.run(plan)
  return violation?.law === law && (await plain.run(plan)).violation === undefined
}

/** How many seeds are tried for each bug. */
const maxTried = 3_000

/** The seed that is known to show a bug, if it still does; else the first that does. */
const findSeed = async (plain, { name, law, patches }) => {
  const planted = await loadSimulation(name, patches)
  const known = plain.seeds[name]
  if (known !== undefined && (await shows(plain, planted, law, known))) return known
  for (let seed = 1; seed <= maxTried; seed += 1)
    if (await shows(plain, planted, law, seed)) return seed
  return undefined
}

const writeSeeds = (seeds) =>
  writeFileSync(
    new URL('../test/simulation/seeds.ts', import.meta.url),
    [
      '/** For each planted bug a seed that shows it; written by `node tools/simulate.mjs --record`. */',
      'export const seeds: Readonly<Record<string, number>> = {',
      ...seeds.map(([name, seed]) => `  '${name}': ${seed},`),
      '}',
      '',
    ].join('\n'),
  )

/** Writes down for each bug a seed that shows it. */
const record = async () => {
  const plain = await loadSimulation()
  const seeds = []
  for (const plant of plain.plants) {
    const seed = await findSeed(plain, plant)
    console.log(`${plant.name}: ${seed ?? 'not found'}`)
    if (seed === undefined) process.exitCode = 1
    else seeds.push([plant.name, seed])
  }
  writeSeeds(seeds)
}

const wholeOf = (text, fallback) => {
  if (text === undefined) return fallback
  const number = Number(text)
  if (!Number.isInteger(number) || number < 0) throw new Error(`not a whole number: ${text}`)
  return number
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string' },
      plant: { type: 'string' },
      record: { type: 'boolean', default: false },
      trace: { type: 'boolean', default: false },
    },
  })
  if (values.record) return record()
  const first = wholeOf(values.seed, 1)
  const count = wholeOf(values.seeds, values.seed === undefined ? 500 : 1)
  const seeds = Array.from({ length: count }, (_, index) => first + index)
  let violations = 0
  const onResult = (lines) => {
    if (lines.length === 0) return
    violations += 1
    for (const line of lines) console.log(line)
  }
  if (count <= 5) {
    const simulation = await load(values.plant)
    for (const seed of seeds) onResult(await runSeed(simulation, seed, values.trace))
  } else await inThreads(seeds, values.plant, onResult)
  console.log(`${count} seeds, ${violations} violations`)
  const isWrong = values.plant === undefined ? violations > 0 : violations === 0
  process.exitCode = isWrong ? 1 : 0
}

if (isMainThread) await main()
else await work(workerData)
