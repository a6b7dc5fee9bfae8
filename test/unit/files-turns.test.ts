import { expect, test } from 'vitest'
import { atOnce, type Pieces, turnsOf } from '../../src/adapters/files/turns.js'

/** Holds the processor, as a parser does. */
const busy = (ms: number): void => {
  const endMs = performance.now() + ms
  for (let i = 0; i < 1e9 && performance.now() < endMs; i += 1);
}

/** Work of some pieces that notes when each of them is done. */
function* work(name: string, pieces: number, ms: number, log: Array<string>): Pieces<string> {
  for (let i = 1; i <= pieces; i += 1) {
    busy(ms)
    log.push(`${name}${String(i)}`)
    yield
  }
  return name
}

/** Notes each turn of the event loop until `isDone`. */
const noteTurns = (log: Array<string>, isDone: () => boolean): void => {
  setImmediate(() => {
    log.push('|')
    if (!isDone() && log.length < 10_000) noteTurns(log, isDone)
  })
}

test('of several works, one goes on in each turn of the event loop, for some milliseconds', async () => {
  const log: Array<string> = []
  let done = false
  noteTurns(log, () => done)
  const inTurns = turnsOf(() => false)
  const results = await Promise.all([
    inTurns(work('a', 3, 20, log)),
    inTurns(work('b', 2, 20, log)),
    inTurns(work('c', 1, 20, log)),
  ])
  done = true
  expect(results).toEqual(['a', 'b', 'c'])
  const turns = log
    .join(' ')
    .split('|')
    .map((turn) => turn.trim().split(' ').filter(Boolean))
  expect(turns.flat().sort()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
  expect(Math.max(...turns.map((turn) => turn.length))).toBe(1)
})

test('small pieces share a turn', async () => {
  const log: Array<string> = []
  let done = false
  noteTurns(log, () => done)
  await turnsOf(() => false)(work('a', 1_000, 0, log))
  done = true
  expect(log.filter((note) => note === '|').length).toBeLessThan(500)
})

test('what is stopped comes to nothing, and does no more', async () => {
  const log: Array<string> = []
  const inTurns = turnsOf(() => log.length >= 2)
  const results = await Promise.all([
    inTurns(work('a', 5, 20, log)),
    inTurns(work('b', 5, 20, log)),
  ])
  expect(results).toEqual([undefined, undefined])
  expect(log).toEqual(['a1', 'b1'])
})

test('what a piece throws is what the work rejects with, and harms no other', async () => {
  function* thrower(): Pieces<string> {
    yield
    throw new Error('at fault')
  }
  const inTurns = turnsOf(() => false)
  const ended = await Promise.allSettled([inTurns(thrower()), inTurns(work('a', 1, 0, []))])
  expect(ended).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: 'a' }])
})

test('all pieces at once give what they give in turns', async () => {
  expect(atOnce(work('a', 3, 0, []))).toBe(await turnsOf(() => false)(work('a', 3, 0, [])))
})
