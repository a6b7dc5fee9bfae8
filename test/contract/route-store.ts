import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import type { Condition } from '../../src/core/status.js'
import { finalizer, type StoredObject } from '../../src/core/stored-object.js'
import type { RouteStore, WriteError } from '../../src/ports/route-store.js'

/** A store, and what others do to its objects. An object is told by its name. */
export interface RouteStoreWorld {
  readonly store: RouteStore
  readonly create: (name: string, finalizers?: ReadonlyArray<string>) => void | Promise<void>
  /** What is there now; `undefined` if nothing is. */
  readonly see: (name: string) => Present | undefined | Promise<Present | undefined>
  /** Gives it another spec. */
  readonly change: (name: string, code: number) => void | Promise<void>
  /** Writes its status, whoever has written it before. */
  readonly say: (name: string, conditions: ReadonlyArray<Said>) => void | Promise<void>
  /** Replaces its finalizers. */
  readonly hold: (name: string, finalizers: ReadonlyArray<string>) => void | Promise<void>
  /** Asks for its deletion. */
  readonly remove: (name: string) => void | Promise<void>
}

/** An object as it is kept. */
export interface Present {
  readonly stored: StoredObject
  readonly spec: unknown
  /** Those of others too, in their order. */
  readonly conditions: ReadonlyArray<Said>
}

/** A condition of ours, or of somebody else. */
export type Said = Omit<Condition, 'type' | 'status'> & {
  readonly type: string
  readonly status: Condition['status'] | 'Unknown'
}

export const aCondition = <Type extends string>(
  type: Type,
  more: Partial<Omit<Condition, 'type'>> = {},
): Omit<Condition, 'type'> & { readonly type: Type } => ({
  type,
  status: 'True',
  reason: 'Well',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-31T12:00:00Z',
  ...more,
})

const accepted = aCondition('Accepted')
const programmed = aCondition('Programmed', { status: 'False', message: 'not yet' })
const deprogrammed = aCondition('Deprogrammed')
const foreign = aCondition('Known', { reason: 'Elsewhere' })

const [other, another] = ['example.test/other', 'example.test/another']

type Written = E.Either<WriteError, void>

const done: Written = E.right(undefined)
const failureOf = (written: Written): string => (E.isLeft(written) ? written.left._tag : 'done')

/** The three writes, each of which would change something of an object that has these finalizers. */
const writes = [
  ['guard', [], (store: RouteStore, seen: StoredObject) => store.guard(seen)],
  ['release', [finalizer], (store: RouteStore, seen: StoredObject) => store.release(seen)],
  [
    'writeConditions',
    [],
    (store: RouteStore, seen: StoredObject) => store.writeConditions(seen, [accepted]),
  ],
] as const

