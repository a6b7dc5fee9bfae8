import type { DataPlane } from '../core/context.js'
import { defaultDataPlane, type RouteKey, showKey } from '../core/edge-route.js'
import type { StoredObject } from '../core/stored-object.js'
import type { SourceState } from '../ports/route-source.js'

/**
 * What of a state is this control plane's to serve, to write to and to let go of: the objects of its own data planes.
 *
 * Whether the Envoys of another data plane have dropped a route only the control plane that they are connected to can
 * say, and two that write to one status would undo each other's words without end. So an object of a data plane that
 * nobody serves has no conditions, as a Gateway has none whose class nobody implements. A source without objects has
 * no other readers, and keeps all: there an unknown data plane is complained of.
 *
 * The very same state where all is own. Costs O(objects).
 */
export const ownState = (
  state: SourceState,
  dataPlanes: ReadonlyMap<string, DataPlane>,
): SourceState => {
  const { objects } = state
  const isOwn = ({ dataPlane = defaultDataPlane }: StoredObject): boolean =>
    dataPlanes.has(dataPlane)
  if (objects === undefined || objects.every(isOwn)) return state
  const own = objects.filter(isOwn)
  const uids = new Set(own.map(({ uid }) => uid))
  const strange = new Set(objects.filter((each) => !isOwn(each)).map(({ key }) => showKey(key)))
  const isToBeTold = (key: RouteKey | undefined): boolean =>
    key === undefined || !strange.has(showKey(key))
  return {
    ...state,
    objects: own,
    routes: state.routes.filter(({ metadata }) => uids.has(metadata.uid)),
    problems: state.problems.filter(({ key }) => isToBeTold(key)),
  }
}
