import { compareStrings, hasSorted } from '../order.js'
import * as PM from '../persistent-map.js'
import type { Resource, Uid } from '../resource.js'
import { emptySnapshot, type Snapshot, viewOf } from '../snapshot.js'
import { sortedChanges } from '../sorted-changes.js'
import { routeType } from '../type-url.js'

/**
 * The data plane in whose tables each of these routes stands; there is one at most. Costs O(d log n) for d routes and
 * each table, and never more than a look at every route that stands in any.
 */
export const placesOf = (
  { dataPlanes }: Snapshot,
  uids: ReadonlySet<Uid>,
): ReadonlyMap<Uid, string> => {
  const places = new Map<Uid, string>()
  for (const [dataPlane, view] of dataPlanes)
    for (const { owners } of PM.entries(view[routeType]))
      for (const uid of inBoth(owners, uids)) places.set(uid, dataPlane)
  return places
}

const inBoth = (sorted: ReadonlyArray<Uid>, uids: ReadonlySet<Uid>): ReadonlyArray<Uid> =>
  uids.size * lookUpCost < sorted.length
    ? [...uids].filter((uid) => hasSorted(sorted, (each) => compareStrings(each, uid)))
    : sorted.filter((uid) => uids.has(uid))

/** As many entries are gone through in the time that it takes to look one up in a long list. */
const lookUpCost = 8

/** The routes that stand in the tables of a data plane. */
export function* routesIn(snapshot: Snapshot, dataPlane: string): Generator<Uid, void, undefined> {
  for (const { owners } of PM.entries(viewOf(snapshot, dataPlane)[routeType])) yield* owners
}

/**
 * The routes that have begun to stand in a table, or stand in one no more; all that stand in any if there was no
 * snapshot before.
 *
 * That is read from the tables, and not from the verdicts: of a route that another data plane has by now, or of one
 * object in the place of another, the verdict may say the very same. A table whose routes are the very same list, as
 * the translator leaves it where none came or went, costs nothing; any other one a look at each of its routes.
 */
export const movedRoutes = (before: Snapshot | undefined, after: Snapshot): ReadonlySet<Uid> => {
  const old = before ?? emptySnapshot
  const moved = new Set<Uid>()
  for (const dataPlane of new Set([...old.dataPlanes.keys(), ...after.dataPlanes.keys()])) {
    const tables = PM.changes(
      viewOf(old, dataPlane)[routeType],
      viewOf(after, dataPlane)[routeType],
    )
    for (const table of tables) for (const uid of comersAndGoers(table)) moved.add(uid)
  }
  return moved
}

const comersAndGoers = ({ before, after }: PM.Difference<Resource>): ReadonlyArray<Uid> =>
  sortedChanges(ownersOf(before), ownersOf(after), itself).flatMap(
    (change) => change.before ?? change.after ?? [],
  )

const ownersOf = (table: Resource | undefined): ReadonlyArray<Uid> => table?.owners ?? []

const itself = (uid: Uid): string => uid
