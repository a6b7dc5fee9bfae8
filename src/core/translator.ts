import type { Context, EndpointSlice, Service } from './context.js'
import type { EdgeRoute } from './edge-route.js'
import { compareStrings } from './order.js'
import { emptyOrderedMap, type OrderedMap, withValues } from './ordered-map.js'
import type { Uid } from './resource.js'
import type { Snapshot, View } from './snapshot.js'
import type { TableForm } from './table-form.js'
import type { Translation } from './translate.js'
import { destinationsBy } from './translate/destinations.js'
import { endpointsBy } from './translate/endpoints.js'
import { type Compiled, rulesOf, verdictOf } from './translate/objects.js'
import { backendIndex } from './translator/backend-index.js'
import { type ListChange, listChange } from './translator/list-change.js'
import { objectIndex } from './translator/object-index.js'
import { type PlaneIndex, planeIndex } from './translator/plane.js'
import type { Acceptance, Verdict } from './verdict.js'

/** What `translate` reads, but for the data planes. */
export interface World {
  readonly routes: ReadonlyArray<EdgeRoute>
  readonly services: ReadonlyArray<Service>
  readonly endpointSlices: ReadonlyArray<EndpointSlice>
}

export const emptyWorld: World = { routes: [], services: [], endpointSlices: [] }

/** What has become of a world: objects are told apart by reference, and never change. */
export type WorldChange = { readonly [Part in keyof World]: ListChange<World[Part][number]> } & {
  /** The form that the tables of a data plane have from now on, by its name; as before where there is none. */
  readonly forms?: ReadonlyMap<string, TableForm>
}

/** What distinguishes two worlds. Costs O(n), by reference, and nothing for a list that is the very same. */
export const worldChange = (before: World, after: World): WorldChange => ({
  routes: listChange(before.routes, after.routes),
  services: listChange(before.services, after.services),
  endpointSlices: listChange(before.endpointSlices, after.endpointSlices),
})

/** `translate`, fed with changes. */
export interface Translator {
  /**
   * Takes in what has changed, and gives the translation of all that there is by now; `changedKeys` says which
   * verdicts are others than before. What is removed must have been
   * added before, the very same: else it throws, and nothing has changed.
   */
  readonly update: (change: WorldChange) => Translation
}

/**
 * Makes a translator of an empty world.
 *
 * After any sequence of changes its translation is, byte for byte, version for version and word for word, what
 * `translate` makes of what is there, in the same forms; and what is as it was before is the very same object: a
 * resource, a type, a data plane, a verdict.
 *
 * An update costs what it touches: the objects that have changed and the claims that they make, everyone who makes
 * the same claims, the virtual hosts in which they stand, the Services that have changed and the objects that name
 * them if those have to hear of it. Beside that, for each touched table a copy of its list of hosts and a digest of
 * theirs: in the sharded form that is one for a host, and all of them for one with a wildcard. Another form costs a
 * look at every fragment. It holds what is there, and nothing of what was.
 *
 * ```ts
 * import assert from 'node:assert/strict'
 * import { changedKeys, defaultContext, type EdgeRoute, emptyWorld, translator, worldChange } from 'edgewright'
 *
 * const route = (name: string): EdgeRoute => ({
 *   metadata: { namespace: 'shop', name, uid: name, generation: 1, finalizers: [] },
 *   spec: { matches: [{ path: { prefix: `/${name}` } }], respond: { code: 410 } },
 * })
 * const { update } = translator(defaultContext.dataPlanes)
 * const one = { ...emptyWorld, routes: [route('a')] }
 * const two = { ...emptyWorld, routes: [...one.routes, route('b')] }
 *
 * const before = update(worldChange(emptyWorld, one))
 * const after = update(worldChange(one, two))
 * assert.deepEqual(changedKeys(before.verdicts, after.verdicts), ['b'])
 * assert.equal(after.verdicts.get('a'), before.verdicts.get('a'))
 * ```
 */
