import { join } from 'node:path'

/**
 * Where a run leaves its results as JSON, beside what it prints; nowhere unless it is asked to. A
 * later run of the same name takes the place of an earlier one, so that no test counts twice.
 */
export const reporters = (run: string): Array<string | [string, { outputFile: string }]> => {
  const folder = process.env['EDGEWRIGHT_TEST_RESULTS']
  if (folder === undefined) return ['default']
  return ['default', ['json', { outputFile: join(folder, `${run}.json`) }]]
}
