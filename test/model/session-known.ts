import * as PM from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import { type Resources, type Snapshot, viewOf } from '../../src/core/snapshot.js'
import { isFullState } from '../../src/core/type-url.js'
import type { DeltaRequest, DiscoveryRequest, Response } from '../../src/core/xds/messages.js'
import { covers } from '../support/ideal-interest.js'
import { dataPlane, noEndpoints, type Short, shorts, types } from '../support/xds.js'

/** What can be known of one type on a stream by listening to it. */
export interface Known {
  isOpen: boolean
  /** What the server was asked for last. */
  asked: ReadonlySet<string>
  /** Names were given: from then on no names mean nothing. */
  isNamed: boolean
  nonce: string
  /** The responses that have no answer, oldest first. */
  out: ReadonlyArray<Out>
  /** It was sent something of this type on this stream, and has accepted it. */
  hasAccepted: boolean
  /** A response has waited too long on this stream. */
  hasStalled: boolean
  /** It has refused something that cannot be searched, and has accepted nothing since. */
  isExcused: boolean
  /** Something was refused on this stream, or has waited too long: older forms may be sent again. */
  isDisturbed: boolean
  /** An empty response is due: everything was asked for. */
  mayBeEmpty: boolean
  /** Name → the version that was said last, `gone` for a removal. */
  said: Map<string, string>
  /** Name → the version that was accepted last, save what was refused since. */
  held: Map<string, string>
  /** What this very request has refused: one alone, or several that were all accepted before. */
  refusedAlone: ReadonlySet<string>
  /** `name version` of all that was ever accepted, on earlier streams too. */
  readonly accepted: Set<string>
  /** When what was refused alone was refused last, by `name version`: not to be said again. */
  readonly banned: Map<string, number>
  /** What it has refused though it had accepted it before: nothing can be found out about that. */
  readonly balked: Set<string>
  /** What was refused alone, whatever came after that. */
  readonly convictable: Set<string>
  /** Names that are due though they were said before; `*` for all. */
  dueAgain: Set<string>
}

export interface Out {
  readonly response: Response
  readonly sentAt: number
  /** It has waited too long for its answer. */
  readonly isStalled: boolean
}

export type KnownByType = Readonly<{ [short in Short]: Known }>

const nothing = (): Known => ({
  isOpen: false,
  asked: new Set(),
  isNamed: false,
  nonce: '',
  out: [],
  hasAccepted: false,
  hasStalled: false,
  isExcused: false,
  isDisturbed: false,
  mayBeEmpty: false,
  said: new Map(),
  held: new Map(),
  refusedAlone: new Set(),
  accepted: new Set(),
  banned: new Map(),
  balked: new Set(),
  convictable: new Set(),
  dueAgain: new Set(),
})

export const nothingKnown = (): KnownByType => ({
  cds: nothing(),
  eds: nothing(),
  lds: nothing(),
  srds: nothing(),
  rds: nothing(),
})

export const publishedOf = (snapshot: Snapshot | undefined, short: Short): Resources =>
  snapshot === undefined ? undefined : viewOf(snapshot, dataPlane)[types[short]]

/** State of the world does not say that endpoints or routes have gone: what comes back is news. */
export const forgetGone = (known: KnownByType, snapshot: Snapshot): void => {
  for (const short of shorts.filter((each) => !isFullState(types[each])))
    for (const name of known[short].said.keys())
      if (PM.get(publishedOf(snapshot, short), name) === undefined) forget(known[short], [name])
}

/** Listeners that were refused are tried again as they are, and clusters that were not ready in time. */
export const noteRetries = (known: Known, short: Short): void => {
  if (short === 'lds' ? known.isDisturbed : known.hasStalled) known.said.clear()
}

/** A response that has waited too long holds back all others: all that are out are searched. */
export const noteStalled = (known: Known, isTooLong: (sentAt: number) => boolean): boolean => {
  const waiting = known.out.filter(({ isStalled }) => !isStalled)
  if (!waiting.some(({ sentAt }) => isTooLong(sentAt))) return false
  known.out = known.out.map((each) => ({ ...each, isStalled: true }))
  known.isDisturbed = true
  known.hasStalled = true
  for (const { response } of waiting) {
    forget(known, namesIn(response))
    for (const { name, version } of response.resources) known.convictable.add(`${name} ${version}`)
  }
  return true
}