export const translator = (dataPlanes: Context['dataPlanes']): Translator => {
  const backends = backendIndex()
  const objects = objectIndex(dataPlanes)
  const destinations = destinationsBy(dataPlanes, endpointsBy(backends.find))
  const planes = new Map<string, PlaneIndex>()
  for (const [name, plane] of [...dataPlanes].sort(([a], [b]) => compareStrings(a, b)))
    planes.set(name, planeIndex(plane, destinations(name)))
  let snapshot: Snapshot = { dataPlanes: new Map() }
  let verdicts: OrderedMap<Verdict> = emptyOrderedMap
  const verdictOfUid = (uid: Uid): Verdict | undefined => {
    const object = objects.get(uid)
    return object && verdictOf(object, outcomeIn(planes, uid), destinations)
  }
  return {
    update: ({ routes, services, endpointSlices, forms }) => {
      const stray =
        objects.stray(routes.removed) ?? backends.stray(services.removed, endpointSlices.removed)
      if (stray !== undefined) throw new Error(`${stray} ${strayWords}`)
      const touched = backends.update(services, endpointSlices)
      const changed = objects.update(routes)
      const judged = new Set<Uid>(changed.keys())
      const views = new Map<string, View>()
      const hosts = new Map<string, number>()
      for (const [name, plane] of planes) {
        touched.forEach(plane.look)
        for (const [uid, object] of changed) move(plane, name, uid, object)
        const settled = plane.settle(forms?.get(name))
        views.set(name, settled.view)
        hosts.set(name, settled.hosts)
        settled.judged.forEach((uid) => judged.add(uid))
      }
      snapshot = sameSnapshot(snapshot, views)
      verdicts = withVerdicts(verdicts, judged, verdictOfUid)
      return { snapshot, verdicts, hosts }
    },
  }
}

const strayWords =
  'is to be removed and is not there: what is removed is the very object that was added, not one that is equal to it'

/** A translator that can begin anew. */
export interface RenewableTranslator extends Translator {
  /** Forgets everything but the forms, and translates this world. Costs what a translation of everything does. */
  readonly renew: (world: World) => Translation
}

/** Makes a renewable translator of an empty world. */
export const renewableTranslator = (dataPlanes: Context['dataPlanes']): RenewableTranslator => {
  let current = translator(dataPlanes)
  const forms = new Map<string, TableForm>()
  return {
    update: (change) => {
      const translation = current.update(change)
      for (const [name, form] of change.forms ?? []) forms.set(name, form)
      return translation
    },
    renew: (world) => {
      current = translator(dataPlanes)
      return current.update({ ...worldChange(emptyWorld, world), forms })
    },
  }
}

/** The rules of an object take the place of those that it had in this data plane. */
const move = (plane: PlaneIndex, name: string, uid: Uid, object: Compiled | undefined): void => {
  plane.leave(uid)
  const rules = object === undefined ? [] : rulesOf(object)
  const own = rules.filter(({ dataPlane }) => dataPlane === name)
  if (own.length > 0) plane.enter(uid, own)
}

const outcomeIn = (planes: ReadonlyMap<string, PlaneIndex>, uid: Uid): Acceptance | undefined => {
  let found: Acceptance | undefined
  for (const plane of planes.values()) found = plane.outcome(uid) ?? found
  return found
}

const sameSnapshot = (before: Snapshot, views: ReadonlyMap<string, View>): Snapshot =>
  before.dataPlanes.size === views.size &&
  [...views].every(([name, view]) => before.dataPlanes.get(name) === view)
    ? before
    : { dataPlanes: views }

/** Verdicts are plain data, and are always put together in the same order of fields. */
const withVerdicts = (
  verdicts: OrderedMap<Verdict>,
  judged: ReadonlySet<Uid>,
  verdictOfUid: (uid: Uid) => Verdict | undefined,
): OrderedMap<Verdict> => {
  const changed = new Map<Uid, Verdict | undefined>()
  for (const uid of judged) {
    const before = verdicts.get(uid)
    const after = verdictOfUid(uid)
    if (before === undefined || JSON.stringify(before) !== JSON.stringify(after))
      changed.set(uid, after)
  }
  return withValues(verdicts, changed)
}
