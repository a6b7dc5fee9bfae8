import { memoryLogger, virtualClock } from 'edgewright/memory'
import { expect, test } from 'vitest'
import { type Line, repeatedLines, repeatEveryMs } from '../../src/host/repeated-lines.js'

const lineOf = (where: string): Line => ({
  level: 'warn',
  message: 'it failed',
  fields: { where },
})

const start = () => {
  const clock = virtualClock()
  const logger = memoryLogger()
  const { tell, close } = repeatedLines(logger, clock)
  const told = (): ReadonlyArray<string> =>
    logger
      .entries()
      .map(({ fields }) => `${String(fields['where'])} ${String(fields['times'] ?? '')}`.trim())
  return {
    ...{ clock, logger, close, told },
    tell: (kind: string, where: string) => tell(kind, lineOf(where)),
  }
}

test('the first line of a kind is logged at once, and as it is', () => {
  const { tell, logger, told } = start()
  tell('x', 'a')
  tell('y', 'b')
  expect(told()).toEqual(['a', 'b'])
  expect(logger.entries()[0]).toMatchObject(lineOf('a'))
})

test('the others are one line after a while, the last of them with their number', () => {
  const { tell, clock, told } = start()
  for (const where of ['a', 'b', 'c']) tell('x', where)
  clock.advance(repeatEveryMs - 1)
  expect(told()).toEqual(['a'])
  clock.advance(1)
  expect(told()).toEqual(['a', 'c 2'])
})

test('as long as there are any, one line follows the other at the same pace', () => {
  const { tell, clock, told } = start()
  for (let i = 0; i < 4 * repeatEveryMs; i += 1_000) {
    tell('x', 'a')
    clock.advance(1_000)
  }
  expect(told()).toEqual(['a', 'a 9', 'a 10', 'a 10', 'a 10'])
})

test('what comes after a while without any is a first one again, and no timer is left meanwhile', () => {
  const { tell, clock, told } = start()
  tell('x', 'a')
  tell('x', 'b')
  clock.advance(2 * repeatEveryMs)
  expect(clock.waiting()).toBe(0)
  tell('x', 'c')
  expect(told()).toEqual(['a', 'b 1', 'c'])
})

test('at the end what was counted is told, and afterwards every line', () => {
  const { tell, close, clock, told } = start()
  for (const where of ['a', 'b', 'c']) tell('x', where)
  tell('y', 'd')
  close()
  expect(told()).toEqual(['a', 'd', 'c 2'])
  tell('x', 'e')
  tell('x', 'f')
  expect(told().slice(3)).toEqual(['e', 'f'])
  expect(clock.waiting()).toBe(0)
})
