import { expect, test } from 'vitest'
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
  { renewedAt = version, knowsAll = false }: Partial<LeaseRecord> = {},
): SeenLease => {
  const times = { acquiredAt: '', renewedAt, knowsAll }
  const record: LeaseRecord = { holder, durationMs: 15_000, transitions: 0, ...times }
  return { version, record }
}

const after = (...events: ReadonlyArray<LeaseEvent>): Contender =>
  events.reduce((contender, event) => step(contender, event)[0], newContender('a'))

const written: LeaseEvent = { _tag: 'Written', seen: seenOf('a', '1'), sentAtMs: 0, nowMs: 0 }
const failed: LeaseEvent = { _tag: 'Failed', message: 'nobody answers' }
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

const timeOf = (ms: number): string => new Date(ms).toISOString()

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
  ['given back', seenOf('', '1'), 'GivenBack', false],
  ['given back by one that knew all', seenOf('', '1', { knowsAll: true }), 'GivenBack', true],
  ['of an earlier life', seenOf('a', '1', { renewedAt: timeOf(115_000) }), 'Own', false],
  [
    'of an earlier life that knew all',
    seenOf('a', '1', { renewedAt: timeOf(105_001), knowsAll: true }),
    'Own',
    true,
  ],
  [
    'of an earlier life that may have gone on after it had lapsed',
    seenOf('a', '1', { renewedAt: timeOf(105_000), knowsAll: true }),
    'Own',
    false,
  ],
  [
    'of an earlier life with a time that makes no sense',
    seenOf('a', '1', { renewedAt: 'yesterday', knowsAll: true }),
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
  expect(step(after(written), late)[2]).toEqual({ _tag: 'Recovered' })
})
