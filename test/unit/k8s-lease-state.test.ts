import { expect, test } from 'vitest'
import type { LeaseRecord, SeenLease } from '../../src/adapters/k8s/lease/record.js'
import {
  type Contender,
  isHeldAt,
  type LeaseEvent,
  newContender,
  step,
} from '../../src/adapters/k8s/lease/state.js'

const seenOf = (holder: string, version: string): SeenLease => {
  const times = { acquiredAt: '', renewedAt: version }
  const record: LeaseRecord = { holder, durationMs: 15_000, transitions: 0, ...times }
  return { version, record }
}

const after = (...events: ReadonlyArray<LeaseEvent>): Contender =>
  events.reduce((contender, event) => step(contender, event)[0], newContender('a'))

const written: LeaseEvent = { _tag: 'Written', seen: seenOf('a', '1'), sentAtMs: 0 }
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
