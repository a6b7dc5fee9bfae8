import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Roster } from '../../src/core/roster.js'
import { decodeRoster, encodeRoster } from '../../src/core/roster/codec.js'
import { stepKeeping } from '../../src/core/roster/keeping.js'
import {
  isConnected,
  type Keeping,
  type KeepingEvent,
  nextKeepingTimer,
  openKeeping,
  rosterIn,
} from '../../src/core/roster/keeping-state.js'
import { clusterType } from '../../src/core/type-url.js'
import { aMemory, memories, rosters } from '../support/roster.js'

/** What happens outside of the machine. A write that fails may have taken effect all the same. */
type Action =
  | { readonly _tag: 'Come'; readonly id: string; readonly cluster: string }
  | { readonly _tag: 'Go' | 'Nack' | 'Ack'; readonly nth: number }
  | { readonly _tag: 'Forget'; readonly id: string }
  | { readonly _tag: 'Doubt'; readonly id: string; readonly names: ReadonlyArray<string> }
  | { readonly _tag: 'Save'; readonly outcome: 'Written' | 'Failed' | 'FailedAfterwards' | 'Slow' }
  | { readonly _tag: 'Wait'; readonly ms: number }

const ids = fc.constantFrom('a', 'b', 'c')
const nth = fc.nat(5)
const actions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      _tag: fc.constant('Come' as const),
      id: ids,
      cluster: fc.constantFrom('', 'edge'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ _tag: fc.constantFrom('Go', 'Nack', 'Ack'), nth }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant('Forget' as const), id: ids }) },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constant('Doubt' as const),
      id: ids,
      names: fc.subarray(['x', 'y', 'z']),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      _tag: fc.constant('Save' as const),
      outcome: fc.constantFrom('Written', 'Written', 'Failed', 'FailedAfterwards', 'Slow'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constant('Wait' as const),
      ms: fc.constantFrom(10, 100, 1_000),
    }),
  },
)

interface Stream {
  readonly id: string
  isAdmitted: boolean
}

