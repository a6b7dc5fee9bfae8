import * as PM from '../../src/core/persistent-map.js'
import { type Resources, type Snapshot, viewOf } from '../../src/core/snapshot.js'
import { isFullState } from '../../src/core/type-url.js'
import type { DeltaRequest, DiscoveryRequest } from '../../src/core/xds/messages.js'
import { covers } from '../support/ideal-interest.js'
import { dataPlane, type Short, shorts, types } from '../support/xds.js'

/** What can be known of one type on a stream by listening to it. */
export interface Known {
  isOpen: boolean
  /** What the server was asked for last. */
  asked: ReadonlySet<string>
  /** Names were given: from then on no names mean nothing. */
  isNamed: boolean
  nonce: string
  unanswered: boolean
  /** Something has happened since the last response that may be a reason for another one. */
  hasReason: boolean
  /** An empty response is due: everything was asked for. */
  mayBeEmpty: boolean
  /** Name → the version that was said last, `gone` for a removal. */
  said: Map<string, string>
  /** Names that are due though they were said before; `*` for all. */
  dueAgain: Set<string>
}

export type KnownByType = Readonly<{ [short in Short]: Known }>

const nothing = (): Known => ({
  isOpen: false,
  asked: new Set(),
  isNamed: false,
  nonce: '',
  unanswered: false,
  hasReason: false,
  mayBeEmpty: false,
  said: new Map(),
  dueAgain: new Set(),
})

export const nothingKnown = (): KnownByType => ({
  cds: nothing(),
  eds: nothing(),
  lds: nothing(),
  rds: nothing(),
})

export const publishedOf = (snapshot: Snapshot | undefined, short: Short): Resources =>
  snapshot === undefined ? undefined : viewOf(snapshot, dataPlane)[types[short]]

/** A type whose resources have changed has a reason to say so. */
export const notePublished = (
  known: KnownByType,
  before: Snapshot | undefined,
  after: Snapshot,
): void => {
  for (const short of shorts) {
    const [old, now] = [publishedOf(before, short), publishedOf(after, short)]
    if (before === undefined || PM.digestOf(old) !== PM.digestOf(now)) known[short].hasReason = true
  }
}

/** State of the world does not say that endpoints or routes have gone: what comes back is news. */
export const forgetGone = (known: KnownByType, snapshot: Snapshot): void => {
  for (const short of shorts.filter((each) => !isFullState(types[each])))
    for (const name of known[short].said.keys())
      if (PM.get(publishedOf(snapshot, short), name) === undefined) known[short].said.delete(name)
}

/**
 * Says whether a request may have a response: a stale one has none of its own.
 *
 * Its names count if it has crossed the response that is out; in delta they count always.
 */
export const noteRequest = (known: Known, request: DiscoveryRequest, repeats: boolean): boolean => {
  const isFirst = !known.isOpen
  const isCurrent = request.responseNonce === known.nonce
  const isSotw = request._tag === 'Sotw'
  known.isOpen = true
  const isNoise = known.nonce !== '' && !known.unanswered
  if (isSotw && !isFirst && !isCurrent && isNoise) return false
  if (isCurrent) known.unanswered = false
  const before = known.asked
  if (isSotw) noteNames(known, request.resourceNames, isFirst)
  else noteChange(known, request, isFirst)
  noteAsked(known, before)
  if (isSotw && repeats) {
    known.hasReason = true
    known.dueAgain = new Set(request.resourceNames)
  }
  return isFirst || isCurrent || (!isSotw && changesNames(request))
}

const changesNames = ({ subscribe, unsubscribe }: DeltaRequest): boolean =>
  subscribe.length > 0 || unsubscribe.length > 0

const noteAsked = (known: Known, before: ReadonlySet<string>): void => {
  const { asked, said } = known
  for (const name of asked) if (!before.has(name)) known.hasReason = true
  for (const name of said.keys()) if (!covers(asked, name)) said.delete(name)
  if (asked.has('*') && !before.has('*')) known.mayBeEmpty = true
  if (!asked.has('*')) known.mayBeEmpty = false
}

/** State of the world: the names replace those before. */
const noteNames = (known: Known, names: ReadonlyArray<string>, isFirst: boolean): void => {
  const before = known.asked
  const isEverything = names.length === 0 && !known.isNamed && (isFirst || before.has('*'))
  known.isNamed ||= names.length > 0
  known.asked = new Set(isEverything ? ['*'] : names)
  for (const name of known.asked) if (!before.has(name)) known.dueAgain.add(name)
}

/** Delta: whatever is asked for is due, and so is what is given up while everything is asked for. */
const noteChange = (known: Known, request: DeltaRequest, isFirst: boolean): void => {
  const { subscribe, unsubscribe, initialResourceVersions } = request
  const before = known.asked
  const kept = [...before].filter((name) => !unsubscribe.includes(name))
  const isEverything = isFirst && subscribe.length === 0
  known.asked = new Set([...kept, ...(isEverything ? ['*'] : subscribe)])
  const isAll = known.asked.has('*')
  const givenUp = unsubscribe.filter((name) => isAll && before.has(name))
  const gained = isAll && !before.has('*') ? ['*'] : []
  const due = [...subscribe.filter((name) => name !== '*'), ...givenUp, ...gained]
  if (due.length > 0) known.hasReason = true
  if (isFirst) known.said = new Map(initialResourceVersions)
  if (initialResourceVersions.size === 0) for (const name of due) known.dueAgain.add(name)
}