/** What every `RouteStore` promises. Run it for each adapter. */
export const routeStoreContract = (
  name: string,
  make: () => RouteStoreWorld | Promise<RouteStoreWorld>,
): void => {
  /** A world with one object, as it was seen at its beginning. */
  const worldWith = async (finalizers: ReadonlyArray<string> = []) => {
    const world = await make()
    await world.create('a', finalizers)
    const present = async (): Promise<Present> => {
      const there = await world.see('a')
      if (there === undefined) throw new Error('there is no object any more')
      return there
    }
    const { stored: seen } = await present()
    return { ...world, present, seen }
  }
  const typesOf = ({ conditions }: Present): ReadonlyArray<string> =>
    conditions.map(({ type }) => type).sort()

  describe(`route store: ${name}`, () => {
    test.each([[[]], [[other]], [[other, another]]])(
      'guard adds our finalizer behind %j, and changes nothing else',
      async (before) => {
        const { store, seen, present } = await worldWith(before)
        const { spec } = await present()
        expect(await store.guard(seen)()).toEqual(done)
        const after = await present()
        expect(after.stored.finalizers).toEqual([...before, finalizer])
        expect(after).toMatchObject({ spec, stored: { uid: seen.uid, generation: 1 } })
      },
    )

    test.each([
      [[finalizer], []],
      [
        [other, finalizer, another],
        [other, another],
      ],
      [[finalizer, other, finalizer], [other]],
    ])('release makes of %j what others have: %j', async (before, after) => {
      const { store, seen, present } = await worldWith(before)
      const { spec } = await present()
      expect(await store.release(seen)()).toEqual(done)
      expect((await present()).stored.finalizers).toEqual(after)
      expect(await present()).toMatchObject({ spec, stored: { uid: seen.uid, generation: 1 } })
    })

    test('release of what is being deleted lets it go, and no sooner than others do', async () => {
      const { store, remove, present, see, hold } = await worldWith([other, finalizer])
      await remove('a')
      expect(await store.release((await present()).stored)()).toEqual(done)
      expect((await present()).stored.finalizers).toEqual([other])
      await hold('a', [])
      expect(await see('a')).toBeUndefined()
      const alone = await worldWith([finalizer])
      await alone.remove('a')
      expect(await alone.store.release((await alone.present()).stored)()).toEqual(done)
      expect(await alone.see('a')).toBeUndefined()
    })

    test('conditions are replaced, added and taken away, and nothing else is changed', async () => {
      const { store, present, seen } = await worldWith([other])
      const { spec } = await present()
      expect(await store.writeConditions(seen, [accepted, programmed])()).toEqual(done)
      const first = await present()
      expect(first.stored.conditions).toEqual([accepted, programmed])
      expect(first).toMatchObject({ spec, stored: { generation: 1, finalizers: [other] } })
      const next = [{ ...accepted, status: 'False' as const }, deprogrammed]
      expect(await store.writeConditions(first.stored, next)()).toEqual(done)
      expect((await present()).stored.conditions).toEqual(next)
      expect(await store.writeConditions((await present()).stored, [])()).toEqual(done)
      expect((await present()).conditions).toEqual([])
    })

    test('conditions of others stay as they are', async () => {
      const { store, present, say } = await worldWith()
      await say('a', [foreign])
      expect(await store.writeConditions((await present()).stored, [accepted])()).toEqual(done)
      expect(typesOf(await present())).toEqual(['Accepted', 'Known'])
      expect(await store.writeConditions((await present()).stored, [])()).toEqual(done)
      expect((await present()).conditions).toEqual([foreign])
    })

    test('what others write in our conditions is put right, and what they add to them goes', async () => {
      const { store, present, say, seen } = await worldWith()
      expect(await store.writeConditions(seen, [accepted])()).toEqual(done)
      await say('a', [{ ...accepted, reason: 'Meddled' }, deprogrammed, foreign, programmed])
      expect(await store.writeConditions((await present()).stored, [accepted])()).toEqual(done)
      expect((await present()).stored.conditions).toEqual([accepted])
      expect(typesOf(await present())).toEqual(['Accepted', 'Known'])
    })

    test('a condition of which others have written a part can be taken away', async () => {
      const { store, present, say, seen } = await worldWith()
      await say('a', [programmed, accepted])
      const otherwise = { ...accepted, status: 'False' as const }
      expect(await store.writeConditions((await present()).stored, [otherwise])()).toEqual(done)
      expect((await present()).conditions).toEqual([otherwise])
      expect(await store.writeConditions((await present()).stored, [programmed])()).toEqual(done)
      expect((await present()).conditions).toEqual([programmed])
      await say('a', [{ ...programmed, status: 'Unknown' }, foreign])
      expect(await store.writeConditions((await present()).stored, [accepted])()).toEqual(done)
      expect(typesOf(await present())).toEqual(['Accepted', 'Known'])
      expect(failureOf(await store.writeConditions(seen, [programmed])())).toBe('Conflict')
    })

    test.each([
      ['another one', [programmed]],
      ['one of ours and a new one', [deprogrammed, accepted]],
      ['nothing', []],
    ])(
      'after others have written what we say, %s can be all that we say, and anything after that',
      async (_, next) => {
        const { store, present, say } = await worldWith()
        const makes = async (conditions: ReadonlyArray<Condition>): Promise<void> => {
          expect(await store.writeConditions((await present()).stored, conditions)()).toEqual(done)
          const after = await present()
          expect(after.stored.conditions).toHaveLength(conditions.length)
          expect(after.stored.conditions).toEqual(expect.arrayContaining([...conditions]))
          expect(after.conditions.filter(({ type }) => type === foreign.type)).toEqual([foreign])
          expect(after.conditions).toHaveLength(conditions.length + 1)
        }
        const resolved = aCondition('ResolvedRefs')
        await say('a', [programmed, foreign, accepted, resolved])
        await makes([
          { ...accepted, message: 'ours' },
          { ...resolved, status: 'False' },
        ])
        await makes(next)
        await makes([accepted, resolved])
        await makes([deprogrammed])
      },
    )

    test('what others write in our types that is none of ours is seen, and goes with the next write', async () => {
      const { store, present, say, seen } = await worldWith()
      expect(await store.writeConditions(seen, [accepted])()).toEqual(done)
      expect((await present()).stored).not.toHaveProperty('hasForeignConditions')
      await say('a', [accepted, { ...programmed, status: 'Unknown' }, foreign])
      const { stored } = await present()
      expect(stored).toMatchObject({ conditions: [accepted], hasForeignConditions: true })
      expect(await store.writeConditions(stored, [accepted])()).toEqual(done)
      const after = await present()
      expect(typesOf(after)).toEqual(['Accepted', 'Known'])
      expect(after.stored).not.toHaveProperty('hasForeignConditions')
    })

    test.each([[false, 'Unproven', [other, finalizer]] as const, [true, 'done', [other]] as const])(
      'a release whose proof holds as it goes out (%s) is %s, and leaves %j',
      async (isProven, result, left) => {
        const { store, present, seen } = await worldWith([other, finalizer])
        expect(failureOf(await store.release(seen, () => isProven)())).toBe(result)
        expect((await present()).stored.finalizers).toEqual(left)
      },
    )

    test('whether a release is proven is asked when it is run, and not before', async () => {
      const { store, present, seen } = await worldWith([finalizer])
      let isProven = true
      const release = store.release(seen, () => isProven)
      isProven = false
      expect(failureOf(await release())).toBe('Unproven')
      expect((await present()).stored).toEqual(seen)
    })

    test('what is as it should be gets no new version', async () => {
      const { store, present } = await worldWith([finalizer])
      const { stored: first } = await present()
      await store.writeConditions(first, [accepted])()
      const { stored } = await present()
      expect(await store.guard(stored)()).toEqual(done)
      expect(await store.writeConditions(stored, [accepted])()).toEqual(done)
      expect((await present()).stored).toEqual(stored)
      const free = await worldWith([other])
      expect(await free.store.release(free.seen)()).toEqual(done)
      expect((await free.present()).stored).toEqual(free.seen)
    })

    test.each(writes)('%s does nothing before it is run', async (_, before, write) => {
      const { store, seen, present } = await worldWith(before)
      write(store, seen)
      expect((await present()).stored).toEqual(seen)
    })

    test.each(writes)(
      '%s of an object that has changed is a Conflict, and writes nothing',
      async (_, before, write) => {
        const { store, seen, present, change } = await worldWith(before)
        await change('a', 404)
        const changed = await present()
        expect(failureOf(await write(store, seen)())).toBe('Conflict')
        expect(await present()).toEqual(changed)
      },
    )

    test.each(writes)(
      '%s of an object whose status was written meanwhile is a Conflict',
      async (_, before, write) => {
        const { store, seen, present, say } = await worldWith(before)
        await say('a', [foreign])
        const changed = await present()
        expect(failureOf(await write(store, seen)())).toBe('Conflict')
        expect(await present()).toEqual(changed)
      },
    )

    test.each(writes)(
      '%s of an object that is gone is NotFound, and creates none',
      async (_, before, write) => {
        const { store, seen, hold, remove, see } = await worldWith(before)
        await hold('a', [])
        await remove('a')
        expect(failureOf(await write(store, seen)())).toBe('NotFound')
        expect(await see('a')).toBeUndefined()
      },
    )

    test.each(writes)(
      '%s of an object under whose name another one is there is NotFound, and does not touch that',
      async (_, before, write) => {
        const { store, seen, hold, remove, create, present } = await worldWith(before)
        await hold('a', [])
        await remove('a')
        await create('a', before)
        const there = await present()
        expect(there.stored.uid).not.toBe(seen.uid)
        expect(failureOf(await write(store, seen)())).toBe('NotFound')
        expect(await present()).toEqual(there)
      },
    )

    test('guard of what is being deleted is Refused, and writes nothing', async () => {
      const { store, remove, present } = await worldWith([other])
      await remove('a')
      const terminating = await present()
      expect(failureOf(await store.guard(terminating.stored)())).toBe('Refused')
      expect(await present()).toEqual(terminating)
    })

    test('of several writes over one version one takes effect, and the others are Conflicts', async () => {
      const { store, seen, present } = await worldWith()
      const written = await Promise.all([
        store.guard(seen)(),
        store.writeConditions(seen, [accepted])(),
        store.guard(seen)(),
        store.writeConditions(seen, [programmed])(),
      ])
      expect(written.map(failureOf).sort()).toEqual(['Conflict', 'Conflict', 'Conflict', 'done'])
      const { finalizers, conditions } = (await present()).stored
      expect(finalizers.length + conditions.length).toBe(1)
    })
  })
}