const forget = (known: Known, names: ReadonlyArray<string>): void => {
  for (const name of names) {
    known.said.delete(name)
    known.held.delete(name)
  }
}

const namesIn = ({ resources, removed }: Response): ReadonlyArray<string> => [
  ...resources.map(({ name }) => name),
  ...removed,
]

export interface Hearing {
  /** It asks once more for all that it names, and may. */
  readonly repeats: boolean
  /** What the client brings is not trusted, since nobody knows what it holds. */
  readonly isTainted: boolean
  /** To try a half would take the other half from it, and nobody knows what it had. */
  readonly isBlind: boolean
  /** This version is published under this name, or there is nothing to compare it with yet. */
  readonly isPresent: (entry: readonly [name: string, version: string]) => boolean
  readonly nowMs: number
}

/**
 * Says whether a request may have a response: a stale one has none of its own.
 *
 * Its names count if it has crossed a response that is out; in delta they count always.
 */
export const noteRequest = (known: Known, request: DiscoveryRequest, hearing: Hearing): boolean => {
  const isFirst = !known.isOpen
  const isSotw = request._tag === 'Sotw'
  const isCurrent =
    request.responseNonce === known.nonce ||
    known.out.some(({ response }) => response.nonce === request.responseNonce)
  known.isOpen = true
  known.refusedAlone = new Set()
  const isNoise = known.nonce !== '' && known.out.length === 0
  if (isSotw && !isFirst && !isCurrent && isNoise) return false
  if (isCurrent) noteAnswer(known, request, hearing)
  const before = known.asked
  if (isSotw) noteNames(known, request.resourceNames, isFirst)
  else noteChange(known, request, isFirst, hearing)
  noteAsked(known, before, isFirst)
  if (isSotw && hearing.repeats) known.dueAgain = new Set(request.resourceNames)
  for (const key of known.banned.keys())
    if (known.dueAgain.has(key.split(' ')[0] ?? '')) known.banned.delete(key)
  const hasNames = isSotw ? [...known.asked].join() !== [...before].join() : changesNames(request)
  return isFirst || isCurrent || hasNames
}

const noteAnswer = (known: Known, request: DiscoveryRequest, hearing: Hearing): void => {
  const isSotw = request._tag === 'Sotw'
  const at = known.out.findIndex(({ response }) => response.nonce === request.responseNonce)
  // State of the world: answers may be put together, so that one speaks for the older ones too.
  const answered = known.out.slice(isSotw ? 0 : Math.max(at, 0), at + 1)
  const last = answered.at(-1)
  if (last === undefined) return
  known.out = known.out.filter((each) => !answered.includes(each))
  if (request.errorDetail !== undefined) return noteRefusal(known, answered, hearing)
  if (isSotw && request.versionInfo !== last.response.version)
    return forget(
      known,
      answered.flatMap(({ response }) => namesIn(response)),
    )
  known.hasAccepted = true
  known.isExcused = false
  const isWhole = isSotw && isFullState(last.response.typeUrl)
  if (isWhole) known.held.clear()
  for (const { response } of isWhole ? [last] : answered) {
    for (const { name, version } of response.resources) {
      known.held.set(name, version)
      known.accepted.add(`${name} ${version}`)
      known.banned.delete(`${name} ${version}`)
      known.balked.delete(name)
    }
    for (const name of response.removed) known.held.delete(name)
  }
  if (last.isStalled) forget(known, namesIn(last.response))
}

