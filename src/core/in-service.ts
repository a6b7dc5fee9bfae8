import { isInService, stepLive } from './deletion.js'
import { type Deletions, type Seen, sightingOf } from './deletions.js'
import type { EdgeRoute } from './edge-route.js'
import { emptyOrderedMap, type OrderedMap, withValues } from './ordered-map.js'
import type { Uid } from './resource.js'
import type { StoredObject } from './stored-object.js'
import { listChange } from './translator/list-change.js'

/** The routes that go into the snapshot, and what they were found by. */
export interface InService {
  /** By uid. */
  readonly routes: OrderedMap<EdgeRoute>
  readonly seen: Seen
  /** All routes of the source. */
  readonly known: OrderedMap<EdgeRoute>
}

export const nothingInService: InService = {
  routes: emptyOrderedMap,
  seen: { routes: [] },
  known: emptyOrderedMap,
}

/**
 * The same as `routesInService`, by what has changed in the source since it was found before, by reference: as long
 * as an object that is not being deleted stays as it is, it stays in service, or out of it. Costs a comparison for
 * each object, and O(log n) for each that has changed.
 */
export const nextInService = (
  before: InService,
  { records }: Pick<Deletions, 'records'>,
  seen: Seen,
): InService => {
  const routes = listChange(before.seen.routes, seen.routes)
  const objects = listChange(before.seen.objects ?? [], seen.objects ?? [])
  const changedRoutes = new Map<Uid, EdgeRoute | undefined>()
  for (const { metadata } of routes.removed) changedRoutes.set(metadata.uid, undefined)
  for (const route of routes.added) changedRoutes.set(route.metadata.uid, route)
  const changedObjects = new Map<Uid, StoredObject | undefined>()
  for (const { uid } of objects.removed) changedObjects.set(uid, undefined)
  for (const object of objects.added) changedObjects.set(object.uid, object)
  const known = withValues(before.known, changedRoutes)
  if (seen.objects === undefined) return { routes: known, seen, known }
  const edits = new Map<Uid, EdgeRoute | undefined>()
  for (const uid of [...changedRoutes.keys(), ...changedObjects.keys()]) {
    const record = records.get(uid)
    const object = changedObjects.has(uid) ? changedObjects.get(uid) : record?.object
    const sighting = object && sightingOf(object)
    const serves =
      sighting?._tag === 'Live' && isInService(stepLive(record?.state, sighting.isGuarded))
    edits.set(uid, serves ? known.get(uid) : undefined)
  }
  return { routes: withValues(before.routes, edits), seen, known }
}
