import { writeFileSync } from 'node:fs'
import { judge, plain } from './judge.mjs'
import { publishRun } from './publish/publish.mjs'
import { measurements } from './measurements.mjs'
import { allRows } from './rows/index.mjs'

/** Every median is one of this many samples at least. */
const full = { runs: 15, sized: (n) => n }
/** A tenth of everything: shows that the benchmarks work, and no more. */
const quick = { runs: 3, sized: (n) => n / 10 }

/**
 * Measures every row whose name holds `only`, prints them as a table, and writes them to `json`, if it names a file.
 * `publish` names a folder for a page of results with a plot, which shows all rows.
 */
export const runSuite = async ({ only = '', isQuick = false, json, publish }) => {
  if (publish !== undefined && only !== '')
    throw new Error('what is published are all rows: --publish goes without --only')
  const sizes = isQuick ? quick : full
  const size = { ...sizes, ...measurements(sizes) }
  const all = allRows(size)
  const wanted = all.filter(({ name }) => name.includes(only))
  if (wanted.length === 0)
    throw new Error(`no row has ${only} in its name; take a part of one of these:\n${names(all)}`)
  if (isQuick) console.log('Quick: a tenth of each size, for which the goals are not made.\n')
  const print = printer(wanted)
  const rows = []
  for (const row of wanted) {
    const measured = judge(row, await measuredOf(row))
    print(measured)
    rows.push(measured)
  }
  console.log(`\n${rows.filter(({ holds }) => holds).length} of ${rows.length} goals hold.`)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(rows.map(plain), null, 2)}\n`)
  if (publish !== undefined) await publishRun(rows, size, publish)
}

const names = (rows) => rows.map(({ name }) => `  ${name}`).join('\n')

/** A row that cannot be measured does not hold, and keeps no other one from being measured. */
const measuredOf = async ({ measure }) => {
  try {
    return await measure()
  } catch (error) {
    process.exitCode = 1
    return { value: NaN, detail: error instanceof Error ? error.stack : String(error) }
  }
}

/** Prints the head of the table, and then a line for each row as soon as it is known. */
const printer = (rows) => {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length))
  const goalWidth = Math.max(...rows.map(({ goal }) => goal.text.length))
  const line = (name, goal, value, holds, detail) =>
    console.log(
      [name.padEnd(nameWidth), goal.padEnd(goalWidth), value.padStart(8), holds, detail].join('  '),
    )
  line('what', 'goal', 'value', 'holds', '')
  return ({ name, goal, value, holds, detail }) =>
    line(name, goal, showValue(value), holds ? 'yes  ' : 'NO   ', detail)
}

const showValue = (value) => (Number.isInteger(value) ? String(value) : value.toPrecision(3))
