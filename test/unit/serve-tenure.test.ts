import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryLogger, virtualClock } from '../../src/adapters/memory/index.js'
import type { LeaseFact } from '../../src/host/cli/peers.js'
import { openTenure, standingWhile, unknownLeaseMs } from '../../src/host/cli/serve/tenure.js'

const acquired: LeaseFact = { _tag: 'Acquired', how: 'GivenBack', knewAll: true }
const recovered: LeaseFact = { _tag: 'Recovered' }
const waiting: LeaseFact = { _tag: 'Waiting', holder: 'another' }
const lost: LeaseFact = { _tag: 'Lost', holder: 'another' }
const failing: LeaseFact = { _tag: 'Failing', message: 'nobody answers' }

/** What has become of a tenure after these, each a fact or milliseconds that pass. */
const after = async (...events: ReadonlyArray<LeaseFact | number>): Promise<string> => {
  const clock = virtualClock(0)
  const tenure = openTenure(memoryLogger(), clock)
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const seen = { hasBegun: false }
  void tenure.begun(stop.signal).then(() => (seen.hasBegun = true))
  for (const event of events) {
    if (typeof event === 'number') clock.advance(event)
    else tenure.hear(event)
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  }
  if (tenure.over.aborted) return `over: ${String(tenure.over.reason)}`
  return seen.hasBegun ? 'serves' : 'waits'
}

test.each([
  ['nothing known yet', [], 'waits'],
  ['its own', [acquired], 'serves'],
  ['of another', [waiting, unknownLeaseMs], 'waits'],
  ['of another, who gives it back', [waiting, acquired], 'serves'],
  ['that cannot be read for a while', [failing, unknownLeaseMs - 1], 'waits'],
  ['that cannot be read for long', [failing, unknownLeaseMs], 'serves'],
  ['that is another, then cannot be read', [waiting, failing, unknownLeaseMs], 'waits'],
  ['that cannot be read, then is another', [failing, waiting, unknownLeaseMs], 'waits'],
  ['its own, that cannot be renewed', [acquired, failing, 10 * unknownLeaseMs], 'serves'],
  ['its own again', [acquired, failing, recovered], 'serves'],
])('a lease %s', async (_, events, outcome) => {
  expect(await after(...events)).toBe(outcome)
})

test.each([
  ['its own, that another takes', [acquired, lost]],
  ['its own, that is another after it could not be read', [acquired, failing, lost]],
  ['never its own, found to be another after all', [failing, unknownLeaseMs, waiting]],
])('a lease %s ends it', async (_, events) => {
  expect(await after(...events)).toMatch(/^over: another control plane, another, has the Lease/)
})

test('who is asked to end waits no more', async () => {
  const tenure = openTenure(memoryLogger(), virtualClock(0))
  await tenure.begun(AbortSignal.abort())
  expect(tenure.over.aborted).toBe(false)
})

describe('the standing of a tenure', () => {
  const begun = (fact: LeaseFact) => {
    const clock = virtualClock(1_000)
    const tenure = openTenure(memoryLogger(), clock)
    const held = { is: true }
    const { standing, onStandingChange } = standingWhile(() => held.is, tenure)
    let rung = 0
    onStandingChange(() => (rung += 1))
    expect(standing()).toMatchObject({ _tag: 'Unknown' })
    tenure.hear(fact)
    return { tenure, held, standing, rung: () => rung }
  }

  test.each([
    ['GivenBack', true, { _tag: 'Alone' }],
    ['Own', true, { _tag: 'Alone' }],
    ['GivenBack', false, { _tag: 'Successor', sinceMs: 1_000 }],
    ['Own', false, { _tag: 'Successor', sinceMs: 1_000 }],
    ['Fresh', false, { _tag: 'Successor', sinceMs: 1_000 }],
    ['Expired', false, { _tag: 'Successor', sinceMs: 1_000 }],
    ['Expired', true, { _tag: 'Successor', sinceMs: 1_000 }],
  ] as const)(
    'is alone only where nobody else can be serving, and the one before knew all: %s, %s',
    (how, knewAll, expected) => {
      const { standing, rung } = begun({ _tag: 'Acquired', how, knewAll })
      expect(standing()).toEqual(expected)
      expect(rung()).toBe(1)
    },
  )

  test('is unknown while the Lease is not held, and what it was when it is again', () => {
    const { tenure, held, standing, rung } = begun(acquired)
    held.is = false
    expect(standing()).toMatchObject({ _tag: 'Unknown' })
    tenure.hear(failing)
    held.is = true
    tenure.hear(recovered)
    expect(standing()).toEqual({ _tag: 'Alone' })
    expect(rung()).toBe(2)
  })

  test('is unknown as long as it serves because whose the Lease is cannot be told', () => {
    expect(begun(failing).standing()).toMatchObject({ _tag: 'Unknown' })
  })
})
