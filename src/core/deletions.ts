import {
  type DeletionFact,
  type DeletionState,
  type Evidence,
  isInService,
  nextDeletionTimer,
  noteForgotten as noteForgottenOf,
  noteWrite,
  type Sighting,
  stepDeletion,
  stepLive,
  type Write,
} from './deletion.js'
import type { EdgeRoute, RouteKey } from './edge-route.js'
import { listChange } from './translator/list-change.js'
import { emptyOrderedMap, type OrderedMap, withValues } from './ordered-map.js'
import type { Uid } from './resource.js'
import { finalizer, type StoredObject } from './stored-object.js'

/** Where every object stands between its source and the Envoys, by uid. */
export interface Deletions {
  readonly records: OrderedMap<DeletionRecord>
  /** Those that are neither served nor waiting to be, and not seen to be free of us: what Envoys say may move them. */
  readonly pending: ReadonlySet<Uid>
  /** What was taken in last. */
  readonly seen: Seen
}

export interface DeletionRecord {
  readonly key: RouteKey
  readonly uid: Uid
  readonly generation: number
  /** What was seen last; `undefined` in a source without finalizers. */
  readonly object: StoredObject | undefined
  readonly state: DeletionState
}

export const noDeletions: Deletions = {
  records: emptyOrderedMap,
  pending: new Set(),
  seen: { routes: [] },
}

/** What a source has, as far as deletions care. */
export interface Seen {
  readonly routes: ReadonlyArray<EdgeRoute>
  /** Absent from a source without finalizers. */
  readonly objects?: ReadonlyArray<StoredObject>
}

/** What is to be told, of which object. */
export interface RecordedFact {
  readonly record: Pick<DeletionRecord, 'key' | 'uid' | 'generation'>
  readonly fact: DeletionFact
}

export type DeletionsStep = readonly [state: Deletions, facts: ReadonlyArray<RecordedFact>]

/** Says of an object whether any Envoy may still serve it. */
export type EvidenceOf = (uid: Uid) => Evidence

/**
 * The routes that go into the snapshot, once this is seen: those that nobody deletes, and that our finalizer
 * holds, or did. To be published before `observe` asks for evidence. Costs O(routes); `nextInService` finds the
 * same by what has changed.
 */
export const routesInService = ({ records }: Deletions, seen: Seen): ReadonlyArray<EdgeRoute> => {
  if (seen.objects === undefined) return seen.routes
  const served = new Set<Uid>()
  for (const object of seen.objects) {
    const sighting = sightingOf(object)
    if (sighting._tag !== 'Live') continue
    const state = stepLive(records.get(object.uid)?.state, sighting.isGuarded)
    if (isInService(state)) served.add(object.uid)
  }
  return seen.routes.filter(({ metadata }) => served.has(metadata.uid))
}

/**
 * Takes in the whole state of a source. What is no more there was deleted; in a source without finalizers it
 * then waits, as if one held it. What has not changed is the same reference.
 *
 * Objects are compared by reference, with those of the last state: one that is the very same is looked at only as
 * long as it waits for Envoys, since nothing else can move it. Costs a comparison for each object, and else what
 * has changed or waits.
 */
export const observe = (
  before: Deletions,
  seen: Seen,
  evidenceOf: EvidenceOf,
  nowMs: number,
): DeletionsStep => {
  const { come, left } = changesIn(before.seen, seen)
  const uids = new Set(come.map(({ uid }) => uid))
  const gone: Sighting = seen.objects === undefined ? { _tag: 'Terminating' } : { _tag: 'Absent' }
  const missing = recordsOf(before, left)
    .filter(({ uid }) => !uids.has(uid))
    .map((record) => ({ ...record, sighting: gone }))
  for (const uid of left) uids.add(uid)
  const waiting = recordsOf(before, before.pending)
    .filter(({ uid }) => !uids.has(uid))
    .map((record) =>
      record.object === undefined ? { ...record, sighting: gone } : stored(record.object),
    )
  const [next, facts] = stepAll(before, [...come, ...missing, ...waiting], evidenceOf, nowMs)
  return [come.length + left.length === 0 ? next : { ...next, seen }, facts]
}

/** What is there for the first time in this form, and the uids of what is there no more. */
const changesIn = (
  before: Seen,
  now: Seen,
): { readonly come: ReadonlyArray<Spotted>; readonly left: ReadonlyArray<Uid> } => {
  if (now.objects === undefined) {
    const { added, removed } = listChange(before.routes, now.routes)
    return { come: added.map(plain), left: removed.map(({ metadata }) => metadata.uid) }
  }
  const { added, removed } = listChange(before.objects ?? [], now.objects)
  return { come: added.map(stored), left: removed.map(({ uid }) => uid) }
}

const recordsOf = ({ records }: Deletions, uids: Iterable<Uid>): ReadonlyArray<DeletionRecord> =>
  [...uids].flatMap((uid) => records.get(uid) ?? [])

/**
 * Asks the Envoys again about what waits for them, or about a single object if it does. Costs O(those) times what
 * the evidence costs, and O(objects) where that changes something; where it changes nothing the result is the
 * same reference.
 */
export const lookAgain = (
  before: Deletions,
  evidenceOf: EvidenceOf,
  nowMs: number,
  only?: Uid,
): DeletionsStep => {
  const asked =
    only === undefined ? before.pending : [only].filter((uid) => before.pending.has(uid))
  const waiting = [...asked].flatMap((uid) => {
    const record = before.records.get(uid)
    return record === undefined || record.state._tag === 'Released' ? [] : [record]
  })
  const sighting: Sighting = { _tag: 'Terminating' }
  return stepAll(
    before,
    waiting.map((record) => ({ ...record, sighting })),
    evidenceOf,
    nowMs,
  )
}

