// Adds up the test results that the runs have left in a folder, and prints "passed failed". A run without any test
// counts as a failure.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.argv[2]
let passed = 0
let failed = 0
for (const name of readdirSync(folder)) {
  const result = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  passed += result.numPassedTests
  failed += result.numFailedTests + (result.numTotalTests === 0 ? 1 : 0)
}
console.log(passed, failed)
