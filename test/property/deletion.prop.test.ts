import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type DeletionState,
  type Evidence,
  isInService,
  nextDeletionTimer,
  noteWrite,
  settleMs,
  type Sighting,
  stepDeletion,
  wantedWrite,
} from '../../src/core/deletion.js'

/** One look at an object, or the end of a write to it. */
type Command =
  | { readonly _tag: 'Look'; readonly sighting: Sighting; readonly evidence: Evidence }
  | { readonly _tag: 'Written'; readonly failure: string | undefined }
  | { readonly _tag: 'Pass'; readonly ms: number }

const sighting = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Sighting>({ _tag: 'Terminating' }) },
  { weight: 2, arbitrary: fc.constant<Sighting>({ _tag: 'Live', isGuarded: true }) },
  { weight: 2, arbitrary: fc.constant<Sighting>({ _tag: 'Live', isGuarded: false }) },
  { weight: 1, arbitrary: fc.constant<Sighting>({ _tag: 'Absent' }) },
  { weight: 1, arbitrary: fc.constant<Sighting>({ _tag: 'Freed' }) },
  { weight: 1, arbitrary: fc.constant<Sighting>({ _tag: 'Plain' }) },
)

const evidence = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.oneof(
      { weight: 6, arbitrary: fc.constant<Evidence>({ _tag: 'Clear', returns: 1 }) },
      { weight: 1, arbitrary: fc.constant<Evidence>({ _tag: 'Clear', returns: 2 }) },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Evidence>(
      { _tag: 'Owed', nodes: ['a'], nodeCount: 1 },
      { _tag: 'Starting', untilMs: 1_000 },
      { _tag: 'RosterUnsaved', message: 'no' },
      { _tag: 'NotHolding', message: 'no' },
    ),
  },
)

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ _tag: fc.constant('Look' as const), sighting, evidence }) },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constant('Written' as const),
      failure: fc.constantFrom(undefined, 'no'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      _tag: fc.constant('Pass' as const),
      ms: fc.constantFrom(0, 1, settleMs / 2, settleMs - 1, settleMs),
    }),
  },
)

const commands = fc.array(command, { maxLength: 40, size: 'max' })

/** The times at which the evidence was clear, asked again and again, by one number of returns, to the last. */
type Run = { readonly sinceMs: number; readonly lastMs: number; readonly returns: number }

interface World {
  readonly state: DeletionState | undefined
  readonly nowMs: number
  readonly run: Run | undefined
}

const start: World = { state: undefined, nowMs: 0, run: undefined }

const runAfter = (
  { run, nowMs }: World,
  { sighting: seen, evidence: said }: Look,
): Run | undefined => {
  if (seen._tag !== 'Terminating') return seen._tag === 'Live' ? run : undefined
  if (said._tag !== 'Clear') return undefined
  const { returns } = said
  return run?.returns === returns
    ? { ...run, lastMs: nowMs }
    : { sinceMs: nowMs, lastMs: nowMs, returns }
}

type Look = Extract<Command, { readonly _tag: 'Look' }>

const apply = (world: World, of: Command): World => {
  const { state, nowMs } = world
  switch (of._tag) {
    case 'Pass':
      return { ...world, nowMs: nowMs + of.ms }
    case 'Written': {
      const write = state && wantedWrite(state)
      if (state === undefined || write === undefined) return world
      return { ...world, state: noteWrite(state, write, of.failure) }
    }
    case 'Look': {
      const [next, facts] = stepDeletion(state, of.sighting, () => of.evidence, nowMs)
      checkFacts(
        state,
        of,
        facts.map(({ _tag }) => _tag),
        next,
      )
      return { ...world, state: next, run: runAfter(world, of) }
    }
  }
}

const isLive = (state: DeletionState | undefined): boolean =>
  state === undefined || state._tag === 'Guarding' || state._tag === 'Serving'

/** Each is told when it happens, and at no other time. */
const checkFacts = (
  before: DeletionState | undefined,
  { sighting: seen, evidence: said }: Look,
  facts: ReadonlyArray<string>,
  after: DeletionState | undefined,
): void => {
  const isTerminating = seen._tag === 'Terminating'
  const isWaiting = before?._tag === 'Waiting' || before?._tag === 'Settling'
  const isGone = seen._tag === 'Absent' || seen._tag === 'Freed'
  const isKnownServed = isInService(before) || isWaiting
  const expected = [
    ...(isTerminating && isLive(before) ? ['Withdrawn'] : []),
    ...(after?._tag === 'Releasing' && before?._tag !== 'Releasing' ? ['Proven'] : []),
    ...(seen._tag === 'Plain' && isWaiting ? ['CalledOff'] : []),
    ...(isGone && isKnownServed && said._tag !== 'Clear' ? ['GlassBroken'] : []),
  ]
  expect(facts).toEqual(expected)
}

