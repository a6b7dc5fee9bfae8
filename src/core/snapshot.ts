import * as PM from './persistent-map.js'
import type { Ref, Resource } from './resource.js'
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
 * True if no client would notice the step from one snapshot to the other: every type of every data plane has the
 * version that it had. Who owns what may have changed.
 */
export const isUnchanged = (previous: Snapshot, next: Snapshot): boolean =>
  previous.dataPlanes.size === next.dataPlanes.size &&
  [...next.dataPlanes].every(([name, after]) => {
    const before = previous.dataPlanes.get(name)
    return (
      before !== undefined &&
      typeUrls.every((typeUrl) => versionOf(before[typeUrl]) === versionOf(after[typeUrl]))
    )
  })

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
