import { isList, isObject, type JsonObject, objectIn, textIn } from '../informers/index.js'

/** What is kept of a Pod. */
export interface SeenPod {
  readonly uid: string
  /** Why nothing of it runs any more, and never will; `undefined` if something may. */
  readonly finished: string | undefined
}

/** Reads a Pod; `before` is what the same one was. */
export const seePod = (pod: JsonObject, before: SeenPod | undefined): SeenPod => {
  const seen = { uid: textIn(objectIn(pod, 'metadata'), 'uid') ?? '', finished: finishedOf(pod) }
  return before?.uid === seen.uid && before.finished === seen.finished ? before : seen
}

/**
 * Why nothing of a Pod runs any more; `undefined` if something may.
 *
 * A phase alone does not tell: the control plane of Kubernetes gives up a Pod on a machine that cannot be reached by
 * writing `Failed`, and what runs there runs on. So each container of which there is a status must have terminated,
 * and each of the Pod must have one. None at all has a Pod that was evicted or refused before anything was started, or
 * by a kubelet that says no more than that it has ended all of them.
 */
const finishedOf = (pod: JsonObject): string | undefined => {
  const status = objectIn(pod, 'status')
  const phase = textIn(status, 'phase')
  if (phase !== 'Succeeded' && phase !== 'Failed') return undefined
  const statuses = statusFields.map((field) => itemsIn(status, field))
  if (!statuses.every((items) => items !== undefined)) return undefined
  const all = statuses.flat()
  const specified = itemsIn(objectIn(pod, 'spec'), 'containers') ?? []
  const isWhole = all.length === 0 || (statuses[0]?.length ?? 0) >= specified.length
  if (!isWhole || !all.every(hasTerminated)) return undefined
  const reason = textIn(status, 'reason')
  return reason === undefined ? phase : `${phase}, ${reason}`
}

const statusFields = [
  'containerStatuses',
  'initContainerStatuses',
  'ephemeralContainerStatuses',
] as const

/** `undefined` where there is something that is no list of objects. */
const itemsIn = (object: JsonObject, field: string): ReadonlyArray<JsonObject> | undefined => {
  const items = object[field] ?? []
  return isList(items) && items.every(isObject) ? items : undefined
}

const hasTerminated = (container: JsonObject): boolean => {
  const state = objectIn(container, 'state')
  return isObject(state.terminated) && state.running === undefined && state.waiting === undefined
}