/** Those that have this name, or had it: a new object may be there while the old one is going. Costs O(objects). */
export const recordsNamed = (
  { records }: Deletions,
  { namespace, name }: RouteKey,
): ReadonlyArray<DeletionRecord> =>
  [...records.values()].filter(({ key }) => key.namespace === namespace && key.name === name)

/** Notes how a write to an object went. */
export const noteWritten = (
  before: Deletions,
  uid: Uid,
  write: Write,
  failure: string | undefined,
): Deletions => {
  const record = before.records.get(uid)
  if (record === undefined) return before
  const state = noteWrite(record.state, write, failure)
  if (state === record.state) return before
  return { ...before, records: withValues(before.records, new Map([[uid, { ...record, state }]])) }
}

/** Notes that Envoys were forgotten; `idsOf` names those of them that had not confirmed an object. */
export const noteForgotten = (
  before: Deletions,
  idsOf: (uid: Uid) => ReadonlyArray<string>,
): Deletions => {
  const noted = new Map<Uid, DeletionRecord>()
  for (const uid of before.pending) {
    const record = before.records.get(uid)
    if (record === undefined) continue
    const state = noteForgottenOf(record.state, idsOf(uid))
    if (state !== record.state) noted.set(uid, { ...record, state })
  }
  return noted.size === 0 ? before : { ...before, records: withValues(before.records, noted) }
}

/** Waits no more for an object in a source without finalizers: somebody wants it so. */
export const breakGlass = (before: Deletions, uid: Uid, evidenceOf: EvidenceOf): DeletionsStep => {
  const record = before.records.get(uid)
  return record === undefined || record.object !== undefined || !before.pending.has(uid)
    ? [before, []]
    : stepAll(before, [{ ...record, sighting: { _tag: 'Absent' } }], evidenceOf, 0)
}

/** When something may change although nothing happens, in milliseconds. */
export const nextDeletionsTimer = ({ records, pending }: Deletions): number | undefined => {
  let first: number | undefined
  for (const uid of pending) {
    const record = records.get(uid)
    const at = record && nextDeletionTimer(record.state)
    if (at !== undefined && (first === undefined || at < first)) first = at
  }
  return first
}

type Spotted = Omit<DeletionRecord, 'state'> & { readonly sighting: Sighting }

const plain = ({ metadata: { namespace, name, uid, generation } }: EdgeRoute): Spotted => ({
  key: { namespace, name },
  uid,
  generation,
  object: undefined,
  sighting: { _tag: 'Plain' },
})

const stored = (object: StoredObject): Spotted => ({
  key: object.key,
  uid: object.uid,
  generation: object.generation,
  object,
  sighting: sightingOf(object),
})

export const sightingOf = ({ finalizers, deletionTimestamp }: StoredObject): Sighting => {
  const isGuarded = finalizers.includes(finalizer)
  if (deletionTimestamp === undefined) return { _tag: 'Live', isGuarded }
  return { _tag: isGuarded ? 'Terminating' : 'Freed' }
}

const stepAll = (
  before: Deletions,
  spotted: ReadonlyArray<Spotted>,
  evidenceOf: EvidenceOf,
  nowMs: number,
): DeletionsStep => {
  const facts: Array<RecordedFact> = []
  const records = new Map<Uid, DeletionRecord | undefined>()
  const pending = draftOf(before.pending, (known) => new Set(known))
  for (const { sighting, key, uid, generation, object } of spotted) {
    const known = before.records.get(uid)
    if (sighting._tag !== 'Absent' && isOlderThanRelease(known, object)) continue
    const [state, told] = stepDeletion(known?.state, sighting, () => evidenceOf(uid), nowMs)
    for (const fact of told) facts.push({ record: { key, uid, generation }, fact })
    // Nothing holds an object in a source without finalizers: once it is proven gone, it is.
    const isOver = state === undefined || (state._tag === 'Releasing' && object === undefined)
    if (isOver) {
      if (known !== undefined) records.set(uid, undefined)
    } else if (known?.state !== state || known.object !== object)
      records.set(uid, { key, uid, generation, object, state })
    const isWaited = !isOver && isPending(state, object)
    if (isWaited === before.pending.has(uid)) continue
    if (isWaited) pending.draft().add(uid)
    else pending.draft().delete(uid)
  }
  const next = {
    records: withValues(before.records, records),
    pending: pending.result(),
    seen: before.seen,
  }
  const isSame = next.records === before.records && next.pending === before.pending
  return [isSame ? before : next, facts]
}

/** What is seen of an object that was released may be what it was before: only another version says more. */
const isOlderThanRelease = (
  known: DeletionRecord | undefined,
  object: StoredObject | undefined,
): boolean =>
  known?.state._tag === 'Released' &&
  object !== undefined &&
  known.object?.resourceVersion === object.resourceVersion

/** What is released counts until it is seen without our finalizer, or is gone. */
const isPending = (state: DeletionState | undefined, object: StoredObject | undefined): boolean => {
  switch (state?._tag) {
    case 'Waiting':
    case 'Settling':
    case 'Releasing':
      return true
    case 'Released':
      return object?.finalizers.includes(finalizer) === true
    case undefined:
    case 'Guarding':
    case 'Serving':
      return false
  }
}

interface Draft<A, B extends A> {
  readonly draft: () => B
  readonly result: () => A
}

/** What is copied when it is changed first: most looks change nothing, and a copy costs O(objects). */
const draftOf = <A, B extends A>(before: A, copy: (before: A) => B): Draft<A, B> => {
  let copied: B | undefined
  return { draft: () => (copied ??= copy(before)), result: () => copied ?? before }
}
