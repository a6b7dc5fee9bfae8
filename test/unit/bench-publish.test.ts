import { expect, test } from 'vitest'
import { plot } from '../../bench/publish/plot.mjs'
import { resultsInWords, showValue, withResults } from '../../bench/publish/words.mjs'

test('small values read as parts, others as numbers, and what was not measured as a dash', () => {
  expect([0.004, 0.19, 0.93, 1.0789, 3, 31.77, NaN].map(showValue)).toEqual([
    '1/250',
    '1/5',
    '0.93',
    '1.08',
    '3',
    '31.8',
    '–',
  ])
})

test('the results of a run are a table with a row for each, in their order', () => {
  const words = resultsInWords(
    {
      date: '3 December 2026',
      machine: 'a toaster',
      rows: [
        { name: 'one change', goal: 'at most 1/50 of the Go peer', value: 0.01, holds: true },
        { name: 'a | burst', goal: 'at most 3 responses', value: 4, holds: false },
      ],
    },
    'bench/results/',
  )
  expect(words).toContain('3 December 2026, a toaster')
  expect(words).toContain('(bench/results/cost.svg)')
  expect(words.split('\n').filter((line) => line.startsWith('| '))).toEqual([
    '| what | goal | measured | holds |',
    '| --- | --- | --- | --- |',
    '| one change | at most 1/50 of the Go peer | 1/100 | yes |',
    '| a \\| burst | at most 3 responses | 4 | **no** |',
  ])
})

test('results take the place of what stood between the marks of a page, and of nothing else', () => {
  const page = 'before\n<!-- bench: begin -->\nold\n<!-- bench: end -->\nafter\n'
  const next = withResults(page, 'new\n')
  expect(next).toBe('before\n<!-- bench: begin -->\n\nnew\n\n<!-- bench: end -->\nafter\n')
  expect(withResults(next, 'new\n')).toBe(next)
  expect(() => withResults('a page', 'new\n')).toThrow('no place for results')
})

/** Where the points of each line lie, from left to right. */
const dotsOf = (svg: string): ReadonlyArray<readonly [x: number, y: number]> =>
  [...svg.matchAll(/<circle class="\w+" cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [
    Number(x),
    Number(y),
  ])

const line = (name: string, ...points: ReadonlyArray<readonly [number, number]>) => ({
  name,
  points,
})

test('a tenfold is the same distance everywhere in a plot, and what costs more stands higher', () => {
  const [a, b, c, d] = dotsOf(
    plot([
      {
        title: 'cost',
        lines: [line('ours', [100, 1], [1_000, 10]), line('b', [100, 10], [10_000, 100])],
      },
    ]),
  )
  if (a === undefined || b === undefined || c === undefined || d === undefined)
    throw new Error('four points were to be drawn')
  expect(b[0] - a[0]).toBeCloseTo((d[0] - c[0]) / 2)
  expect(a[1] - b[1]).toBeCloseTo(c[1] - d[1])
  expect(b[1]).toBeLessThan(a[1])
  expect(c[1]).toBe(b[1])
})

test('a plot escapes what is told to it, and suits dark pages, too', () => {
  const svg = plot([
    { title: 'a < b & c', lines: [line('x', [1, 1], [10, 5]), line('y', [1, 2], [10, 50])] },
  ])
  expect(svg).toContain('a &lt; b &amp; c')
  expect(svg).not.toContain('a < b')
  expect(svg).toContain('prefers-color-scheme: dark')
})
