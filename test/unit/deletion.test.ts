import { describe, expect, test } from 'vitest'
import {
  type DeletionState,
  type Evidence,
  isInService,
  nextDeletionTimer,
  type NotYet,
  noteWrite,
  patienceMs,
  settleMs,
  type Sighting,
  stepDeletion,
  wantedWrite,
  type Write,
} from '../../src/core/deletion.js'

const owed: NotYet = { _tag: 'Owed', nodes: ['a'], nodeCount: 1 }
const clear: Evidence = { _tag: 'Clear', returns: 3 }
const terminating: Sighting = { _tag: 'Terminating' }

const guarding: DeletionState = { _tag: 'Guarding', failure: undefined }
const serving: DeletionState = { _tag: 'Serving', isGuarded: true, failure: undefined }
const stripped: DeletionState = { _tag: 'Serving', isGuarded: false, failure: undefined }
const waiting: DeletionState = { _tag: 'Waiting', sinceMs: 5, waitsFor: owed }
const settling: DeletionState = { _tag: 'Settling', sinceMs: 5, clearSinceMs: 40, returns: 3 }
const releasing: DeletionState = { _tag: 'Releasing', sinceMs: 5, returns: 3, failure: undefined }
const released: DeletionState = { _tag: 'Released', sinceMs: 5 }
const all = [guarding, serving, stripped, waiting, settling, releasing, released]

const step = (
  state: DeletionState | undefined,
  sighting: Sighting,
  evidence: Evidence,
  nowMs = 1_000,
): DeletionState | undefined => stepDeletion(state, sighting, () => evidence, nowMs)[0]

const never = (): Evidence => {
  throw new Error('nobody asked for evidence')
}

describe('evidence', () => {
  test('is not asked of what is there', () => {
    for (const state of [undefined, ...all])
      for (const sighting of [
        { _tag: 'Plain' },
        { _tag: 'Live', isGuarded: true },
        { _tag: 'Live', isGuarded: false },
      ] satisfies ReadonlyArray<Sighting>)
        expect(() => stepDeletion(state, sighting, never, 0)).not.toThrow()
  })

  test('is not asked when something vanishes that was proven, or never served', () => {
    for (const state of [undefined, guarding, releasing, released])
      expect(stepDeletion(state, { _tag: 'Absent' }, never, 0)).toEqual([undefined, []])
  })

  test('is asked each time that a deletion is looked at, whatever was proven before', () => {
    for (const state of [undefined, ...all])
      expect(() => stepDeletion(state, terminating, never, 0)).toThrow()
  })
})

describe('a deletion', () => {
  test('remembers when it began through everything that happens to it', () => {
    const seen = [waiting, settling, releasing, released].flatMap((state) => [
      step(state, terminating, owed),
      step(state, terminating, clear),
      step(state, terminating, { _tag: 'Clear', returns: 9 }),
    ])
    expect(seen.map((state) => state && 'sinceMs' in state && state.sinceMs)).toEqual(
      seen.map(() => 5),
    )
  })

  test('begins at the time at which it is seen', () => {
    expect(step(serving, terminating, owed, 77)).toEqual({
      _tag: 'Waiting',
      sinceMs: 77,
      waitsFor: owed,
    })
  })

  test('says whom it waits for at the moment', () => {
    const two: NotYet = { _tag: 'Owed', nodes: ['b', 'c'], nodeCount: 7 }
    expect(step(waiting, terminating, two)).toEqual({ ...waiting, waitsFor: two })
  })

  test('names in the broken glass who had not confirmed', () => {
    expect(stepDeletion(waiting, { _tag: 'Absent' }, () => owed, 0)[1]).toEqual([
      { _tag: 'GlassBroken', waitedFor: owed },
    ])
  })

  test('settles from the first look that finds it clear, not from the last', () => {
    const first = step(waiting, terminating, clear, 200)
    const second = step(first, terminating, clear, 200 + settleMs - 1)
    expect(second).toBe(first)
    expect(step(second, terminating, clear, 200 + settleMs)?._tag).toBe('Releasing')
  })

  test('settles anew for a stream that has begun meanwhile, also when it is about to be released', () => {
    const more: Evidence = { _tag: 'Clear', returns: 4 }
    const anew = { _tag: 'Settling', sinceMs: 5, clearSinceMs: 1_000, returns: 4 }
    expect(step(settling, terminating, more)).toEqual(anew)
    expect(step(releasing, terminating, more)).toEqual(anew)
  })

  test('that was released, and is seen with our finalizer still, is proven anew', () => {
    expect(step(released, terminating, clear)).toEqual({
      _tag: 'Settling',
      sinceMs: 5,
      clearSinceMs: 1_000,
      returns: 3,
    })
  })

  test('of which nothing new is known is the very same state', () => {
    expect(step(waiting, terminating, { ...owed })).toBe(waiting)
    expect(step(releasing, terminating, { ...clear })).toBe(releasing)
    expect(step(serving, { _tag: 'Live', isGuarded: true }, owed)).toBe(serving)
    expect(step(serving, { _tag: 'Plain' }, owed)).toBe(serving)
    expect(step(stripped, { _tag: 'Live', isGuarded: false }, owed)).toBe(stripped)
    expect(step(guarding, { _tag: 'Live', isGuarded: false }, owed)).toBe(guarding)
  })
})

