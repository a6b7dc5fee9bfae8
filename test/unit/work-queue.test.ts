import fc from 'fast-check'
import { virtualClock } from 'edgewright/memory'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { backoffMs } from '../../src/host/backoff.js'
import { type Worked, workQueue } from '../../src/host/work-queue.js'

/** Lets all promises that wait for nothing go on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const unhandled: Array<unknown> = []
const note = (cause: unknown): void => void unhandled.push(cause)
beforeEach(() => void process.on('unhandledRejection', note))
afterEach(async () => {
  await settled()
  process.off('unhandledRejection', note)
  expect(unhandled.splice(0)).toEqual([])
})

interface Run {
  readonly key: string
  readonly end: (result: Worked) => void
  readonly fail: (cause: unknown) => void
}

/** A queue whose work lasts until the test ends it. */
const start = (concurrency = 2) => {
  const clock = virtualClock()
  const begun: Array<string> = []
  const faults: Array<readonly [string, unknown]> = []
  let open: ReadonlyArray<Run> = []
  const queue = workQueue({
    clock,
    random: () => 0,
    concurrency,
    work: (key) =>
      new Promise((resolve, reject) => {
        begun.push(key)
        const close = <A>(settle: (value: A) => void, value: A): void => {
          open = open.filter((each) => each !== run)
          settle(value)
        }
        const run: Run = {
          key,
          end: (result) => close(resolve, result),
          fail: (cause) => close(reject, cause),
        }
        open = [...open, run]
      }),
    onFault: (key, cause) => void faults.push([key, cause]),
  })
  const end = async (key: string, result: Worked = 'Done'): Promise<void> => {
    open.find((run) => run.key === key)?.end(result)
    await settled()
  }
  const add = async (key: string, delayMs?: number): Promise<void> => {
    queue.add(key, delayMs)
    await settled()
  }
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await settled()
  }
  const running = (): ReadonlyArray<string> => open.map(({ key }) => key)
  return { queue, clock, begun, faults, running, open: () => open, end, add, pass }
}

const pauseMs = (attempt: number): number => Math.round(backoffMs(attempt, 0))

describe('a key', () => {
  test('is worked on once, however often it was added before', async () => {
    const { queue, begun, end } = start()
    for (let i = 0; i < 5; i += 1) queue.add('a')
    await settled()
    await end('a')
    expect([begun, queue.size()]).toEqual([['a'], 0])
  })

  test('is worked on only after whoever has added it is done', () => {
    const { queue, begun } = start()
    queue.add('a')
    expect(begun).toEqual([])
  })

  test('that is added while it is worked on is worked on once more, and never twice at once', async () => {
    const { begun, running, add, end } = start()
    await add('a')
    await add('a')
    await add('a')
    expect(running()).toEqual(['a'])
    await end('a')
    expect(begun).toEqual(['a', 'a'])
    await end('a')
    expect(begun).toEqual(['a', 'a'])
  })

  test('that is to wait is worked on when its time has come, and not sooner', async () => {
    const { begun, add, pass } = start()
    await add('a', 100)
    await pass(99)
    expect(begun).toEqual([])
    await pass(1)
    expect(begun).toEqual(['a'])
  })

  test('that waits already waits once, for as long as it did', async () => {
    const { begun, clock, add, pass } = start()
    await add('a', 100)
    await pass(60)
    await add('a', 100)
    await add('a', 1)
    expect(clock.waiting()).toBe(1)
    await pass(39)
    expect(begun).toEqual([])
    await pass(1)
    expect(begun).toEqual(['a'])
  })

  test('that is to wait, and is being worked on, waits after that', async () => {
    const { begun, add, end, pass } = start()
    await add('a')
    await add('a', 100)
    await end('a')
    expect(begun).toEqual(['a'])
    await pass(99)
    expect(begun).toEqual(['a'])
    await pass(1)
    expect(begun).toEqual(['a', 'a'])
  })

  test('that is wanted soon and late while it is worked on is worked on soon', async () => {
    for (const delays of [
      [100, 0],
      [0, 100],
    ]) {
      const { begun, add, end } = start()
      await add('a')
      for (const delayMs of delays) await add('a', delayMs)
      await end('a')
      expect(begun).toEqual(['a', 'a'])
    }
  })

  test('whose work adds it again each time leaves time to everything else', async () => {
    const clock = virtualClock()
    let runs = 0
    const queue = workQueue({
      clock,
      random: () => 0,
      concurrency: 1,
      work: () => {
        runs += 1
        if (runs < 1_000) queue.add('a', 100)
        return Promise.resolve('Done')
      },
      onFault: () => undefined,
    })
    queue.add('a')
    await settled()
    for (let i = 0; i < 10; i += 1) {
      clock.advance(100)
      await settled()
    }
    await queue.close()
    expect(runs).toBe(11)
  })
})

