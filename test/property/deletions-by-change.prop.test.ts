import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import { type Evidence, settleMs, type Write } from '../../src/core/deletion.js'
import {
  breakGlass,
  type Deletions,
  type DeletionsStep,
  lookAgain,
  noDeletions,
  noteForgotten,
  noteWritten,
  observe,
  type RecordedFact,
  routesInService,
  type Seen,
} from '../../src/core/deletions.js'
import { nextInService, nothingInService } from '../../src/core/in-service.js'
import type { StoredObject } from '../../src/core/stored-object.js'
import { anObject, bare, deleting, routeOf } from '../support/stored-objects.js'

type Form = 'Away' | 'Bare' | 'Guarded' | 'Terminating' | 'Freed'

const uids = ['a1', 'a2', 'b1'] as const

type Step =
  /** The source shows these forms, and routes of some of the objects; `again` shows all as new references. */
  | { readonly _tag: 'See'; readonly forms: ReadonlyArray<Form>; readonly valid: number }
  | { readonly _tag: 'Look'; readonly only: number | undefined }
  | { readonly _tag: 'Note'; readonly of: number; readonly write: Write; readonly fails: boolean }
  | { readonly _tag: 'Forget'; readonly of: number }
  | { readonly _tag: 'Break'; readonly of: number }

interface Timed {
  readonly step: Step
  readonly afterMs: number
  readonly evidence: Evidence
}

const anyUid = fc.nat(uids.length - 1)

const see: fc.Arbitrary<Step> = fc.record({
  _tag: fc.constant('See' as const),
  forms: fc.array(
    fc.constantFrom<Form>('Away', 'Bare', 'Guarded', 'Guarded', 'Terminating', 'Freed'),
    {
      minLength: uids.length,
      maxLength: uids.length,
    },
  ),
  valid: fc.nat(15),
})

const others: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ _tag: fc.constant('Look' as const), only: fc.option(anyUid, { nil: undefined }) }),
  fc.record({
    _tag: fc.constant('Note' as const),
    of: anyUid,
    write: fc.constantFrom<Write>('Guard', 'Release'),
    fails: fc.boolean(),
  }),
  fc.record({ _tag: fc.constant('Forget' as const), of: anyUid }),
  fc.record({ _tag: fc.constant('Break' as const), of: anyUid }),
)

const timed: fc.Arbitrary<Timed> = fc.record({
  step: fc.oneof(see, others),
  afterMs: fc.constantFrom(0, 1, settleMs, 120_000),
  evidence: fc.constantFrom<Evidence>(
    { _tag: 'Clear', returns: 1 },
    { _tag: 'Clear', returns: 2 },
    { _tag: 'Owed', nodes: ['n'], nodeCount: 1 },
    { _tag: 'Starting', untilMs: 5_000 },
  ),
})

const uidAt = (place: number): string => uids[place] ?? 'a1'

const objectOf = (uid: string, form: Form): ReadonlyArray<StoredObject> => {
  const object = anObject(uid.slice(0, 1), { uid, resourceVersion: form })
  switch (form) {
    case 'Away':
      return []
    case 'Bare':
      return [{ ...object, ...bare }]
    case 'Guarded':
      return [object]
    case 'Terminating':
      return [{ ...object, ...deleting }]
    case 'Freed':
      return [{ ...object, ...bare, ...deleting, finalizers: ['other'] }]
  }
}

/** What the source shows: an object, or a route, that has not changed is the very same. */
const sourceOf = (isStore: boolean): ((forms: ReadonlyArray<Form>, valid: number) => Seen) => {
  const known = new Map<string, StoredObject>()
  const routes = new Map<string, ReturnType<typeof routeOf>>()
  return (forms, valid) => {
    const objects = forms.flatMap((form, place) =>
      objectOf(uidAt(place), form).map((object) => {
        const key = JSON.stringify(object)
        const same = known.get(key) ?? object
        known.set(key, same)
        return same
      }),
    )
    // A source that shows a route without its object keeps no promise, and must not have it served.
    const orphans = isStore && valid > 7 ? uids.flatMap((uid) => objectOf(uid, 'Guarded')) : []
    const readable = [...objects, ...orphans.filter((each) => !has(objects, each))]
      .filter(({ uid }) => ((valid >> uids.findIndex((each) => each === uid)) & 1) === 0)
      .map((object) => {
        const key = JSON.stringify(object)
        const same = routes.get(key) ?? routeOf(object)
        routes.set(key, same)
        return same
      })
    return isStore ? { routes: readable, objects } : { routes: readable }
  }
}

const has = (objects: ReadonlyArray<StoredObject>, { uid }: StoredObject): boolean =>
  objects.some((each) => each.uid === uid)

const apply = (state: Deletions, { step, evidence }: Timed, nowMs: number): DeletionsStep => {
  const evidenceOf = (): Evidence => evidence
  switch (step._tag) {
    case 'See':
      return [state, []]
    case 'Look':
      return lookAgain(
        state,
        evidenceOf,
        nowMs,
        step.only === undefined ? undefined : uidAt(step.only),
      )
    case 'Note':
      return [noteWritten(state, uidAt(step.of), step.write, step.fails ? 'no' : undefined), []]
    case 'Forget':
      return [noteForgotten(state, (uid) => (uid === uidAt(step.of) ? ['gone'] : [])), []]
    case 'Break':
      return breakGlass(state, uidAt(step.of), evidenceOf)
  }
}

const textOf = ({ records, pending }: Deletions): string =>
  JSON.stringify([[...records], [...pending].sort()])

const factsText = (facts: ReadonlyArray<RecordedFact>): ReadonlyArray<string> =>
  facts.map((fact) => JSON.stringify(fact)).sort()

test.prop([fc.boolean(), fc.array(timed, { maxLength: 25 })], { numRuns: 3000 })(
  'what has changed says of deletions, and of what is served, the same as all there is',
  (isStore, steps) => {
    const show = sourceOf(isStore)
    let [byChange, byAll] = [noDeletions, noDeletions]
    let serving = nothingInService
    let nowMs = 0
    for (const each of steps) {
      nowMs += each.afterMs
      const evidenceOf = (): Evidence => each.evidence
      if (each.step._tag === 'See') {
        const seen = show(each.step.forms, each.step.valid)
        serving = nextInService(serving, byChange, seen)
        const served = routesInService(byChange, seen)
        expect(new Set([...serving.routes.values()])).toEqual(new Set(served))
        // Copies are other references: all of them have changed.
        const [next, facts] = observe(byChange, seen, evidenceOf, nowMs)
        const [whole, wholeFacts] = observe(byAll, structuredClone(seen), evidenceOf, nowMs)
        expect(factsText(facts)).toEqual(factsText(wholeFacts))
        ;[byChange, byAll] = [next, whole]
      } else {
        const [next, facts] = apply(byChange, each, nowMs)
        const [whole, wholeFacts] = apply(byAll, each, nowMs)
        expect(factsText(facts)).toEqual(factsText(wholeFacts))
        ;[byChange, byAll] = [next, whole]
      }
      expect(textOf(byChange)).toBe(textOf(byAll))
    }
  },
)
