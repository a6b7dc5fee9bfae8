import type { RouteKey } from './edge-route.js'
import type { Uid } from './resource.js'
import type { Condition } from './status.js'

/** Our entry among the finalizers of an object: as long as it is there, the object stays. */
export const finalizer = 'net.10xdev.io/deprogram'

/**
 * The bookkeeping of an object in a store that keeps objects until their finalizers are gone, as
 * Kubernetes does; whether its spec is valid or not.
 */
export interface StoredObject {
  readonly key: RouteKey
  readonly uid: Uid
  readonly generation: number
  /** The fleet that its spec names, valid or not; the default one if absent. It never changes. */
  readonly dataPlane?: string
  /** Changes with each write; a write that names an older one is refused. Opaque. */
  readonly resourceVersion: string
  readonly finalizers: ReadonlyArray<string>
  /** When the deletion was asked for, RFC 3339; it is never taken back. */
  readonly deletionTimestamp?: string
  /** What its status says at the moment. */
  readonly conditions: ReadonlyArray<Condition>
  /**
   * There if its status has conditions of our types, too, that are none of ours: their status is `Unknown`, say, or
   * they name no generation. Somebody else has written them; they go with the next write.
   */
  readonly hasForeignConditions?: true
}
