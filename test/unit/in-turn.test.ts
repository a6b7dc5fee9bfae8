import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { inTurn } from '../../src/core/in-turn.js'

interface Item {
  readonly name: string
  readonly throws?: boolean
  readonly brings?: ReadonlyArray<Item>
}

/** Runs items that bring forth others; the log says what began and ended, and who heard of a throw. */
const play = (items: ReadonlyArray<Item>): ReadonlyArray<string> => {
  const log: Array<string> = []
  const call = inTurn<Item>(
    ({ name, throws = false, brings = [] }) => {
      log.push(`${name} begins`)
      brings.forEach(call)
      log.push(`${name} ends`)
      if (throws) throw new Error(name)
    },
    ({ name }) => log.push(`${name} failed`),
  )
  for (const item of items)
    try {
      call(item)
    } catch (error) {
      log.push(`the caller got ${String(error)}`)
    }
  return log
}

const namesOf = ({ name, brings = [] }: Item): ReadonlyArray<string> => [
  name,
  ...brings.flatMap(namesOf),
]

/** Items that bring forth others, at most `depth` times over. */
const itemsTo = (depth: number): fc.Arbitrary<ReadonlyArray<Item>> =>
  fc.array(
    fc.record({
      name: fc.uuid(),
      throws: fc.boolean(),
      brings: depth === 0 ? fc.constant([]) : itemsTo(depth - 1),
    }),
    { maxLength: 3 },
  )

describe('in turn', () => {
  test('an item that comes while another one runs waits until that is done', () => {
    expect(play([{ name: 'a', brings: [{ name: 'b', brings: [{ name: 'c' }] }] }])).toEqual([
      ...['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'],
    ])
  })

  test('an item that throws at once throws to its caller, behind those that it brought forth', () => {
    expect(play([{ name: 'a', throws: true, brings: [{ name: 'b' }] }, { name: 'c' }])).toEqual([
      ...['a begins', 'a ends', 'b begins', 'b ends', 'the caller got Error: a'],
      ...['c begins', 'c ends'],
    ])
  })

  test('an item that throws after it waited keeps neither its caller nor the next one', () => {
    const brings = [{ name: 'b', throws: true }, { name: 'c' }]
    expect(play([{ name: 'a', brings }])).toEqual([
      ...['a begins', 'a ends', 'b begins', 'b ends', 'b failed', 'c begins', 'c ends'],
    ])
  })

  test.prop([itemsTo(3)], { numRuns: 1_000 })(
    'every item runs, once, from its begin to its end, whichever of them throw',
    (all) => {
      const runs = play(all).filter((line) => /begins$|ends$/.test(line))
      const begun = runs.filter((_, at) => at % 2 === 0).map((line) => line.split(' ')[0])
      expect([...begun].sort()).toEqual(all.flatMap(namesOf).sort())
      expect(runs).toEqual(begun.flatMap((name) => [`${name} begins`, `${name} ends`]))
    },
  )
})
