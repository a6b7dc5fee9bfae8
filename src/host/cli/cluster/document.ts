import type { StoredObject } from '../../../core/stored-object.js'
import { finalizer } from '../../../core/stored-object.js'
import type { ConditionDocument } from '../../admin/document.js'
import type { ControlPlane } from './control-plane.js'

/** As of the documents of the admin endpoint: a field may be added within a version. */
export const clusterDocumentVersion = 1

interface Document {
  readonly version: typeof clusterDocumentVersion
  /** When this was asked, RFC 3339, by the clock of whoever asked. */
  readonly now: string
  readonly controlPlane: ControlPlane
}

/** What the API server has of the route of a name. */
export interface ClusterRoutesDocument extends Document {
  /** One: an object that has the name now. */
  readonly routes: ReadonlyArray<ClusterRouteDocument>
}

export interface ClusterRouteDocument {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly generation: number
  readonly state: ClusterRouteState
  /** When its deletion was asked for, RFC 3339; absent while it is not. */
  readonly deletionTimestamp: string | undefined
  readonly finalizers: ReadonlyArray<string>
  /** Those of edgewright. */
  readonly conditions: ReadonlyArray<ConditionDocument>
}

export type ClusterRouteState =
  /** It lacks our finalizer, and is not served before it has it. */
  | 'Unguarded'
  /** It is there, and nobody deletes it. */
  | 'Guarded'
  /** It is being deleted, and our finalizer holds it. */
  | 'Terminating'
  /** It is being deleted, and something else than we holds it. */
  | 'Released'

export const clusterRoutesDocument = (
  object: StoredObject,
  controlPlane: ControlPlane,
  now: string,
): ClusterRoutesDocument => ({
  version: clusterDocumentVersion,
  now,
  controlPlane,
  routes: [
    {
      ...object.key,
      uid: object.uid,
      generation: object.generation,
      state: stateOf(object),
      deletionTimestamp: object.deletionTimestamp,
      finalizers: object.finalizers,
      conditions: object.conditions,
    },
  ],
})

/** Where an object stands, as far as itself tells. */
export const stateOf = ({ finalizers, deletionTimestamp }: StoredObject): ClusterRouteState => {
  const isGuarded = finalizers.includes(finalizer)
  if (deletionTimestamp === undefined) return isGuarded ? 'Guarded' : 'Unguarded'
  return isGuarded ? 'Terminating' : 'Released'
}

/** The list of Envoys in a cluster, and what waits for them. */
export interface ClusterNodesDocument extends Document {
  /** Those that hold something up first, then by id. */
  readonly nodes: ReadonlyArray<ClusterNodeDocument>
  /** Routes that wait for Envoys of which their conditions do not name all. */
  readonly partlyNamed: ReadonlyArray<string>
}

export interface ClusterNodeDocument {
  readonly id: string
  readonly dataPlane: string
  /** More than one Envoy has had this id at once. */
  readonly shared: boolean
  /** When it first came, RFC 3339. */
  readonly since: string
  /** The Pod that its id names; absent where it names none. */
  readonly pod: ClusterPodDocument | undefined
  /** The routes that wait for it, as their conditions say. */
  readonly holdsUp: ReadonlyArray<string>
}

export interface ClusterPodDocument {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** `Running`, say; `Gone` where there is no such Pod any more; `Unknown` where nobody could be asked. */
  readonly phase: string
}
