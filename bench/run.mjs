// The benchmarks: `npm run bench`. bench/README.md says how to run them, and how to read what they print.
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean' },
    json: { type: 'string' },
  },
})

switch (positionals.join(' ')) {
  case '': {
    const { runSuite } = await import('./suite.mjs')
    await runSuite({ only: values.only, isQuick: values.quick, json: values.json })
    break
  }
  case 'micro':
    await import('./micro/run.mjs')
    break
  case 'calibrate': {
    const { calibrate } = await import('./calibrate.mjs')
    await calibrate()
    break
  }
  default:
    throw new Error(
      `there is no ${positionals.join(' ')}; take micro or calibrate, or nothing for all rows`,
    )
}
