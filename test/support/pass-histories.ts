import fc from 'fast-check'
import type { DeletionState } from '../../src/core/deletion.js'
import type { DeletionRecord } from '../../src/core/deletions.js'
import { type OrderedMap, orderedMapOf, withValues } from '../../src/core/ordered-map.js'
import type { Programmed } from '../../src/core/programmed.js'
import type { StoredObject } from '../../src/core/stored-object.js'
import type { Acceptance, Verdict } from '../../src/core/verdict.js'
import { nothingYet, type Reconciled } from '../../src/host/reconcile.js'
import type { SourceProblem } from '../../src/ports/route-source.js'

/** Few of everything, so that names, places and listeners are shared, and what has gone comes back. */
const uid = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const key = fc.constantFrom('one', 'two', 'three').map((name) => ({ namespace: 'shop', name }))
const message = fc.constantFrom('no', 'never')
const maybe = <A>(value: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> =>
  fc.option(value, { nil: undefined })

const accepted = fc.oneof<Array<fc.Arbitrary<Acceptance>>>(
  fc.constant({ _tag: 'Accepted' }),
  fc.constant({ _tag: 'Accepted' }),
  fc.constant({ _tag: 'Terminating' }),
  maybe(message).map((failure) => ({ _tag: 'Unguarded', failure })),
  message.map((text) => ({ _tag: 'Invalid', errors: [{ path: 'spec', message: text }] })),
)

const listener = fc.constantFrom('http', 'admin').map((name) => ({ dataPlane: 'edge', name }))
const programmed: fc.Arbitrary<Programmed> = fc
  .tuple(message, maybe(listener), fc.subarray(['e1', 'e2'], { minLength: 1 }))
  .map(([text, refused, nodes]) => ({
    ...{ _tag: 'Refused', generation: 1, message: text, nodes, nodeCount: nodes.length },
    ...(refused && { listener: refused }),
  }))

const verdict: fc.Arbitrary<Verdict> = fc
  .record({
    ...{ uid, key, accepted, programmed: maybe(programmed), generation: fc.constantFrom(1, 2) },
    unresolved: fc.constantFrom<Verdict['unresolved']>(
      [],
      [{ path: 'spec.backends[0]', reason: 'NoReadyEndpoints', message: 'none' }],
    ),
  })
  .map(({ programmed: said, ...of }) => ({ ...of, ...(said && { programmed: said }) }))

const problem: fc.Arbitrary<SourceProblem> = fc.record({
  where: fc.constantFrom('a.yaml', 'b.yaml', 'shop/one'),
  key: maybe(key),
  errors: message.map((text) => [{ path: '', message: text }]),
  keepsLastGood: fc.boolean(),
})

const nodes = { nodes: ['e1'], nodeCount: 1 }
const state = fc.constantFrom<Array<DeletionState>>(
  { _tag: 'Guarding', failure: undefined },
  { _tag: 'Serving', isGuarded: true, failure: undefined },
  { _tag: 'Serving', isGuarded: false, failure: undefined },
  { _tag: 'Waiting', waitsFor: { _tag: 'Owed', ...nodes }, sinceMs: 0 },
  { _tag: 'Releasing', returns: 0, failure: undefined, sinceMs: 0 },
)

const stored = fc.tuple(fc.constantFrom('1', '2'), fc.boolean())
const record: fc.Arbitrary<DeletionRecord> = fc
  .record({ uid, key, generation: fc.constant(1), state, seen: maybe(stored) })
  .map(({ seen, ...of }) => ({ ...of, object: seen && objectOf(of, seen) }))

const objectOf = (
  of: Pick<StoredObject, 'key' | 'uid' | 'generation'>,
  [resourceVersion, isDeleted]: readonly [string, boolean],
): StoredObject => ({
  ...{ ...of, resourceVersion, finalizers: [], conditions: [] },
  ...(isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
})

/** What becomes of one object: another value, one that is equal and not the very same, or none. */
type Change<A> =
  | { readonly _tag: 'Set'; readonly to: A }
  | { readonly _tag: 'Copy'; readonly uid: string }
  | { readonly _tag: 'Remove'; readonly uid: string }

/** What becomes of a map; `isAnew` if the next one shares nothing with it. */
interface Edit<A> {
  readonly changes: ReadonlyArray<Change<A>>
  readonly isAnew: boolean
}

const edit = <A>(value: fc.Arbitrary<A>): fc.Arbitrary<Edit<A>> => {
  const change = fc.oneof<Array<fc.Arbitrary<Change<A>>>>(
    value.map((to) => ({ _tag: 'Set', to })),
    value.map((to) => ({ _tag: 'Set', to })),
    uid.map((at) => ({ _tag: 'Copy', uid: at })),
    uid.map((at) => ({ _tag: 'Remove', uid: at })),
  )
  return fc.record({
    changes: fc.array(change, { maxLength: 4 }),
    isAnew: fc.constantFrom(false, false, false, true),
  })
}

const edited = <A extends { readonly uid: string }>(
  map: OrderedMap<A>,
  { changes, isAnew }: Edit<A>,
): OrderedMap<A> => {
  const values = new Map<string, A | undefined>()
  for (const change of changes) {
    const at = change._tag === 'Set' ? change.to.uid : change.uid
    const known = map.get(at)
    const copy = known && { ...known }
    values.set(at, change._tag === 'Set' ? change.to : change._tag === 'Copy' ? copy : undefined)
  }
  const next = withValues(map, values)
  return isAnew ? orderedMapOf(next) : next
}

/** What happens between two passes. */
export interface Step {
  readonly verdicts: Edit<Verdict>
  readonly records: Edit<DeletionRecord>
  /** `undefined` for the very list of before, if there was one. */
  readonly problems: ReadonlyArray<SourceProblem> | undefined
  /** `undefined` if nothing is translated. */
  readonly translated: Edit<Verdict> | undefined
  readonly isPublished: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  verdicts: edit(verdict),
  records: edit(record),
  problems: maybe(fc.array(problem, { maxLength: 4 })),
  translated: maybe(edit(verdict)),
  isPublished: fc.boolean(),
})

const after = (before: Reconciled, { translated, problems, ...step }: Step): Reconciled => {
  const seen = problems === undefined ? before.seen : { routes: [], problems }
  const { published: known } = before
  const published = translated && {
    ...{ routes: [], backends: undefined, hosts: new Map<string, number>() },
    snapshot: known === undefined || step.isPublished ? { dataPlanes: new Map() } : known.snapshot,
    verdicts: edited(known?.verdicts ?? nothingYet.verdicts, translated),
  }
  const records = edited(before.deletions.records, step.records)
  return {
    ...{ ...before, seen },
    published: published ?? known,
    verdicts: edited(before.verdicts, step.verdicts),
    deletions: { ...before.deletions, records },
  }
}

/** What happens from pass to pass, as plain data. */
export const passSteps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(step, {
  minLength: 1,
  maxLength: 12,
})

/** What each pass leaves behind, as far as reports and writes go by it, and before it that there is nothing yet. */
export const statesAfter = (steps: ReadonlyArray<Step>): ReadonlyArray<Reconciled> => {
  const states = [nothingYet]
  for (const each of steps) states.push(after(states.at(-1) ?? nothingYet, each))
  return states
}
