import type { DataPlane } from '../core/context.js'
import { defaultDataPlane, showKey } from '../core/edge-route.js'
import { listChange } from '../core/translator/list-change.js'
import type { SourceState } from '../ports/route-source.js'
import type { Reconciled } from './reconcile.js'

/**
 * What of a state is this control plane's to serve, to write to and to let go of: the objects of its own data planes.
 *
 * Whether the Envoys of another data plane have dropped a route only the control plane that they are connected to can
 * say, and two that write to one status would undo each other's words without end. So an object of a data plane that
 * nobody serves has no conditions, as a Gateway has none whose class nobody implements. A source without objects has
 * no other readers, and keeps all: there an unknown data plane is complained of.
 *
 * The very same state where all is own. `before` is what the state before this one was, and what of it was own: as
 * long as all is, it costs a comparison for each object, by reference; else O(objects).
 */
export const ownState = (
  state: SourceState,
  dataPlanes: ReadonlyMap<string, DataPlane>,
  before: Pick<Reconciled, 'given' | 'seen'>,
): SourceState => {
  const { objects } = state
  if (objects === undefined) return state
  const wasAllOwn = before.given !== undefined && before.given === before.seen
  const known = wasAllOwn ? (before.given.objects ?? []) : []
  const strange = listChange(known, objects).added.filter(
    ({ dataPlane = defaultDataPlane }) => !dataPlanes.has(dataPlane),
  )
  if (strange.length === 0) return state
  const uids = new Set(strange.map(({ uid }) => uid))
  const names = new Set(strange.map(({ key }) => showKey(key)))
  return {
    ...state,
    objects: objects.filter(({ uid }) => !uids.has(uid)),
    routes: state.routes.filter(({ metadata }) => !uids.has(metadata.uid)),
    problems: state.problems.filter(({ key }) => key === undefined || !names.has(showKey(key))),
  }
}
