import { expect, test } from 'vitest'
import { believedForMs } from '../../src/adapters/k8s/lease/limits.js'
import type { LeaseRecord, SeenLease } from '../../src/adapters/k8s/lease/record.js'
import {
  type Contender,
  isHeldAt,
  type LeaseEvent,
  newContender,
  step,
} from '../../src/adapters/k8s/lease/state.js'

const seenOf = (
  holder: string,
  version: string,
  { renewedAt = version, knowsAll = false, durationMs = 15_000 }: Partial<LeaseRecord> = {},
): SeenLease => {
  const times = { acquiredAt: '', renewedAt, knowsAll }
  const record: LeaseRecord = { holder, durationMs, transitions: 0, ...times }
  return { version, record }
}

const after = (...events: ReadonlyArray<LeaseEvent>): Contender =>
  events.reduce((contender, event) => step(contender, event)[0], newContender('a'))

const written: LeaseEvent = { _tag: 'Written', seen: seenOf('a', '1'), sentAtMs: 0, nowMs: 0 }
const failed: LeaseEvent = { _tag: 'Failed', message: 'nobody answers', isDenied: false }
const denied: LeaseEvent = { ...failed, isDenied: true }
const conflicted: LeaseEvent = { _tag: 'Conflicted' }

test.each([
  ['after it could not be renewed', [written, failed]],
  ['after a pause', [written, conflicted]],
])('a lease that another had meanwhile, and gave back, is lost: %s', (_, events) => {
  const before = after(...events)
  const read = { _tag: 'Read', seen: seenOf('', '9'), nowMs: 40_000 } as const
  const [lost, command, fact] = step(before, read)
  expect(fact).toEqual({ _tag: 'Lost', holder: '' })
  expect(command).toEqual({ _tag: 'Rest' })
  expect(isHeldAt(lost, 40_000)).toBe(false)
  // It may be had again then, as any other.
  expect(step(lost, { ...read, nowMs: 45_000 })[1]).toMatchObject({ _tag: 'Write', version: '9' })
})

test('a lease that is gone is made again: whoever gives one back leaves it there', () => {
  const read = { _tag: 'Read', seen: undefined, nowMs: 1_000 } as const
  const [, command, fact] = step(after(written, conflicted), read)
  expect(command).toMatchObject({ _tag: 'Write', version: undefined })
  expect(fact).toBeUndefined()
})

const readAt = (seen: SeenLease, nowMs: number): LeaseEvent => ({ _tag: 'Read', seen, nowMs })
const lasting = seenOf('b', '1', { durationMs: 1e11 })

const timeOf = (ms: number): string => new Date(ms).toISOString()

const backAt = (renewedAt: string): SeenLease => seenOf('', '1', { renewedAt, knowsAll: true })

/** What is told of one that was read, then read again after it has ended, and was written then. */
const acquiredFrom = (seen: SeenLease | undefined): unknown => {
  const before = after(
    { _tag: 'Read', seen, nowMs: 100_000 },
    { _tag: 'Read', seen, nowMs: 115_000 },
  )
  return step(before, { ...written, sentAtMs: 115_000, nowMs: 115_000 })[2]
}

test.each([
  ['that was not there', undefined, 'Fresh', false],
  ['given back', seenOf('', '1', { renewedAt: timeOf(115_000) }), 'GivenBack', false],
  ['given back by one that knew all', backAt(timeOf(115_000)), 'GivenBack', true],
  ['given back just now', backAt(timeOf(115_001 - believedForMs)), 'GivenBack', true],
  ['given back too long ago', backAt(timeOf(115_000 - believedForMs)), 'GivenBack', false],
  ['given back by a clock ahead', backAt(timeOf(114_999 + believedForMs)), 'GivenBack', true],
  ['given back by one far ahead', backAt(timeOf(115_000 + believedForMs)), 'GivenBack', false],
  ['given back when nobody can tell', backAt('yesterday'), 'GivenBack', false],
  [
    'of an earlier life, whatever that knew before it crashed',
    seenOf('a', '1', { renewedAt: timeOf(115_000), knowsAll: true }),
    'Own',
    false,
  ],
  [
    'that has expired, whatever its holder knew',
    seenOf('b', '1', { knowsAll: true }),
    'Expired',
    false,
  ],
])('a lease %s is told for what it was when it is had', (_, seen, how, knewAll) => {
  expect(acquiredFrom(seen)).toEqual({ _tag: 'Acquired', how, knewAll })
})

