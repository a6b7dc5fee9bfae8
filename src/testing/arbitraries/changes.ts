import fc from 'fast-check'
import {
  type EdgeRoute,
  type EdgeRouteSpec,
  type RouteKey,
  showKey,
} from '../../core/edge-route.js'
import { finalizer } from '../../core/stored-object.js'
import { edgeRouteSpec } from './routes.js'

/** Something that happens to a set of routes. */
export type RouteChange =
  /** A route is there, in the place of the one with its name, if there was one. */
  | { readonly _tag: 'Apply'; readonly route: EdgeRoute }
  /** The route of this name is gone. */
  | { readonly _tag: 'Delete'; readonly key: RouteKey }

interface Wish {
  readonly key: RouteKey
  readonly how: 'Create' | 'Change' | 'Delete' | 'Recreate'
  readonly spec: EdgeRouteSpec
}

const key: fc.Arbitrary<RouteKey> = fc.record(
  { namespace: fc.constantFrom('a', 'b'), name: fc.constantFrom('a', 'b', 'a-b') },
  { noNullPrototype: true },
)

const wish: fc.Arbitrary<Wish> = fc.record({
  key,
  how: fc.constantFrom<Wish['how']>('Create', 'Change', 'Change', 'Delete', 'Recreate'),
  spec: edgeRouteSpec,
})

/** How many changes a history has at most: enough for each name to come and go several times. */
const maxChanges = 20

/**
 * What may happen to routes, one change after the other, from none on: they are made, changed (a generation
 * later), deleted, and made again under their old name, as another object with another uid.
 *
 * Each change is a change: none deletes what is not there. `routesAfter` says what is there at its end.
 */
export const routeChanges: fc.Arbitrary<ReadonlyArray<RouteChange>> = fc
  .array(wish, { maxLength: maxChanges })
  .map((wishes) => {
    const there = new Map<string, EdgeRoute>()
    const changes: Array<RouteChange> = []
    wishes.forEach((each, index) => {
      for (const change of changesFor(each, there.get(showKey(each.key)), index)) {
        takeIn(there, change)
        changes.push(change)
      }
    })
    return changes
  })

/** The routes that are there after these changes, in the order of their coming. Costs O(changes). */
export const routesAfter = (
  changes: Iterable<RouteChange>,
  before: Iterable<EdgeRoute> = [],
): ReadonlyArray<EdgeRoute> => {
  const there = new Map([...before].map((route) => [showKey(route.metadata), route]))
  for (const change of changes) takeIn(there, change)
  return [...there.values()]
}

const takeIn = (there: Map<string, EdgeRoute>, change: RouteChange): void => {
  switch (change._tag) {
    case 'Apply':
      there.set(showKey(change.route.metadata), change.route)
      return
    case 'Delete':
      there.delete(showKey(change.key))
      return
  }
}

const changesFor = (
  { key: of, how, spec }: Wish,
  before: EdgeRoute | undefined,
  index: number,
): ReadonlyArray<RouteChange> => {
  if (before === undefined) return how === 'Delete' ? [] : [made(of, spec, index)]
  switch (how) {
    case 'Create':
    case 'Change': {
      const generation = before.metadata.generation + 1
      return [{ _tag: 'Apply', route: { metadata: { ...before.metadata, generation }, spec } }]
    }
    case 'Delete':
      return [{ _tag: 'Delete', key: of }]
    case 'Recreate':
      return [{ _tag: 'Delete', key: of }, made(of, spec, index)]
  }
}

/** Objects that are made at one time are of one age, as where a whole directory is applied. */
const made = ({ namespace, name }: RouteKey, spec: EdgeRouteSpec, index: number): RouteChange => ({
  _tag: 'Apply',
  route: {
    metadata: {
      namespace,
      name,
      uid: `${namespace}/${name}#${index}`,
      generation: 1,
      finalizers: [finalizer],
      creationTimestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(index / 3)))
        .toISOString()
        .replace('.000Z', 'Z'),
    },
    spec,
  },
})
