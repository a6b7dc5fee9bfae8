import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryLogger, virtualClock } from '../../src/adapters/memory/index.js'
import type { LeaseFact } from '../../src/host/cli/peers.js'
import { believedForMs } from '../../src/adapters/k8s/lease/limits.js'
import {
  deniedLeaseMs,
  openTenure,
  standingWhile,
  unknownLeaseMs,
} from '../../src/host/cli/serve/tenure.js'

const acquired: LeaseFact = { _tag: 'Acquired', how: 'GivenBack', knewAll: true }
const recovered: LeaseFact = { _tag: 'Recovered', afterMs: 12_000 }
const waiting: LeaseFact = { _tag: 'Waiting', holder: 'another' }
const lost: LeaseFact = { _tag: 'Lost', holder: 'another' }
const failing: LeaseFact = { _tag: 'Failing', message: 'nobody answers', isDenied: false }
const denied: LeaseFact = { _tag: 'Failing', message: 'not allowed', isDenied: true }

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
  ['that is denied', [denied, 10 * unknownLeaseMs], 'waits'],
  ['that cannot be read, then is denied', [failing, 1, denied, 10 * unknownLeaseMs], 'waits'],
  ['that is denied, then cannot be read', [denied, 1e9, failing, unknownLeaseMs - 1], 'waits'],
  ['that is denied, then cannot be read for long', [denied, failing, unknownLeaseMs], 'serves'],
  ['its own, that is denied for a moment', [acquired, denied, deniedLeaseMs - 1], 'serves'],
  ['its own again, after a denial', [acquired, denied, 1, recovered, deniedLeaseMs], 'serves'],
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

test.each([
  ['its own', [acquired, denied, deniedLeaseMs]],
  ['its own, that could not be renewed before', [acquired, failing, 1e6, denied, deniedLeaseMs]],
  ['that it serves without', [failing, unknownLeaseMs, denied, deniedLeaseMs]],
])('a lease that is denied for as long as one lasts ends who serves: %s', async (_, events) => {
  expect(await after(...events)).toMatch(/^over: the Lease is denied.*not allowed$/)
})

test('who is asked to end waits no more', async () => {
  const tenure = openTenure(memoryLogger(), virtualClock(0))
  await tenure.begun(AbortSignal.abort())
  expect(tenure.over.aborted).toBe(false)
})

test('nobody can have begun without the Lease in the time for which one that was given back is believed', () => {
  expect(believedForMs).toBeLessThanOrEqual(unknownLeaseMs)
})

describe('the standing of a tenure', () => {
  const successor = { _tag: 'Successor', sinceMs: 1_000 } as const
  const begun = (fact: LeaseFact) => {
    const clock = virtualClock(1_000)
    const tenure = openTenure(memoryLogger(), clock)
    const held = { is: true }
    const { standing, onStandingChange } = standingWhile(() => held.is, tenure)
    let rung = 0
    onStandingChange(() => (rung += 1))
    expect(standing()).toMatchObject({ _tag: 'Unknown' })
    tenure.hear(fact)
    return { tenure, clock, held, standing, rung: () => rung }
  }

  test.each([
    [{ how: 'GivenBack', knewAll: true }, { _tag: 'Alone' }],
    [{ how: 'GivenBack', knewAll: false }, successor],
    [{ how: 'Own', knewAll: false }, successor],
    [{ how: 'Fresh', knewAll: false }, successor],
    [{ how: 'Expired', knewAll: false }, successor],
  ] as const)(
    'is alone only where nobody else can be serving, and the one before knew all: %o',
    (found, expected) => {
      const { standing, rung } = begun({ _tag: 'Acquired', ...found })
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

  test.each([
    ['could not renew it', { _tag: 'Recovered', afterMs: unknownLeaseMs }, 0, successor],
    [
      'could almost not renew it',
      { _tag: 'Recovered', afterMs: unknownLeaseMs - 1 },
      0,
      { _tag: 'Alone' },
    ],
    ['knew nothing of it, and has it again', recovered, unknownLeaseMs, successor],
    ['knew nothing of it, and takes it', acquired, unknownLeaseMs, successor],
  ] as const)(
    'is that of a successor once others may have begun without it: one that %s',
    (_, fact, lastedMs, expected) => {
      const { tenure, clock, standing } = begun(acquired)
      tenure.hear(failing)
      clock.advance(lastedMs)
      tenure.hear(fact)
      const sinceMs = 1_000 + lastedMs
      expect(standing()).toEqual(expected._tag === 'Alone' ? expected : { ...expected, sinceMs })
    },
  )

  test('is unknown as long as it serves because whose the Lease is cannot be told', () => {
    expect(begun(failing).standing()).toMatchObject({ _tag: 'Unknown' })
  })
})
