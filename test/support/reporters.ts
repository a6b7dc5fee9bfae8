import { join } from 'node:path'

/** Where a run leaves its results as JSON, beside what it prints; nowhere unless it is asked to. */
export const reporters = (run: string): Array<string | [string, { outputFile: string }]> => {
  const folder = process.env['EDGEWRIGHT_TEST_RESULTS']
  if (folder === undefined) return ['default']
  const outputFile = join(folder, `${run}-${process.pid}.json`)
  return ['default', ['json', { outputFile }]]
}
