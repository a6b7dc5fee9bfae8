import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format } from 'prettier'
import { curvesOf } from './curves.mjs'
import { machineInWords, today } from './machine.mjs'
import { plot } from './plot.mjs'
import { resultsInWords, withResults } from './words.mjs'

const root = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Where the results of the last full run lie, which README.md shows. */
export const resultsFolder = root('bench/results')

/** Measures what the plot needs beside the rows, and writes both into a folder. */
export const publishRun = async (rows, size, folder) => {
  const curves = await curvesOf(size)
  const run = { date: today(), machine: await machineInWords(), rows, curves }
  mkdirSync(folder, { recursive: true })
  await write(join(folder, 'run.json'), JSON.stringify(run), 'json')
  await writePages(folder)
}

/** Makes the plot and the pages of a run that was written before. */
export const writePages = async (folder) => {
  const run = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
  writeFileSync(join(folder, 'cost.svg'), plot(run.curves))
  await write(join(folder, 'README.md'), `# Results\n\n${resultsInWords(run, '')}`, 'markdown')
  if (resolve(folder) !== resultsFolder) return
  const readme = root('README.md')
  const words = resultsInWords(run, 'bench/results/')
  await write(readme, withResults(readFileSync(readme, 'utf8'), words), 'markdown')
}

/** As `npm run format` would leave it. */
const write = async (path, text, parser) =>
  writeFileSync(
    path,
    await format(text, { parser, semi: false, singleQuote: true, printWidth: 100 }),
  )