/** A store, a fleet that does as it is told, and the machine between them. */
const world = (begin: Roster) => {
  let state: Keeping = openKeeping(begin)
  let nowMs = 0
  let made = 0
  let writing: Roster | undefined
  let disk = begin
  const streams = new Map<string, Stream>()
  /** Those that were let go on, and are neither here nor forgotten. */
  const lost = new Set<string>()
  const doubts = new Map<string, ReadonlyArray<string>>()
  const seen = { admitted: 0, inNeed: 0, waited: 0 }

  const act = (event: KeepingEvent): void => {
    const [next, effects] = stepKeeping(state, event, nowMs)
    state = next
    for (const effect of effects) {
      if (effect._tag === 'Save') {
        expect(writing).toBeUndefined()
        writing = effect.roster
      }
      if (effect._tag === 'Admit') {
        seen.admitted += 1
        if (!disk.has(effect.id)) seen.inNeed += 1
        for (const stream of streams.values()) if (stream.id === effect.id) stream.isAdmitted = true
      }
      if (effect._tag === 'ReadMemory') {
        const known = [...doubts].filter(([id]) => rosterIn(state).has(id))
        const nodes = known.map(([id, names]) => aMemory(id, { doubts: { [clusterType]: names } }))
        act({ _tag: 'MemoryRead', memory: memories(...nodes) })
      }
    }
  }
  const settle = (outcome: Extract<Action, { readonly _tag: 'Save' }>['outcome']): void => {
    if (writing === undefined) return
    if (outcome === 'Slow') return act({ _tag: 'SaveIsSlow', message: 'slow' })
    if (outcome !== 'Failed') {
      disk = writing
      const text = E.getOrElse((problem: string) => problem)(encodeRoster(disk))
      expect(decodeRoster(text)).toEqual(E.right(disk))
    }
    writing = undefined
    if (outcome === 'Written') act({ _tag: 'SaveSucceeded' })
    else act({ _tag: 'SaveFailed', message: 'broken', retryAtMs: nowMs + 100 })
  }
  const run = (action: Action): void => {
    switch (action._tag) {
      case 'Come': {
        const { id, cluster } = action
        const stream = String((made += 1))
        streams.set(stream, { id, isAdmitted: false })
        lost.delete(id)
        return act({ _tag: 'NodeIdentified', stream, node: { id, cluster } })
      }
      case 'Go':
      case 'Nack':
      case 'Ack': {
        const [name, stream] = [...streams][action.nth] ?? []
        if (name === undefined || stream === undefined) return
        if (action._tag === 'Nack') return act({ _tag: 'Nacked', stream: name })
        if (action._tag === 'Ack') return act({ _tag: 'Acked', stream: name })
        streams.delete(name)
        if (stream.isAdmitted) lost.add(stream.id)
        return act({ _tag: 'StreamClosed', stream: name })
      }
      case 'Forget':
        act({ _tag: 'NodeForgotten', id: action.id })
        if (isConnected(state, action.id)) return
        doubts.delete(action.id)
        lost.delete(action.id)
        return
      case 'Doubt':
        doubts.set(action.id, action.names)
        return
      case 'Save':
        return settle(action.outcome)
      case 'Wait':
        nowMs += action.ms
        return act({ _tag: 'TimePassed' })
    }
  }
  /** What would be known after a crash at this moment. */
  const check = (): void => {
    const admitted = [...streams.values()].filter(({ isAdmitted }) => isAdmitted)
    if (state.failure === undefined) {
      const isShared = (id: string): boolean => admitted.filter((each) => each.id === id).length > 1
      const served = [...lost, ...admitted.map(({ id }) => id)]
      expect(served.filter((id) => !disk.has(id))).toEqual([])
      expect(served.filter((id) => isShared(id) && disk.get(id)?.isShared !== true)).toEqual([])
    } else if (state.isFailing) expect(admitted).toHaveLength(streams.size)
    if (admitted.length < streams.size) {
      seen.waited += 1
      expect(writing).toBeDefined()
    }
  }
  const heal = (): void => {
    for (let round = 0; round < 6; round += 1) {
      settle('Written')
      nowMs += 2_000
      act({ _tag: 'TimePassed' })
    }
  }
  act({ _tag: 'TimePassed' })
  return { run, check, heal, streams, seen, disk: () => disk, state: () => state }
}

describe('the machine that keeps a roster', () => {
  test('lets a node go on only once it is on the disk, or says that it is not; and lets every node go on in the end', () => {
    const seen = { admitted: 0, inNeed: 0, waited: 0 }
    fc.assert(
      fc.property(
        rosters,
        fc.array(actions, { maxLength: 60, size: 'max' }),
        (roster, history: ReadonlyArray<Action>) => {
          const at = world(roster)
          for (const action of history) {
            at.run(action)
            at.check()
          }
          at.heal()
          at.check()
          const state = at.state()
          expect(state.failure).toBeUndefined()
          expect([...at.streams.values()].every(({ isAdmitted }) => isAdmitted)).toBe(true)
          expect(at.disk()).toEqual(rosterIn(state))
          expect(nextKeepingTimer(state)).toBeUndefined()
          for (const key of ['admitted', 'inNeed', 'waited'] as const) seen[key] += at.seen[key]
        },
      ),
      { numRuns: 300 },
    )
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(200)
  })

  test('ends with the doubts of the fleet on the disk, if a refusal or a lost stream was the last to be heard', () => {
    fc.assert(
      fc.property(
        rosters,
        fc.array(actions, { maxLength: 40, size: 'max' }),
        fc.subarray(['x', 'y', 'z'], { minLength: 1 }),
        fc.constantFrom('Nack', 'Go'),
        (roster, history, names, last) => {
          const at = world(roster)
          for (const action of history) at.run(action)
          at.run({ _tag: 'Come', id: 'a', cluster: 'edge' })
          at.run({ _tag: 'Doubt', id: 'a', names })
          at.run({ _tag: last, nth: at.streams.size - 1 })
          at.heal()
          expect(at.disk().get('a')?.doubts).toEqual({ [clusterType]: names })
        },
      ),
      { numRuns: 300 },
    )
  })
})