/** Walks through the worlds, and checks each step. */
const walk = (
  given: ReadonlyArray<Command>,
  check: (before: World, of: Command, after: World) => void,
): World => {
  let world = start
  for (const of of given) {
    const next = apply(world, of)
    check(world, of, next)
    world = next
  }
  return world
}

const runs = { numRuns: 1_000 }

test('a release is wanted only after the evidence was clear for settleMs without a break, by the same returns, up to the last look', () => {
  let wanted = 0
  fc.assert(
    fc.property(commands, (given) => {
      let lastLookMs = 0
      walk(given, (before, of, { state, run }) => {
        if (of._tag === 'Look' && of.sighting._tag === 'Terminating') lastLookMs = before.nowMs
        if (state === undefined || wantedWrite(state) !== 'Release') return
        wanted += 1
        expect(run?.lastMs).toBe(lastLookMs)
        expect(lastLookMs - (run?.sinceMs ?? Infinity)).toBeGreaterThanOrEqual(settleMs)
      })
    }),
    runs,
  )
  expect(wanted).toBeGreaterThan(50)
})

test('a release that is wanted is wanted no more at the first look that finds anything but the same returns, clear', () => {
  fc.assert(
    fc.property(commands, evidence, (given, said) => {
      const { state, nowMs } = walk(given, () => undefined)
      if (state?._tag !== 'Releasing') return
      const [next] = stepDeletion(state, { _tag: 'Terminating' }, () => said, nowMs)
      const isSame = said._tag === 'Clear' && said.returns === state.returns
      expect(next !== undefined && wantedWrite(next) === 'Release').toBe(isSame)
    }),
    runs,
  )
})

test('what is being deleted is never in service again, save where a plain source has it back', () => {
  fc.assert(
    fc.property(commands, (given) => {
      let isDeleted = false
      walk(given, (_, of, { state }) => {
        if (of._tag === 'Look') {
          const { _tag } = of.sighting
          if (_tag === 'Terminating') isDeleted = true
          if (_tag === 'Absent' || _tag === 'Plain') isDeleted = false
        }
        if (isDeleted) expect(isInService(state)).toBe(false)
      })
    }),
    runs,
  )
})

test('nothing comes into service but what is seen with our finalizer, or in a plain source', () => {
  fc.assert(
    fc.property(commands, (given) => {
      walk(given, (before, of, after) => {
        if (isInService(before.state) || !isInService(after.state)) return
        expect(of._tag).toBe('Look')
        const seen = of._tag === 'Look' ? of.sighting : undefined
        expect(seen?._tag === 'Plain' || (seen?._tag === 'Live' && seen.isGuarded)).toBe(true)
      })
    }),
    runs,
  )
})

test('a look that finds nothing new changes nothing, and tells nothing', () => {
  fc.assert(
    fc.property(commands, (given) => {
      walk(given, (_, of, { state, nowMs }) => {
        if (of._tag !== 'Look') return
        const [again, facts] = stepDeletion(state, of.sighting, () => of.evidence, nowMs)
        expect(again).toBe(state)
        expect(facts).toEqual([])
      })
    }),
    runs,
  )
})

test('once the evidence is clear for good and writes succeed, a deletion is over after four looks and one write', () => {
  fc.assert(
    fc.property(commands, fc.constantFrom(1, 2), (given, returns) => {
      let { state, nowMs } = walk(given, () => undefined)
      for (let looks = 0; looks < 4; looks += 1) {
        ;[state] = stepDeletion(
          state,
          { _tag: 'Terminating' },
          () => ({ _tag: 'Clear', returns }),
          nowMs,
        )
        if (state !== undefined && wantedWrite(state) !== undefined) break
        nowMs = Math.max(nowMs, (state && nextDeletionTimer(state)) ?? nowMs)
      }
      const write = state && wantedWrite(state)
      expect(write).toBe('Release')
      expect(state && write && noteWrite(state, write, undefined)._tag).toBe('Released')
    }),
    runs,
  )
})
