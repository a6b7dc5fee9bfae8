// Adds up the results that the test runs have left in a folder, and prints "passed failed". Fails, and says why,
// where the results of a run are missing or cannot be read. A run without any test counts as a failure.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The names that test/support/reporters.ts gives to the files of the three configurations. */
const runs = ['tests', 'integration', 'e2e']

/** Passed and failed tests of one run. */
const resultOf = (folder, run) => {
  const result = JSON.parse(readFileSync(join(folder, `${run}.json`), 'utf8'))
  const { numTotalTests: total, numPassedTests: passed, numFailedTests: failed } = result
  for (const count of [total, passed, failed])
    if (!Number.isInteger(count) || count < 0) throw new Error('it has no counts of tests')
  return { passed, failed: failed + (total === 0 ? 1 : 0) }
}

const folder = process.argv[2] ?? '.'
const results = runs.map((run) => {
  try {
    return resultOf(folder, run)
  } catch (cause) {
    console.error(`sum-results: the results of the run ${run}: ${cause.message}`)
    process.exitCode = 1
    return { passed: 0, failed: 0 }
  }
})
const sum = (count) => results.reduce((total, result) => total + result[count], 0)
console.log(sum('passed'), sum('failed'))
