import { expect, test } from 'vitest'
import { atLeast, atMost, judge, plain } from '../../bench/judge.mjs'

const judged = (goal: ReturnType<typeof atMost>, value: number): boolean =>
  judge({ name: 'a row', goal }, { value, detail: '' }).holds

test('what is to be at most a limit holds up to the limit itself', () => {
  const goal = atMost(1 / 50, 'of the Go peer')
  expect([0.01, 0.02, 0.0201].map((value) => judged(goal, value))).toEqual([true, true, false])
})

test('what is to be at least a limit holds from the limit itself on', () => {
  const goal = atLeast(25, 'times the list form')
  expect([24.9, 25, 60].map((value) => judged(goal, value))).toEqual([false, true, true])
})

test('what could not be measured holds for no goal', () => {
  for (const value of [NaN, Infinity, -Infinity])
    expect([judged(atMost(1, 'x'), value), judged(atLeast(1, 'x'), value)]).toEqual([false, false])
})

test('a goal says what is asked for, parts as parts', () => {
  const texts = [
    atMost(1 / 50, 'of it'),
    atMost(1 / 200, 'of it'),
    atMost(0.15, 'more'),
    atMost(3, 'responses'),
  ]
  expect(texts.map(({ text }) => text)).toEqual([
    'at most 1/50 of it',
    'at most 1/200 of it',
    'at most 0.15 more',
    'at most 3 responses',
  ])
  expect(atLeast(25, 'times').text).toBe('at least 25 times')
})

test('a row is written with its name, goal and value, and whether it holds', () => {
  const row = judge(
    { name: 'cold build', goal: atMost(1, 'of the peer') },
    { value: 0.5, detail: 'ours 1 s, peer 2 s' },
  )
  expect(row.detail).toBe('ours 1 s, peer 2 s')
  expect(plain(row)).toEqual({
    name: 'cold build',
    goal: 'at most 1 of the peer',
    value: 0.5,
    holds: true,
  })
})