describe('a failure to write our finalizer', () => {
  const failed: DeletionState = { _tag: 'Guarding', failure: 'forbidden' }
  const servedFailed: DeletionState = { _tag: 'Serving', isGuarded: false, failure: 'forbidden' }

  test('is remembered as long as the object lacks it', () => {
    expect(step(failed, { _tag: 'Live', isGuarded: false }, owed)).toBe(failed)
    expect(step(servedFailed, { _tag: 'Live', isGuarded: false }, owed)).toBe(servedFailed)
  })

  test('is over once the object has it', () => {
    expect(step(failed, { _tag: 'Live', isGuarded: true }, owed)).toEqual(serving)
    expect(step(servedFailed, { _tag: 'Live', isGuarded: true }, owed)).toEqual(serving)
  })
})

describe('what is written', () => {
  test('is our finalizer where it lacks, its removal where that is proven, and nothing else', () => {
    expect(all.map((state) => [state._tag, wantedWrite(state)])).toEqual([
      ['Guarding', 'Guard'],
      ['Serving', undefined],
      ['Serving', 'Guard'],
      ['Waiting', undefined],
      ['Settling', undefined],
      ['Releasing', 'Release'],
      ['Released', undefined],
    ])
  })

  test('once it has failed is wanted still, and says why', () => {
    for (const state of [guarding, stripped, releasing]) {
      const write = wantedWrite(state) ?? 'Release'
      const after = noteWrite(state, write, 'no route to host')
      expect(after).toEqual({ ...state, failure: 'no route to host' })
      expect(wantedWrite(after)).toBe(write)
      expect(noteWrite(after, write, 'no route to host')).toBe(after)
    }
  })

  test('is a release no more once it has succeeded', () => {
    expect(noteWrite(releasing, 'Release', undefined)).toEqual(released)
    expect(noteWrite({ ...releasing, failure: 'x' }, 'Release', undefined)).toEqual(released)
  })

  test('does not make an object guarded before it is seen so', () => {
    expect(noteWrite(guarding, 'Guard', undefined)).toBe(guarding)
    expect(noteWrite(stripped, 'Guard', undefined)).toBe(stripped)
    expect(noteWrite({ ...guarding, failure: 'x' }, 'Guard', undefined)).toEqual(guarding)
  })

  test('and is wanted no more says nothing, however it went', () => {
    const writes: ReadonlyArray<Write> = ['Guard', 'Release']
    let pairs = 0
    for (const state of all)
      for (const write of writes.filter((each) => each !== wantedWrite(state)))
        for (const failure of [undefined, 'no']) {
          expect(noteWrite(state, write, failure)).toBe(state)
          pairs += 1
        }
    expect(pairs).toBe(2 * (7 * 2 - 3))
  })
})

test('only what is served is in service', () => {
  expect(isInService(undefined)).toBe(false)
  expect(all.filter(isInService)).toEqual([serving, stripped])
})

test('settling goes on by time alone, and what waits may have to be told of', () => {
  expect(all.map(nextDeletionTimer)).toEqual(
    all.map((state) => {
      if (state === settling) return 40 + settleMs
      return state === waiting ? patienceMs + 10_000 : undefined
    }),
  )
})