test('one whose taking was not answered is not taken for one of an earlier life that knew all', () => {
  const stale = seenOf('b', '1', { knowsAll: true })
  const reads: ReadonlyArray<LeaseEvent> = [
    { _tag: 'Read', seen: stale, nowMs: 0 },
    { _tag: 'Read', seen: stale, nowMs: 15_000 },
  ]
  const taken = seenOf('a', '2', { renewedAt: timeOf(15_000) })
  const before = after(...reads, failed, { _tag: 'Read', seen: taken, nowMs: 16_000 })
  expect(step(before, { ...written, sentAtMs: 16_000, nowMs: 16_000 })[2]).toEqual({
    _tag: 'Acquired',
    how: 'Own',
    knewAll: false,
  })
})

test('a lease that was renewed too late is told to be held again', () => {
  const late = { ...written, seen: seenOf('a', '2'), sentAtMs: 9_999, nowMs: 10_000 }
  expect(step(after(written), { ...late, nowMs: 9_999 })[2]).toBeUndefined()
  expect(step(after(written), late)[2]).toEqual({ _tag: 'Recovered', afterMs: 9_999 })
})

test('how long it was not renewed is counted from the last renewal, not from the first that failed', () => {
  const again = { ...written, seen: seenOf('a', '2'), sentAtMs: 32_000, nowMs: 32_000 }
  expect(step(after(written, failed), again)[2]).toEqual({ _tag: 'Recovered', afterMs: 32_000 })
})

test('trouble is told once, and anew when it has become a denial, or is none any more', () => {
  const tellings = (...events: ReadonlyArray<LeaseEvent>): unknown =>
    step(after(...events.slice(0, -1)), events.at(-1) ?? failed)[2]
  expect(tellings(failed)).toEqual({ _tag: 'Failing', message: 'nobody answers', isDenied: false })
  expect(tellings(failed, failed)).toBeUndefined()
  expect(tellings(failed, denied)).toMatchObject({ _tag: 'Failing', isDenied: true })
  expect(tellings(denied, denied)).toBeUndefined()
  expect(tellings(denied, failed)).toMatchObject({ _tag: 'Failing', isDenied: false })
})

const gone = (nowMs: number): LeaseEvent => ({ _tag: 'Read', seen: undefined, nowMs })

test.each([
  ['one that nobody was seen to have', [], 1_000, 'Write'],
  ['one that was given back', [readAt(seenOf('', '1'), 1_000)], 2_000, 'Write'],
  ['one that another was seen to have', [readAt(seenOf('b', '1'), 1_000)], 60_000, 'Rest'],
  ['the same after a conflict', [readAt(seenOf('b', '1'), 1_000), conflicted], 60_000, 'Rest'],
  ['the same after a failure', [readAt(seenOf('b', '1'), 1_000), failed], 60_000, 'Rest'],
  [
    'the same less than it lasts later',
    [readAt(seenOf('b', '1'), 1_000), gone(60_000)],
    74_999,
    'Rest',
  ],
  [
    'the same for as long as it lasts',
    [readAt(seenOf('b', '1'), 1_000), gone(60_000)],
    75_000,
    'Write',
  ],
  [
    'one that lasts for years, a minute later',
    [readAt(lasting, 1_000), gone(60_000)],
    120_000,
    'Write',
  ],
] as const)(
  'a lease that is gone is had at once, unless another may count on it: %s',
  (_, before, nowMs, then) => {
    expect(step(after(...before), gone(nowMs))[1]).toMatchObject({ _tag: then })
  },
)
