import { showKey } from '../core/edge-route.js'
import { compareStrings } from '../core/order.js'
import { changedKeys, emptyOrderedMap, type OrderedMap, withValues } from '../core/ordered-map.js'
import type { Uid } from '../core/resource.js'
import type { Verdict } from '../core/verdict.js'
import type { SourceProblem } from '../ports/route-source.js'
import { type JudgedNames, judgedNames } from './complaints/judged-names.js'
import {
  complaintsOfListeners,
  listenerComplaint,
  type ListenerComplaints,
} from './complaints/of-listeners.js'
import {
  complaintsOfSource,
  nothingOfSource,
  type SourceComplaints,
} from './complaints/of-source.js'
import { verdictChanges } from './complaints/verdict-changes.js'
import { verdictWords } from './complaints/words.js'
import type { Verdicts } from './programmed-verdicts.js'

/** Something that is not as its author wants it. */
export interface Complaint {
  /**
   * A place in a source that cannot be read, an object that is not served as it stands there, or a listener
   * that an Envoy refuses.
   */
  readonly about: 'source' | 'route' | 'listener'
  /** The place in words of the source, the object's name, or the listener with its data plane. */
  readonly where: string
  readonly message: string
}

/**
 * All complaints of one state of the world. Each kind has its own keys: a place may be called as an object is, and two
 * objects may have one name.
 */
export interface Complaints {
  readonly verdicts: Verdicts
  readonly names: JudgedNames
  readonly ofSource: SourceComplaints
  readonly ofRoutes: OrderedMap<Complaint>
  readonly ofListeners: ListenerComplaints
}

export const noComplaints: Complaints = {
  verdicts: emptyOrderedMap,
  names: emptyOrderedMap,
  ofSource: nothingOfSource,
  ofRoutes: emptyOrderedMap,
  ofListeners: emptyOrderedMap,
}

/**
 * The complaints of the next state of the world: the same, whatever the state before.
 *
 * Costs O(d log n) for d verdicts that are not the very same, and O(problems) where `complaintsOfSource` says so.
 */
export const complaintsAfter = (
  before: Complaints,
  problems: ReadonlyArray<SourceProblem>,
  verdicts: Verdicts,
): Complaints => {
  const changes = verdictChanges(before.verdicts, verdicts)
  const names = judgedNames(before.names, changes)
  const ofRoutes = changes.map(({ uid, after }) => [uid, after && routeComplaint(after)] as const)
  return {
    verdicts,
    names,
    ofSource: complaintsOfSource(before, problems, names),
    ofRoutes: withValues(before.ofRoutes, new Map(ofRoutes)),
    ofListeners: complaintsOfListeners(before.ofListeners, changes),
  }
}

const routeComplaint = (verdict: Verdict): Complaint | undefined => {
  const message = verdictWords(verdict)
  return message === undefined
    ? undefined
    : { about: 'route', where: showKey(verdict.key), message }
}

export interface ComplaintChanges {
  /** New ones, and those whose message is another one now. */
  readonly appeared: ReadonlyArray<Complaint>
  /** Those that have no cause any more. */
  readonly gone: ReadonlyArray<GoneComplaint>
}

export interface GoneComplaint extends Complaint {
  /** Whether somebody still wants what it was about: an object that is deleted was not mended. */
  readonly isWanted: boolean
}

/**
 * What to tell a person who knows the previous complaints: first of the source, in its order, then of the objects in
 * the order of their uids, a listener before the first of its routes. Costs O(d log n) where one was made of the
 * other, and O(problems) where those are told anew.
 */
export const changesOf = (previous: Complaints, next: Complaints): ComplaintChanges => ({
  appeared: saidOnlyIn(next, previous).map(({ complaint }) => complaint),
  gone: saidOnlyIn(previous, next).flatMap(({ complaint, object, other }) =>
    other === undefined ? { ...complaint, isWanted: isWantedIn(next, object) } : [],
  ),
})

/** A place or a listener that nobody complains of is as good as mended. */
const isWantedIn = ({ verdicts }: Complaints, object: Uid | undefined): boolean => {
  if (object === undefined) return true
  const verdict = verdicts.get(object)
  return verdict !== undefined && verdict.accepted._tag !== 'Terminating'
}

interface Said {
  readonly complaint: Complaint
  /** The object that it is about; `undefined` where it is about a place or a listener. */
  readonly object: Uid | undefined
  /** What is said of the same in the other state, if anything is. */
  readonly other: string | undefined
}

/** What is said in a state, and not in the same words in the other one, in the order of the former. */
const saidOnlyIn = (state: Complaints, other: Complaints): ReadonlyArray<Said> =>
  [
    ...ofSource(state.ofSource, other.ofSource),
    ...[...ofListeners(state.ofListeners, other.ofListeners), ...ofRoutes(state, other)]
      // It is stable: of one uid the listener stays before the route.
      .sort((a, b) => compareStrings(a.uid, b.uid)),
  ].filter(({ complaint, other: words }) => complaint.message !== words)

const ofSource = (state: SourceComplaints, other: SourceComplaints): ReadonlyArray<Said> =>
  state === other
    ? []
    : [...state.messages].map(([where, message]) => ({
        complaint: { about: 'source', where, message },
        object: undefined,
        other: other.messages.get(where),
      }))

type SaidAt = Said & { readonly uid: Uid }

const ofListeners = (state: ListenerComplaints, other: ListenerComplaints): ReadonlyArray<SaidAt> =>
  changedKeys(other, state).flatMap((where): ReadonlyArray<SaidAt> => {
    const said = listenerComplaint(state, where)
    if (said === undefined) return []
    const { uid, message } = said
    const complaint: Complaint = { about: 'listener', where, message }
    return [{ uid, complaint, object: undefined, other: listenerComplaint(other, where)?.message }]
  })

const ofRoutes = (state: Complaints, other: Complaints): ReadonlyArray<SaidAt> =>
  changedKeys(other.ofRoutes, state.ofRoutes).flatMap((uid): ReadonlyArray<SaidAt> => {
    const complaint = state.ofRoutes.get(uid)
    return complaint === undefined
      ? []
      : [{ uid, complaint, object: uid, other: other.ofRoutes.get(uid)?.message }]
  })
