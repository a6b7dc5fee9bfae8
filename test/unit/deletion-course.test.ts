import { describe, expect, test } from 'vitest'
import {
  type DeletionFact,
  type DeletionState,
  type Evidence,
  nextDeletionTimer,
  type NotYet,
  noteForgotten,
  patienceMs,
  repeatMs,
  settleMs,
  stepDeletion,
} from '../../src/core/deletion.js'
import { maxNamedNodes } from '../../src/core/programmed.js'

const owed: NotYet = { _tag: 'Owed', nodes: ['a'], nodeCount: 1 }
const clear: Evidence = { _tag: 'Clear', returns: 0 }

/** What is told of a deletion that is looked at in these moments, each with when it was told. */
const toldAt = (
  moments: ReadonlyArray<readonly [nowMs: number, evidence: Evidence]>,
): ReadonlyArray<readonly [nowMs: number, fact: DeletionFact['_tag']]> => {
  let state: DeletionState | undefined
  return moments.flatMap(([nowMs, evidence]) => {
    const [next, facts] = stepDeletion(state, { _tag: 'Terminating' }, () => evidence, nowMs)
    state = next
    return facts.map(({ _tag }) => [nowMs, _tag] as const)
  })
}

describe('a deletion that waits for long', () => {
  test('is told of once its time is over, then once an hour, and at no other time', () => {
    const seconds = Array.from({ length: 2 * 3_600 + 120 }, (_, i) => [i * 1_000, owed] as const)
    expect(toldAt(seconds)).toEqual([
      [0, 'Withdrawn'],
      [patienceMs, 'Overdue'],
      [patienceMs + repeatMs, 'Overdue'],
      [patienceMs + 2 * repeatMs, 'Overdue'],
    ])
  })

  test('is looked at when it is to be told of, together with others of the same ten seconds', () => {
    const dueOf = (sinceMs: number): number | undefined =>
      nextDeletionTimer({ _tag: 'Waiting', sinceMs, waitsFor: owed })
    expect([1, 5_000, 10_000].map(dueOf)).toEqual([70_000, 70_000, 70_000])
  })

  test('is not told of again because Envoys came and went meanwhile', () => {
    const told = toldAt([
      [0, owed],
      [patienceMs, owed],
      [patienceMs + 1, clear],
      [patienceMs + 2, owed],
      [2 * patienceMs, owed],
    ])
    expect(told.map(([, fact]) => fact)).toEqual(['Withdrawn', 'Overdue'])
  })

  test('is not told of for what ends by itself', () => {
    const starting: NotYet = { _tag: 'Starting', untilMs: patienceMs + 1 }
    expect(nextDeletionTimer({ _tag: 'Waiting', sinceMs: 0, waitsFor: starting })).toBeUndefined()
    const told = toldAt([
      [0, starting],
      [patienceMs, starting],
      [patienceMs + 1, owed],
    ])
    expect(told.map(([, fact]) => fact)).toEqual(['Withdrawn', 'Overdue'])
  })
})

describe('an Envoy that is forgotten', () => {
  const waiting: DeletionState = { _tag: 'Waiting', sinceMs: 0, waitsFor: owed }

  test('is named when the object is proven gone, whatever happens until then', () => {
    let state: DeletionState | undefined = noteForgotten(waiting, ['b'])
    state = noteForgotten(state, ['a'])
    const facts: Array<DeletionFact> = []
    for (const [nowMs, evidence] of [
      [patienceMs, owed],
      [patienceMs, clear],
      [patienceMs, owed],
      [patienceMs, clear],
      [patienceMs + settleMs, clear],
    ] as const) {
      const [next, told] = stepDeletion(state, { _tag: 'Terminating' }, () => evidence, nowMs)
      state = next
      facts.push(...told)
    }
    expect(facts).toEqual([
      { _tag: 'Overdue', waitsFor: owed },
      { _tag: 'Proven', forgotten: { nodes: ['a', 'b'], nodeCount: 2 } },
    ])
    expect(state).toMatchObject({ _tag: 'Releasing', forgotten: { nodeCount: 2 } })
  })

  test('is counted where there are too many to be named', () => {
    const ids = Array.from({ length: 500 }, (_, i) => `envoy-${i}`)
    const state = noteForgotten(noteForgotten(waiting, ids.slice(1)), ids.slice(0, 1))
    expect(state).toMatchObject({ forgotten: { nodeCount: 500 } })
    expect('forgotten' in state && state.forgotten.nodes).toHaveLength(maxNamedNodes)
  })

  test('is no matter of what nobody waits for', () => {
    expect(noteForgotten(waiting, [])).toBe(waiting)
    const course = { sinceMs: 0, returns: 0, failure: undefined }
    const releasing: DeletionState = { _tag: 'Releasing', ...course }
    expect(noteForgotten(releasing, ['a'])).toBe(releasing)
  })

  test('is noted of what has come to settle without waiting for them, as it is told with the proof', () => {
    const settling: DeletionState = { _tag: 'Settling', sinceMs: 0, clearSinceMs: 0, returns: 0 }
    const noted = noteForgotten(settling, ['a'])
    expect(noted).toEqual({ ...settling, forgotten: { nodes: ['a'], nodeCount: 1 } })
    const [, facts] = stepDeletion(noted, { _tag: 'Terminating' }, () => clear, settleMs)
    expect(facts).toEqual([{ _tag: 'Proven', forgotten: { nodes: ['a'], nodeCount: 1 } }])
  })
})
