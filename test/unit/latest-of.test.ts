import { virtualClock } from 'edgewright/memory'
import { expect, test } from 'vitest'
import { latestOf } from '../../src/host/latest-of.js'

/** What is handed on, and when; each pass takes `tookMs`. */
const start = (tookMs: number) => {
  const virtual = virtualClock()
  const clock = { ...virtual, nowMs: () => virtual.nowMs() + spent }
  let spent = 0
  const taken: Array<string> = []
  const inbox = latestOf(clock, (value: string) => {
    taken.push(`${value} at ${clock.nowMs()}`)
    spent += tookMs
  })
  return { inbox, taken, pass: (ms: number) => virtual.advance(ms) }
}

test('what arrives together is handed on once, and it is the latest', () => {
  const { inbox, taken, pass } = start(0)
  for (const value of ['a', 'b', 'c']) inbox.put(value)
  pass(0)
  expect(taken).toEqual(['c at 0'])
})

test('after a pass it rests for as long as that took, and then hands on what has come meanwhile', () => {
  const { inbox, taken, pass } = start(50)
  inbox.put('a')
  pass(0)
  inbox.put('b')
  pass(49)
  inbox.put('c')
  expect(taken).toEqual(['a at 0'])
  pass(1)
  expect(taken).toEqual(['a at 0', 'c at 100'])
})

test('a lone change after a rest is not held up', () => {
  const { inbox, taken, pass } = start(50)
  inbox.put('a')
  pass(1_000)
  inbox.put('b')
  pass(0)
  expect(taken).toEqual(['a at 0', 'b at 1050'])
})

test('nothing is handed on once it is closed', () => {
  const { inbox, taken, pass } = start(0)
  inbox.put('a')
  inbox.close()
  pass(10)
  expect(taken).toEqual([])
})

test('a burst that is spread over many turns costs three passes, and a few changes are not held up', () => {
  const { inbox, taken, pass } = start(0)
  const spread = (count: number): void => {
    for (let i = 1; i <= count; i++) {
      inbox.put(`${i}`)
      pass(i % 20 === 0 ? 1 : 0)
    }
  }
  inbox.put('first')
  pass(0)
  for (let i = 0; i < 20; i++) inbox.put('second')
  pass(0)
  spread(1_000)
  pass(200)
  expect(taken).toEqual(['first at 0', 'second at 0', '1000 at 200'])
  pass(1_000)
  for (const value of ['x', 'y', 'z']) {
    inbox.put(value)
    pass(1)
  }
  expect(taken.slice(3)).toEqual(['x at 1250', 'y at 1251', 'z at 1252'])
})