describe('at once', () => {
  test('no more than the bound are worked on, and the rest in the order in which it became due', async () => {
    const { queue, running, end } = start(2)
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key)
    await settled()
    expect(running()).toEqual(['a', 'b'])
    expect(queue.size()).toBe(4)
    await end('b')
    expect(running()).toEqual(['a', 'c'])
    await end('a')
    expect(running()).toEqual(['c', 'd'])
  })

  test('a key that waits for its pause takes nobody’s place', async () => {
    const { running, add, end } = start(1)
    await add('a')
    await end('a', 'Retry')
    await add('b')
    expect(running()).toEqual(['b'])
  })
})

describe('after a failure', () => {
  test('a key is tried again, with a pause that grows, and is short again after a success', async () => {
    const { begun, clock, add, end, pass } = start()
    await add('a')
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await end('a', 'Retry')
      await pass(pauseMs(attempt) - 1)
      expect(begun).toHaveLength(attempt)
      await pass(1)
      expect(begun).toHaveLength(attempt + 1)
    }
    await end('a')
    expect(clock.waiting()).toBe(0)
    await add('a')
    await end('a', 'Retry')
    await pass(pauseMs(1))
    expect(begun).toHaveLength(6)
    expect(pauseMs(3)).toBe(4 * pauseMs(1))
  })

  test('the pauses of one key are not those of another', async () => {
    const { begun, add, end, pass } = start()
    await add('a')
    await end('a', 'Retry')
    await pass(pauseMs(1))
    await end('a', 'Retry')
    await add('b')
    await end('b', 'Retry')
    begun.length = 0
    await pass(pauseMs(1))
    expect(begun).toEqual(['b'])
  })

  test('a key keeps its pause, whoever adds it, before and after', async () => {
    const { begun, add, end, pass } = start()
    await add('a')
    await add('a')
    await end('a', 'Retry')
    await add('a')
    await pass(pauseMs(1) - 1)
    expect(begun).toEqual(['a'])
    await pass(1)
    expect(begun).toEqual(['a', 'a'])
    await end('a')
    expect(begun).toEqual(['a', 'a'])
  })

  test('work that rejects is told, is tried again, and harms no other key', async () => {
    const { begun, faults, open, add, end, pass } = start()
    await add('a')
    await add('b')
    const cause = new Error('a bug')
    open()[0]?.fail(cause)
    await settled()
    await end('b')
    await pass(pauseMs(1))
    expect(begun).toEqual(['a', 'b', 'a'])
    expect(faults).toEqual([['a', cause]])
  })

  test('work that throws at once does no more harm', async () => {
    const clock = virtualClock()
    const begun: Array<string> = []
    const faults: Array<string> = []
    const queue = workQueue({
      clock,
      random: () => 0,
      concurrency: 1,
      work: (key) => {
        begun.push(key)
        if (key === 'bad') throw new Error('a bug')
        return Promise.resolve('Done')
      },
      onFault: (key) => void faults.push(key),
    })
    queue.add('bad')
    queue.add('good')
    await settled()
    clock.advance(pauseMs(1))
    await settled()
    expect(begun).toEqual(['bad', 'good', 'bad'])
    expect(faults).toEqual(['bad', 'bad'])
    await queue.close()
  })

  test('a fault that cannot even be told is tried again, and keeps nobody from a turn', async () => {
    const clock = virtualClock()
    const begun: Array<string> = []
    const queue = workQueue({
      clock,
      random: () => 0,
      concurrency: 1,
      work: (key) => {
        begun.push(key)
        return key === 'bad' ? Promise.reject(new Error('a bug')) : Promise.resolve('Done')
      },
      onFault: () => {
        throw new Error('no log')
      },
    })
    queue.add('bad')
    queue.add('good')
    await settled()
    clock.advance(pauseMs(1))
    await settled()
    expect(begun).toEqual(['bad', 'good', 'bad'])
    await queue.close()
  })
})

