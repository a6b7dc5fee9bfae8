import { expect, test } from 'vitest'
import { startPace } from '../../bench/pace.mjs'

test('a sample has as many changes as take 40 ms together, one at least and 20 at most', () => {
  const sizes = [100, 1_000, 4_000, 30_000, 40_000, 900_000].map((us) => {
    const pace = startPace<number, number>((sample) => sample, 0)
    pace.note(us)
    return pace.changes((i) => i).length
  })
  expect(sizes).toEqual([20, 20, 10, 2, 1, 1])
})

test('no change is made twice', () => {
  const pace = startPace<number, number>((sample) => sample, 0)
  pace.note(20_000)
  const made = [...pace.changes((i) => i), ...pace.changes((i) => i)]
  expect(made).toEqual([0, 1, 2, 3])
})
