import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { filesIn } from '../support/cli.js'
import { reporters } from '../support/reporters.js'

const cleanups: Array<() => void> = []
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()))

const resultOf = (passed: number, failed: number): string =>
  JSON.stringify({
    numTotalTests: passed + failed,
    numPassedTests: passed,
    numFailedTests: failed,
  })

const sumOf = (files: Readonly<Record<string, string>>) => {
  const { directory, dispose } = filesIn(files)
  cleanups.push(dispose)
  const { status, stdout, stderr } = spawnSync('node', ['tools/sum-results.mjs', directory], {
    encoding: 'utf8',
  })
  return { status, sum: stdout.trim(), err: stderr }
}

test('each run counts once, and only the three runs count', () => {
  const runs = {
    'tests.json': resultOf(5, 1),
    'integration.json': resultOf(2, 0),
    'e2e.json': resultOf(4, 1),
  }
  expect(sumOf({ ...runs, 'other.json': resultOf(9, 9) })).toEqual({
    status: 0,
    sum: '11 2',
    err: '',
  })
})

test('a run without any test is a failure', () => {
  const runs = {
    'tests.json': resultOf(5, 0),
    'integration.json': resultOf(0, 0),
    'e2e.json': resultOf(3, 0),
  }
  expect(sumOf(runs)).toMatchObject({ status: 0, sum: '8 1' })
})

test.each([
  ['is not there', {}],
  ['is not whole', { 'integration.json': resultOf(2, 0).slice(0, 20) }],
  ['has no counts', { 'integration.json': '{}' }],
])('where the result of a run %s, that is said, and what there is still counts', (_, files) => {
  const others = { 'tests.json': resultOf(5, 0), 'e2e.json': resultOf(3, 0) }
  const { status, sum, err } = sumOf({ ...others, ...files })
  expect({ status, sum }).toEqual({ status: 1, sum: '8 0' })
  expect(err).toContain('integration')
})

test('a second run of the same name takes the place of the first', () => {
  const before = process.env['EDGEWRIGHT_TEST_RESULTS']
  process.env['EDGEWRIGHT_TEST_RESULTS'] = '/results'
  try {
    expect(reporters('tests')).toEqual([
      'default',
      ['json', { outputFile: join('/results', 'tests.json') }],
    ])
  } finally {
    if (before === undefined) delete process.env['EDGEWRIGHT_TEST_RESULTS']
    else process.env['EDGEWRIGHT_TEST_RESULTS'] = before
  }
})
