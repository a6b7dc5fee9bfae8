import * as PM from './persistent-map.js'
import { haveSameOwners, type Ref, type Resource } from './resource.js'
import { perType, type TypeUrl, typeUrls } from './type-url.js'

/** The resources of one type, by name. Its digest is the type's version. */
export type Resources = PM.PersistentMap<Resource>

/** What the Envoys of one data plane are to hold: resources by type. */
export type View = Readonly<Record<TypeUrl, Resources>>

/** What every data plane is to hold, by the data plane's name. */
export interface Snapshot {
  readonly dataPlanes: ReadonlyMap<string, View>
}

export const emptyView: View = perType(() => undefined)

export const emptySnapshot: Snapshot = { dataPlanes: new Map() }

/** The view of a data plane; nothing at all of one that the snapshot does not know. */
export const viewOf = (snapshot: Snapshot, dataPlane: string): View =>
  snapshot.dataPlanes.get(dataPlane) ?? emptyView

/** Makes a view of plain lists of resources. Costs O(n log n). */
export const view = (resources: Partial<Record<TypeUrl, Iterable<Resource>>>): View =>
  perType((typeUrl) => PM.fromEntries(resources[typeUrl] ?? []))

/** The version of a type: a digest of the names and versions of its resources. */
export const versionOf = (resources: Resources): string => PM.digestOf(resources)

/**
 * The next snapshot, made of everything in the previous one that is still the same: an unchanged resource,
 * type or data plane is the same reference, and so is the whole if nothing has changed.
 *
 * What is the same has the same version, and the same objects stand in it. Costs O(n log n) in the number
 * of resources, and a look at every fragment of every table.
 */
export const reuse = (previous: Snapshot, next: Snapshot): Snapshot => {
  const dataPlanes = new Map<string, View>()
  for (const [name, after] of next.dataPlanes) {
    const before = previous.dataPlanes.get(name)
    dataPlanes.set(name, before === undefined ? after : reuseView(before, after))
  }
  const isSame =
    dataPlanes.size === previous.dataPlanes.size &&
    [...dataPlanes].every(([name, kept]) => kept === previous.dataPlanes.get(name))
  return isSame ? previous : { dataPlanes }
}

/** `reuse`, of one data plane. */
export const reuseView = (before: View, after: View): View => {
  const kept = perType((typeUrl) => reuseResources(before[typeUrl], after[typeUrl]))
  return typeUrls.every((typeUrl) => kept[typeUrl] === before[typeUrl]) ? before : kept
}

const reuseResources = (before: Resources, after: Resources): Resources => {
  const changed = PM.diff(before, after).reduce(
    (kept, difference) =>
      difference.after === undefined
        ? PM.remove(kept, difference.name)
        : PM.set(kept, difference.after),
    before,
  )
  return [...PM.entries(after)].reduce((kept, resource) => {
    const old = PM.get(kept, resource.name)
    return old === undefined || haveSameOwners(old, resource) ? kept : PM.set(kept, resource)
  }, changed)
}

/** A reference that leads nowhere. */
export interface DanglingRef {
  readonly from: Ref
  readonly to: Ref
}

/**
 * The references of a view to resources that it does not hold; none in what `translate` makes.
 * (go-control-plane calls a snapshot without any consistent.)
 */
export const danglingRefs = (of: View): ReadonlyArray<DanglingRef> =>
  typeUrls.flatMap((typeUrl) =>
    [...PM.entries(of[typeUrl])].flatMap((resource) =>
      resource.refs
        .filter((ref) => PM.get(of[ref.typeUrl], ref.name) === undefined)
        .map((to) => ({ from: { typeUrl, name: resource.name }, to })),
    ),
  )
