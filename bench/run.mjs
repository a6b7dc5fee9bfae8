// The benchmarks: `npm run bench`. bench/README.md says how to run them, and how to read what they print.
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean' },
    json: { type: 'string' },
    publish: { type: 'string' },
  },
})

switch (positionals.join(' ')) {
  case '': {
    const { runSuite } = await import('./suite.mjs')
    const { quick: isQuick, ...options } = values
    await runSuite({ isQuick, ...options })
    break
  }
  case 'pages': {
    const { resultsFolder, writePages } = await import('./publish/publish.mjs')
    await writePages(resultsFolder)
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
      `there is no ${positionals.join(' ')}; take micro, calibrate or pages, or nothing for all rows`,
    )
}
