import { expect, test } from 'vitest'
import { inTurn, median, ratio } from '../../bench/stats.mjs'

test('the median is the one in the middle by size, whatever the order', () => {
  expect(median([9, 100, 10])).toBe(10)
  expect(median([5])).toBe(5)
})

test('the median of an even count lies between the two in the middle', () => {
  expect(median([40, 1, 3, 2])).toBe(2.5)
})

test('nothing has no median', () => {
  expect(() => median([])).toThrow('no median')
})

test('the median leaves its input as it is', () => {
  const values = [3, 1, 2]
  median(values)
  expect(values).toEqual([3, 1, 2])
})

test('a ratio is of the medians, and one slow sample on either side does not change it', () => {
  expect(ratio([900, 1, 2], [8, 800, 4])).toBe(0.25)
})

test('a ratio stays when everything becomes slower alike', () => {
  expect(ratio([30, 60, 90], [120, 240, 360])).toBe(ratio([1, 2, 3], [4, 8, 12]))
})

test('samples are taken in turn, and the first of each does not count', async () => {
  const taken: Array<string> = []
  const samples = await inTurn(['ours', 'peer'], 2, (who, run) => {
    taken.push(`${who} ${run}`)
    return `${who} ${run}`
  })
  expect(taken).toEqual(['ours 0', 'peer 0', 'ours 1', 'peer 1', 'ours 2', 'peer 2'])
  expect(samples).toEqual([
    ['ours 1', 'ours 2'],
    ['peer 1', 'peer 2'],
  ])
})