/** What was new in a refused response may be sent again; what was new alone may not. */
const noteRefusal = (
  known: Known,
  answered: ReadonlyArray<Out>,
  { isBlind, nowMs }: Hearing,
): void => {
  const resources = answered.flatMap(({ response }) => response.resources)
  const removed = answered.flatMap(({ response }) => response.removed)
  const fresh = resources.filter(({ name, version }) => known.held.get(name) !== version)
  const others = fresh.filter((each) => !isInnocent(known, each))
  const suspects = others.length > 0 ? others : fresh.length > 0 ? fresh : resources
  const [only] = suspects
  known.isDisturbed = true
  known.isExcused = isBlind
  forget(known, [...suspects.map(({ name }) => name), ...fresh.map(({ name }) => name), ...removed])
  for (const each of resources) if (isInnocent(known, each)) known.balked.add(each.name)
  const names = new Set(suspects.map(({ name }) => name))
  if (others.length === 0 || names.size === 1) known.refusedAlone = names
  for (const { name, version } of suspects)
    if (known.refusedAlone.has(name)) known.convictable.add(`${name} ${version}`)
  if (only === undefined || names.size > 1) return
  // What it has accepted before it is not deprived of.
  if (isBlind || fresh.length > 1 || !isAloneIn(answered) || isInnocent(known, only)) return
  known.banned.set(`${only.name} ${only.version}`, nowMs)
}

/** Clusters and listeners of state of the world stand beside all that was there before. */
const isAloneIn = (answered: ReadonlyArray<Out>): boolean =>
  answered.every(({ response }) => isFullState(response.typeUrl) || response.resources.length === 1)

/** What was accepted before, or says that there is none, is not what a refusal is about. */
const isInnocent = ({ accepted }: Known, { name, version }: Resource): boolean =>
  accepted.has(`${name} ${version}`) || version === noEndpoints(name).version

const changesNames = ({ subscribe, unsubscribe }: DeltaRequest): boolean =>
  subscribe.length > 0 || unsubscribe.length > 0

/** What it did not ask for before it asked for everything it cannot have accepted. */
const forgetUncovered = ({ held }: Known, before: ReadonlySet<string>): void => {
  for (const name of held.keys()) if (!before.has(name)) held.delete(name)
}

const noteAsked = (known: Known, before: ReadonlySet<string>, isFirst: boolean): void => {
  const { asked, said } = known
  for (const name of said.keys()) if (!covers(asked, name)) said.delete(name)
  if (asked.has('*') && !before.has('*')) {
    known.mayBeEmpty = true
    if (!isFirst) forgetUncovered(known, before)
  }
  if (!asked.has('*')) known.mayBeEmpty = false
}

/** State of the world: the names replace those before. */
const noteNames = (known: Known, names: ReadonlyArray<string>, isFirst: boolean): void => {
  const before = known.asked
  const isEverything = names.length === 0 && !known.isNamed && (isFirst || before.has('*'))
  known.isNamed ||= names.length > 0
  known.asked = new Set(isEverything ? ['*'] : names)
  for (const name of known.asked) {
    if (before.has(name)) continue
    known.dueAgain.add(name)
    known.held.delete(name)
  }
}

/** Delta: whatever is asked for is due, and so is what is given up while everything is asked for. */
const noteChange = (
  known: Known,
  request: DeltaRequest,
  isFirst: boolean,
  { isTainted, isPresent }: Hearing,
): void => {
  const { subscribe, unsubscribe, initialResourceVersions } = request
  const before = known.asked
  const kept = [...before].filter((name) => !unsubscribe.includes(name))
  const isEverything = isFirst && subscribe.length === 0
  known.asked = new Set([...kept, ...(isEverything ? ['*'] : subscribe)])
  const isAll = known.asked.has('*')
  const givenUp = unsubscribe.filter((name) => isAll && before.has(name))
  const gained = isAll && !before.has('*') ? ['*'] : []
  const due = [...subscribe.filter((name) => name !== '*'), ...givenUp, ...gained]
  if (isFirst && !isTainted) {
    known.said = new Map([...initialResourceVersions].filter(isPresent))
    known.held = new Map(initialResourceVersions)
  }
  if (initialResourceVersions.size > 0 && !isTainted) return
  for (const name of due) {
    known.dueAgain.add(name)
    known.held.delete(name)
  }
}