describe('news of a key', () => {
  const urgent = { isUrgent: true }

  test('end the pause of one that was outdated, and of no other one', async () => {
    const { queue, begun, clock, add, end, pass } = start()
    await add('a')
    await add('b')
    await end('a', 'Outdated')
    await end('b', 'Retry')
    await add('a')
    expect(begun).toEqual(['a', 'b'])
    queue.add('a', 0, urgent)
    queue.add('b', 0, urgent)
    await settled()
    expect(begun).toEqual(['a', 'b', 'a'])
    await end('a')
    await pass(pauseMs(1))
    expect(begun).toEqual(['a', 'b', 'a', 'b'])
    await end('b')
    expect([queue.size(), clock.waiting()]).toEqual([0, 0])
  })

  test('that come while it is worked on count as well, once', async () => {
    const { queue, begun, add, end, pass } = start()
    await add('a')
    queue.add('a', 0, urgent)
    await end('a', 'Outdated')
    expect(begun).toEqual(['a', 'a'])
    await end('a', 'Outdated')
    await pass(pauseMs(2) - 1)
    expect(begun).toEqual(['a', 'a'])
    await pass(1)
    expect(begun).toEqual(['a', 'a', 'a'])
  })
})

describe('once it is closed', () => {
  test('nothing begins, not even what was due, and no timer is left', async () => {
    const { queue, clock, begun, add, end } = start(1)
    await add('a')
    await add('a')
    await add('b')
    await add('c', 100)
    const closed = queue.close()
    await add('d')
    await end('a', 'Retry')
    await closed
    clock.advance(60_000)
    await settled()
    expect([begun, clock.waiting(), queue.size()]).toEqual([['a'], 0, 0])
  })

  test('nothing begins that was added in the same breath', async () => {
    const { queue, begun } = start()
    queue.add('a')
    await queue.close()
    await settled()
    expect(begun).toEqual([])
  })

  test('it waits for what is being worked on, whoever asks', async () => {
    const { queue, add, end } = start()
    const ended: Array<string> = []
    await add('a')
    await add('b')
    void queue.close().then(() => ended.push('first'))
    void queue.close().then(() => ended.push('second'))
    await end('a')
    expect(ended).toEqual([])
    await end('b')
    expect(ended).toEqual(['first', 'second'])
  })

  test('it waits for nothing where nothing is being worked on', async () => {
    const { queue, add } = start()
    await add('a', 100)
    await queue.close()
    expect(queue.size()).toBe(0)
  })
})

type Command =
  | { readonly _tag: 'Add'; readonly key: string; readonly delayMs: number }
  | { readonly _tag: 'End'; readonly choice: number; readonly how: Worked | 'Reject' }
  | { readonly _tag: 'Pass'; readonly ms: number }

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    _tag: fc.constant('Add' as const),
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    delayMs: fc.constantFrom(0, 0, 50),
  }),
  fc.record({
    _tag: fc.constant('End' as const),
    choice: fc.nat(3),
    how: fc.constantFrom<Worked | 'Reject'>('Done', 'Done', 'Retry', 'Reject'),
  }),
  fc.record({ _tag: fc.constant('Pass' as const), ms: fc.constantFrom(1, 50, 200, 1_000) }),
)

test('whatever happens: none twice at once, no more than the bound, every add is followed by a run, and it comes to rest', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 30 }), async (commands) => {
      const { queue, clock, begun, running, open, add, pass } = start(2)
      /** Keys that were added, and have not begun since. */
      const due = new Set<string>()
      const look = (before: number): void => {
        for (const key of begun.slice(before)) due.delete(key)
        expect(new Set(running()).size).toBe(running().length)
        expect(running().length).toBeLessThanOrEqual(2)
      }
      for (const of of commands) {
        const before = begun.length
        if (of._tag === 'Add') {
          due.add(of.key)
          await add(of.key, of.delayMs)
        } else if (of._tag === 'Pass') await pass(of.ms)
        else {
          const run = open()[of.choice % Math.max(1, open().length)]
          if (of.how === 'Reject') run?.fail(new Error('a bug'))
          else run?.end(of.how)
          await settled()
        }
        look(before)
      }
      for (let i = 0; i < 8; i += 1) {
        const before = begun.length
        for (const run of open()) run.end('Done')
        await settled()
        await pass(60_000)
        look(before)
      }
      expect([...due]).toEqual([])
      expect([queue.size(), clock.waiting()]).toEqual([0, 0])
      await queue.close()
    }),
    { numRuns: 200 },
  )
})
