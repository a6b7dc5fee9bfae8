import { memoryLogger, memoryMetrics, virtualClock } from 'edgewright/memory'
import { describe, expect, test } from 'vitest'

describe('a virtual clock', () => {
  test('stands until it is told to go on', () => {
    const clock = virtualClock(1_000)
    expect(clock.nowMs()).toBe(1_000)
    clock.advance(5)
    expect(clock.nowMs()).toBe(1_005)
  })

  test('calls back in the order of time, then of asking, and each callback sees its moment', () => {
    const clock = virtualClock()
    const calls: Array<readonly [string, number]> = []
    const call = (name: string) => () => calls.push([name, clock.nowMs()])
    clock.after(20, call('late'))
    clock.after(10, call('first'))
    clock.after(10, call('second'))
    clock.after(31, call('not yet'))
    clock.advance(30)
    expect(calls).toEqual([
      ['first', 10],
      ['second', 10],
      ['late', 20],
    ])
    expect(clock.nowMs()).toBe(30)
    expect(clock.waiting()).toBe(1)
  })

  test('calls back what its callbacks ask for, as far as the time reaches', () => {
    const clock = virtualClock()
    const calls: Array<number> = []
    const again = (): void => {
      calls.push(clock.nowMs())
      clock.after(10, again)
    }
    clock.after(10, again)
    clock.advance(35)
    expect(calls).toEqual([10, 20, 30])
  })

  test('forgets a callback that was cancelled', () => {
    const clock = virtualClock()
    const calls: Array<string> = []
    clock.after(1, () => calls.push('kept'))
    const cancel = clock.after(1, () => calls.push('cancelled'))
    cancel()
    clock.advance(1)
    cancel()
    expect(calls).toEqual(['kept'])
  })

  test('fails where callbacks ask for more at the same moment for ever', () => {
    const clock = virtualClock()
    const forever = (): void => {
      clock.after(0, forever)
    }
    forever()
    expect(() => clock.advance(1)).toThrow('time stands still at 0 ms')
  })
})

test('a memory logger keeps what it is told, in order, until it is cleared', () => {
  const logger = memoryLogger()
  logger.log('info', 'one', { n: 1 })
  const one = logger.entries()
  logger.log('warn', 'two')
  expect(one).toHaveLength(1) // what was read does not change any more
  expect(logger.entries()).toEqual([
    { level: 'info', message: 'one', fields: { n: 1 } },
    { level: 'warn', message: 'two', fields: {} },
  ])
  logger.clear()
  expect(logger.entries()).toEqual([])
})

test('memory metrics keep one figure for each name and labels, whatever the order of the labels', () => {
  const metrics = memoryMetrics()
  metrics.add('requests', { a: '1', b: '2' }, 2)
  metrics.add('requests', { b: '2', a: '1' }, 3)
  metrics.add('requests', { a: '2' }, 1)
  metrics.set('open', {}, 7)
  metrics.set('open', {}, 4)
  expect(metrics.value('requests', { a: '1', b: '2' })).toBe(5)
  expect(metrics.value('requests')).toBeUndefined()
  expect([...metrics.values()]).toEqual([
    ['open', 4],
    ['requests{a="1",b="2"}', 5],
    ['requests{a="2"}', 1],
  ])
})
