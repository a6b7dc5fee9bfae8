import type { Uid } from '../../core/resource.js'
import { emptyOrderedMap, lastValue, type OrderedMap, withValues } from '../../core/ordered-map.js'
import type { VerdictChange } from './verdict-changes.js'
import { refusedListener } from './words.js'

/** Listeners that Envoys refuse, each with what the verdict of every route says that it is to carry, by uid. */
export type ListenerComplaints = OrderedMap<Carried>

type Carried = OrderedMap<string>

/** A listener is one complaint, however many routes it carries: it goes with the last of them. Costs O(d log n). */
export const complaintsOfListeners = (
  before: ListenerComplaints,
  changes: ReadonlyArray<VerdictChange>,
): ListenerComplaints => {
  const edits = new Map<string, Map<Uid, string | undefined>>()
  const edit = (where: string, uid: Uid, message: string | undefined): void => {
    const ofListener = edits.get(where) ?? new Map<Uid, string | undefined>()
    edits.set(where, ofListener.set(uid, message))
  }
  for (const { uid, ...change } of changes) {
    const was = change.before && refusedListener(change.before)
    const is = change.after && refusedListener(change.after)
    if (was !== undefined) edit(was.where, uid, undefined)
    if (is !== undefined) edit(is.where, uid, is.message)
  }
  const after = (where: string, values: ReadonlyMap<Uid, string | undefined>) => {
    const carried = withValues<string>(before.get(where) ?? emptyOrderedMap, values)
    return carried.size === 0 ? undefined : carried
  }
  return withValues(before, new Map([...edits].map(([where, of]) => [where, after(where, of)])))
}

/** What is said of a listener, and beside which route. */
export interface ListenerComplaint {
  readonly message: string
  /** The first route that it is to carry. */
  readonly uid: Uid
}

/** It is said what the last of its routes says. Costs O(log n). */
export const listenerComplaint = (
  complaints: ListenerComplaints,
  where: string,
): ListenerComplaint | undefined => {
  const carried = complaints.get(where)
  const [uid] = carried?.keys() ?? []
  const message = carried && lastValue(carried)
  return uid === undefined || message === undefined ? undefined : { uid, message }
}
