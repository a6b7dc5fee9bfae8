import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import {
  changedKeys,
  lastValue,
  type OrderedMap,
  orderedMapOf,
  withValues,
} from '../../src/core/ordered-map.js'

type Pairs = ReadonlyArray<readonly [string, { readonly n: number }]>

const values = [0, 1, 2].map((n) => ({ n }))
const pairs: fc.Arbitrary<Pairs> = fc.array(
  fc.tuple(fc.constantFrom('a', 'b', 'B', 'c', 'ä'), fc.constantFrom(...values)),
)

const union = (...maps: ReadonlyArray<OrderedMap<unknown>>): ReadonlyArray<string> =>
  [...new Set(maps.flatMap((map) => [...map.keys()]))].sort()

test.prop([pairs, pairs])(
  'the changed keys of two maps are those whose values are not the very same, whatever their history',
  (some, more) => {
    const before = orderedMapOf(some)
    const others = [orderedMapOf(more), withValues(before, new Map(more)), orderedMapOf(before)]
    for (const after of others) {
      const expected = union(before, after).filter((key) => before.get(key) !== after.get(key))
      expect(changedKeys(before, after)).toEqual(expected)
    }
  },
)

test.prop([pairs])('the last value is that of the last key', (some) => {
  const map = orderedMapOf(some)
  expect(lastValue(map)).toBe([...map.values()].at(-1))
})
