import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import type { DeletionState } from '../../src/core/deletion.js'
import type { DeletionRecord } from '../../src/core/deletions.js'
import {
  changedKeys,
  emptyOrderedMap,
  type OrderedMap,
  withValues,
} from '../../src/core/ordered-map.js'
import type { Uid } from '../../src/core/resource.js'
import type { Verdict } from '../../src/core/verdict.js'
import { type Sources, withDeletions } from '../../src/host/deletion-verdicts.js'
import type { SourceProblem } from '../../src/ports/route-source.js'
import { anObject } from '../support/stored-objects.js'

const uid = fc.constantFrom('a', 'b', 'c')

const state = fc.constantFrom<DeletionState>(
  { _tag: 'Guarding', failure: undefined },
  { _tag: 'Guarding', failure: 'no' },
  { _tag: 'Serving', isGuarded: true, failure: undefined },
  { _tag: 'Waiting', sinceMs: 1, waitsFor: { _tag: 'Owed', nodes: ['n'], nodeCount: 1 } },
  { _tag: 'Settling', sinceMs: 1, clearSinceMs: 2, returns: 0 },
)

const recordOf = (of: Uid, isStored: boolean, at: DeletionState): DeletionRecord => {
  const object = anObject(of)
  return {
    key: object.key,
    uid: of,
    generation: 1,
    object: isStored ? object : undefined,
    state: at,
  }
}

const verdictOf = (of: Uid, generation: number): Verdict => ({
  key: anObject(of).key,
  uid: of,
  generation,
  accepted: { _tag: 'Accepted' },
  unresolved: [],
})

const problemsOf = (about: ReadonlyArray<readonly [Uid, string]>): ReadonlyArray<SourceProblem> =>
  about.map(([name, message]) => ({
    where: name,
    key: anObject(name).key,
    errors: [{ path: 'spec', message }],
    keepsLastGood: false,
  }))

type Change =
  | readonly [part: 'Record', uid: Uid, value: DeletionRecord | undefined]
  | readonly [part: 'Verdict', uid: Uid, value: Verdict | undefined]
  | readonly [part: 'Problems', value: ReadonlyArray<SourceProblem>]

const change: fc.Arbitrary<Change> = fc.oneof(
  fc
    .tuple(uid, fc.boolean(), fc.option(state, { nil: undefined }))
    .map(([of, isStored, at]): Change => ['Record', of, at && recordOf(of, isStored, at)]),
  fc
    .tuple(uid, fc.option(fc.nat(2), { nil: undefined }))
    .map(([of, n]): Change => ['Verdict', of, n === undefined ? undefined : verdictOf(of, n)]),
  fc
    .array(fc.tuple(uid, fc.constantFrom('x', 'y')), { maxLength: 2 })
    .map((about): Change => ['Problems', problemsOf(about)]),
)

const stepped = (now: Sources, each: Change): Sources => {
  switch (each[0]) {
    case 'Record':
      return { ...now, records: withValues(now.records, new Map([[each[1], each[2]]])) }
    case 'Verdict':
      return { ...now, judged: withValues(now.judged, new Map([[each[1], each[2]]])) }
    case 'Problems':
      return { ...now, problems: each[1] }
  }
}

const nothing: Sources = { judged: emptyOrderedMap, records: emptyOrderedMap, problems: [] }

const textOf = (verdicts: OrderedMap<Verdict>): string => JSON.stringify([...verdicts])

test.prop([fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 15 })], { numRuns: 2000 })(
  'what is said after each change is what is said of all there is, and the very same where that has not changed',
  (passes) => {
    let before = nothing
    let said: OrderedMap<Verdict> = emptyOrderedMap
    for (const changes of passes) {
      const now = changes.reduce(stepped, before)
      const next = withDeletions(before, said, now)
      const whole = withDeletions(nothing, emptyOrderedMap, now)
      expect(textOf(next)).toBe(textOf(whole))
      if (
        now.records === before.records &&
        now.judged === before.judged &&
        textOf(next) === textOf(said)
      )
        expect(changedKeys(said, next)).toEqual([])
      ;[before, said] = [now, next]
    }
  },
)
