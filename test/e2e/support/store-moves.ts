import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { expect } from 'vitest'
import { finalizer, type StoredObject } from '../../../src/core/stored-object.js'
import type { Condition } from '../../../src/core/status.js'
import type { RouteStore } from '../../../src/ports/route-store.js'
import {
  aCondition,
  type Present,
  type RouteStoreWorld,
  type Said,
} from '../../contract/route-store.js'

/** What happens to one object. A write of ours is over its present form, or over one that was seen so long ago. */
type Move =
  | { readonly do: 'Guard'; readonly ago: number }
  | { readonly do: 'Release'; readonly ago: number }
  | { readonly do: 'Write'; readonly ago: number; readonly conditions: ReadonlyArray<Condition> }
  | { readonly do: 'Change'; readonly code: number }
  | { readonly do: 'Say'; readonly conditions: ReadonlyArray<Said> }
  | { readonly do: 'Create' | 'Hold'; readonly finalizers: ReadonlyArray<string> }
  | { readonly do: 'Remove' }

const ago = fc.nat(2)

const ours = fc
  .uniqueArray(fc.constantFrom('Accepted', 'ResolvedRefs', 'Programmed', 'Deprogrammed'), {
    maxLength: 3,
  })
  .chain((types) =>
    fc.tuple(
      ...types.map((type) =>
        fc
          .constantFrom('True' as const, 'False' as const)
          .map((status) => aCondition(type, { status })),
      ),
    ),
  )

const finalizers = fc.array(fc.constantFrom(finalizer, 'example.test/a', 'example.test/b'), {
  maxLength: 3,
})

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('Guard' as const), ago }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('Release' as const), ago }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('Write' as const), ago, conditions: ours }) },
  fc.record({ do: fc.constant('Change' as const), code: fc.constantFrom(200, 404) }),
  fc.record({
    do: fc.constant('Say' as const),
    conditions: fc
      .tuple(ours, fc.boolean())
      .map(([own, hasOther]) => (hasOther ? [...own, aCondition('Known')] : own)),
  }),
  fc.record({ do: fc.constantFrom('Create' as const, 'Hold' as const), finalizers }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('Remove' as const) }) },
)

const creation = fc.record({ do: fc.constant('Create' as const), finalizers })

/** The first of them creates the object. */
export const storeMoves: fc.Arbitrary<ReadonlyArray<Move>> = fc
  .tuple(creation, fc.array(move, { minLength: 4, maxLength: 12 }))
  .map(([first, rest]) => [first, ...rest])

/** After these the server refused what we apply: of a condition that it no longer names, others own a part. */
export const partlyOthers: ReadonlyArray<Move> = [
  { do: 'Create', finalizers: [] },
  { do: 'Say', conditions: [aCondition('Programmed'), aCondition('ResolvedRefs')] },
  { do: 'Write', ago: 0, conditions: [aCondition('ResolvedRefs', { status: 'False' })] },
  { do: 'Write', ago: 0, conditions: [aCondition('Accepted')] },
]

/** Makes the same moves in two worlds, and expects the same of both after each. */
export const playBoth = async (
  moves: ReadonlyArray<Move>,
  first: RouteStoreWorld,
  second: RouteStoreWorld,
  onResult: (result: string) => void,
): Promise<void> => {
  const players = [playerOf(first), playerOf(second)] as const
  for (const each of moves) {
    const [a, b] = [await players[0](each), await players[1](each)]
    expect(b, JSON.stringify(each)).toEqual(a)
    onResult(a.result)
  }
}

interface Played {
  readonly result: string
  readonly after: unknown
}

const playerOf = (world: RouteStoreWorld): ((move: Move) => Promise<Played>) => {
  /** The forms in which it was seen, the last one first. */
  const forms: Array<StoredObject> = []
  return async (each) => {
    const before = await world.see('a')
    if (before !== undefined) forms.unshift(before.stored)
    const result = await play(world, each, forms, before)
    return { result, after: shown(await world.see('a')) }
  }
}

const play = async (
  world: RouteStoreWorld,
  each: Move,
  forms: ReadonlyArray<StoredObject>,
  present: Present | undefined,
): Promise<string> => {
  switch (each.do) {
    case 'Guard':
    case 'Release':
    case 'Write': {
      const object = forms[Math.min(each.ago, forms.length - 1)]
      if (object === undefined) return 'nothing was ever seen'
      const written = await write(world.store, each, object)()
      return E.isLeft(written) ? written.left._tag : 'done'
    }
    case 'Create':
      return said(present === undefined, () => world.create('a', each.finalizers))
    case 'Change':
      return said(present !== undefined, () => world.change('a', each.code))
    case 'Say':
      return said(present !== undefined, () => world.say('a', each.conditions))
    case 'Hold':
      return said(present !== undefined, () => world.hold('a', each.finalizers))
    case 'Remove':
      return said(present !== undefined, () => world.remove('a'))
  }
}

const write = (
  store: RouteStore,
  each: Extract<Move, { readonly ago: number }>,
  object: StoredObject,
): ReturnType<RouteStore['guard']> => {
  switch (each.do) {
    case 'Guard':
      return store.guard(object)
    case 'Release':
      return store.release(object)
    case 'Write':
      return store.writeConditions(object, each.conditions)
  }
}

/** Somebody else's request. That it is refused is a result, too; the words differ. */
const said = async (isPossible: boolean, ask: () => void | Promise<void>): Promise<string> => {
  if (!isPossible) return 'not asked'
  try {
    await ask()
    return 'asked'
  } catch {
    return 'not taken'
  }
}

/** What must be the same: not names and versions, and not in which order conditions stand. */
const shown = (present: Present | undefined): unknown => {
  if (present === undefined) return 'gone'
  const { stored, conditions } = present
  return {
    generation: stored.generation,
    isTerminating: stored.deletionTimestamp !== undefined,
    finalizers: stored.finalizers,
    conditions: [...conditions].sort((a, b) => (a.type < b.type ? -1 : 1)),
  }
}
