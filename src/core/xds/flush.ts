import * as PM from '../persistent-map.js'
import { type Resources, type View, viewOf } from '../snapshot.js'
import { clusterType, isFullState, routeType, type TypeUrl, typeUrls } from '../type-url.js'
import { advance } from './advance.js'
import { aimAt } from './aim.js'
import { stall } from './answers.js'
import { isAtRest } from './at-rest.js'
import { endWaiting, isHopeless } from './balks.js'
import { oweBehind } from './behind.js'
import { linger, mayHaveBrought } from './departures.js'
import { withForeignScopes } from './foreign-scopes.js'
import { adopt, markSettling } from './holding.js'
import { withLingerers } from './linger.js'
import type { Response, Variant } from './messages.js'
import { triedTogether, withRetired } from './plan-tables.js'
import { isOpenQuestion, isPurging, noTrial, standingIn, type Trial } from './plan.js'
import {
  type Conviction,
  isSearching,
  keepOnly,
  narrow,
  nextTrial,
  noSearch,
  retry,
  review,
  skip,
  type Unit,
} from './search.js'
import { andThen, dataPlaneOf, type Session, type SessionStep, withWatch } from './session-state.js'
import { covers } from './subscription.js'
import { isSuspect, retryAt, warmDeadline } from './timers.js'
import { emptying, maySend, stopAwaiting } from './waits.js'
import { type InFlight, isSame, namesIn, owe, type Watch } from './watch.js'

/**
 * How many responses with clusters may be without an answer. More than one, so that a cluster that
 * becomes ready late does not hold up what comes behind it; few, since they are not put together any more.
 */
const maxClustersInFlight = 4

/** How many responses may have waited too long for an answer: a client that never answers is sent no more. */
const maxStalled = 16

/** Sends what is due, of all types, each behind the types that it refers to. */
export const flush = (session: Session, nowMs: number): SessionStep => {
  const { node, snapshot } = session
  if (node === undefined || snapshot === undefined) return [session, []]
  const timed = giveUpWaiting(stopAwaiting(endBalks(session, nowMs), nowMs), nowMs)
  const goal = viewOf(snapshot, dataPlaneOf(node))
  const lingering = linger(timed, goal, nowMs)
  const view = withForeignScopes(lingering, withLingerers(goal, lingering.lingerers))
  return typeUrls.reduce<SessionStep>(
    (soFar, typeUrl) => andThen(soFar, (of) => flushType(of, typeUrl, view, nowMs)),
    [lingering, []],
  )
}

const endBalks = (session: Session, nowMs: number): Session =>
  typeUrls.reduce((soFar, typeUrl) => {
    const watch = soFar.watches[typeUrl]
    return watch === undefined ? soFar : withWatch(soFar, typeUrl, endWaiting(watch, nowMs))
  }, session)

const giveUpWaiting = (session: Session, nowMs: number): Session => {
  const watch = session.watches[clusterType]
  const deadline = warmDeadline(session)
  if (watch === undefined || deadline === undefined || deadline > nowMs) return session
  const how = { kind: kindOf(session, watch), nowMs }
  return withWatch(session, clusterType, stall(watch, how, mayHaveBrought(session)))
}

const kindOf = ({ heardAt }: Session, { inFlight }: Watch): 'Stalled' | 'Silent' =>
  inFlight.some(({ isStalled, sentAt }) => !isStalled && heardAt > sentAt) ? 'Stalled' : 'Silent'

const flushType = (session: Session, typeUrl: TypeUrl, view: View, nowMs: number): SessionStep => {
  const found = session.watches[typeUrl]
  if (found === undefined || !maySend(session, typeUrl)) return [session, []]
  const due = typeUrl === routeType ? emptying(session, found, nowMs) : found
  const ready = prepare(due, typeUrl, wantedOf(due, typeUrl, view), nowMs)
  const watch = mayDoubt(ready, typeUrl, session.variant) ? settleDoubts(ready) : ready
  const prepared = withWatch(session, typeUrl, watch)
  if (!isOpen(watch, typeUrl)) return [prepared, []]
  // The first response of a stream says what is there: a trial, alone, would take all the rest away. In delta
  // nothing may be due at first, and once the claims are compared nothing is taken away by silence.
  const mayTry =
    (session.variant === 'delta' || watch.nonce !== '') &&
    watch.claims === undefined &&
    isSearching(watch.search) &&
    watch.inFlight.every(({ isStalled }) => isStalled)
  const clean = (of: Session): SessionStep => send(of, typeUrl, view, noTrial, nowMs)
  const tried = (of: Session): SessionStep => tryNext(of, typeUrl, view, nowMs)
  // In turns: neither what is innocent nor the search is ever held up by more than one response.
  const [first, second] = watch.search.isTrialNext ? [tried, clean] : [clean, tried]
  if (!mayTry) {
    const sent = clean(prepared)
    // Doubts wait until it is compared what the client has: where that leaves nothing to be sent it is their turn.
    const isCompared = watch.claims !== undefined && sent[0].watches[typeUrl]?.claims === undefined
    return isCompared && sent[1].length === 0 ? flushType(sent[0], typeUrl, view, nowMs) : sent
  }
  const done = first(prepared)
  const [after, effects] = done[1].length > 0 ? done : second(done[0])
  const isOver = effects.length === 0 && !isSearching(after.watches[typeUrl]?.search ?? noSearch)
  return isOver ? flushType(after, typeUrl, view, nowMs) : [after, effects]
}

/** All that the client is to hold of a type if nothing stands in the way. */
const wantedOf = (watch: Watch, typeUrl: TypeUrl, view: View): Resources =>
  typeUrl === routeType ? withRetired(watch, view) : view[typeUrl]

/** Forgets what is settled, and sees to what is to be sent once more. */
const prepare = (watch: Watch, typeUrl: TypeUrl, goal: Resources, nowMs: number): Watch => {
  const convicted = review(watch.search, standingIn(goal, watch))
  const released = watch.inFlight.some(({ trial }) => trial !== undefined)
    ? convicted
    : keepOnly(convicted, isOpenQuestion(goal, watch))
  const isDue = (each: Conviction): boolean => {
    const at = retryAt(typeUrl, each)
    return at !== undefined && at <= nowMs && !isSuspect(released, each)
  }
  const search = [...released.convicted.values()]
    .filter(isDue)
    .reduce((soFar, { unit }) => retry(soFar, unit), released)
  return search === watch.search ? watch : { ...watch, search }
}

/** Whether doubts may be settled now: a search does that by itself, and so does what is on its way. */
const mayDoubt = (
  { search, holding, claims, inFlight }: Watch,
  typeUrl: TypeUrl,
  variant: Variant,
): boolean =>
  holding.unsure !== undefined &&
  !isSearching(search) &&
  claims === undefined &&
  !(variant === 'sotw' && isFullState(typeUrl) && inFlight.length > 0)

/**
 * Owes the client, once, whatever nobody knows of, so that its answer settles it. What was refused alone can
 * wait as long as that is still wanted: an Envoy keeps what it had.
 */
const settleDoubts = (watch: Watch): Watch => {
  const { holding, search, inFlight } = watch
  const onItsWay = new Set(inFlight.flatMap(namesIn))
  const doubtful = [...PM.entries(holding.unsure)].filter(
    (entry) => !entry.isSettling && !onItsWay.has(entry.name) && !isAtRest(entry, search),
  )
  if (doubtful.length === 0) return watch
  const unsure = doubtful.reduce(
    (rest, entry) => PM.set(rest, { ...entry, isSettling: true }),
    holding.unsure,
  )
  return owe(
    { ...watch, holding: { ...holding, unsure } },
    doubtful.map(({ name }) => name),
  )
}

/** Whether a response may leave: what is tried leaves alone, and of most types there is one at a time. */
const isOpen = (watch: Watch, typeUrl: TypeUrl): boolean => {
  const { inFlight } = watch
  if (typeUrl !== clusterType) return inFlight.length === 0
  const waiting = inFlight.filter(({ isStalled }) => !isStalled).length
  return (
    inFlight.length - waiting < maxStalled &&
    waiting < (isPurging(watch) ? 1 : maxClustersInFlight) &&
    inFlight.every(({ trial }) => trial === undefined)
  )
}

/** Tries the next group; one of which nothing is left to be sent needs no trial. */
const tryNext = (session: Session, typeUrl: TypeUrl, view: View, nowMs: number): SessionStep => {
  const watch = session.watches[typeUrl]
  if (watch === undefined) return [session, []]
  const goal = wantedOf(watch, typeUrl, view)
  const [found, all] = nextTrial(watch.search, isOpenQuestion(goal, watch))
  if (all === undefined) return [withWatch(session, typeUrl, { ...watch, search: found }), []]
  const [search, trial] =
    typeUrl === routeType ? narrow(found, triedTogether(watch, goal, all)) : [found, all]
  const searching = { ...watch, search }
  // A cluster that was spared, since a table may name it, is there still: it is sent once more, to be judged alone.
  const spared = typeUrl === clusterType ? trial.filter((unit) => isSent(watch, unit)) : noTrial
  const due = owe(
    searching,
    spared.map(({ name }) => name),
  )
  const next = withWatch(session, typeUrl, due)
  const sent = send(next, typeUrl, view, trial, nowMs)
  if (sent[1].length > 0) return sent
  const skipped = withWatch(next, typeUrl, { ...watch, search: skip(search, nowMs) })
  return tryNext(skipped, typeUrl, view, nowMs)
}

const isSent = ({ sent }: Watch, { name, version }: Unit): boolean =>
  PM.get(sent, name)?.version === version

const send = (
  session: Session,
  typeUrl: TypeUrl,
  view: View,
  trial: Trial,
  nowMs: number,
): SessionStep => {
  const found = session.watches[typeUrl]
  if (found === undefined) return [session, []]
  const aim = aimAt(session, found, typeUrl, view, trial)
  const watch =
    typeUrl === routeType && trial.length === 0
      ? { ...found, holding: adopt(found.holding, aim.target) }
      : found
  // What is asked for once more can wait for the answer; only what is new goes out beside it.
  if (watch.inFlight.length > 0 && !hasNews(watch, aim.target)) return [session, []]
  const [advanced, outgoing] = advance(watch, typeUrl, session.variant, aim)
  // Whatever else: what was refused just now is not sent again at once, nor for ever with trials in between.
  const isEcho =
    trial.length === 0 &&
    outgoing !== undefined &&
    (isSame(outgoing, watch.refused) || isHopeless(watch, outgoing))
  if (isEcho) return [withWatch(session, typeUrl, watch), []]
  if (outgoing === undefined)
    return [trial.length > 0 ? session : withWatch(session, typeUrl, advanced), []]
  const nonces = session.nonces + 1
  const { version, resources, removed } = outgoing
  const isWhole = session.variant === 'sotw' && isFullState(typeUrl)
  const response: Response = { typeUrl, nonce: String(nonces), version, resources, removed }
  const entry: InFlight = {
    ...response,
    removed: isWhole ? impliedRemovals(watch, advanced) : removed,
    isWhole,
    target: advanced.sent,
    sentAt: nowMs,
    trial: trial.length > 0 ? trial : undefined,
    isProbe: aim.isProbe === true,
    isStalled: false,
  }
  const sent = markSent(advanced, entry)
  const behind = withWatch(session, typeUrl, sent)
  return [{ ...oweBehind(behind, typeUrl, outgoing), nonces }, [{ _tag: 'Send', response }]]
}

const hasNews = ({ sent, subscription }: Watch, target: Resources): boolean =>
  PM.diff(sent, target).some(({ name }) => covers(subscription, name))

/** What a response takes away that is the whole truth: what it lacks. */
const impliedRemovals = (before: Watch, after: Watch): ReadonlyArray<string> =>
  PM.diff(before.sent, after.sent).flatMap(({ name, after: next }) =>
    next === undefined ? name : [],
  )

/** Notes that a response has left. */
const markSent = (watch: Watch, entry: InFlight): Watch => ({
  ...watch,
  nonce: entry.nonce,
  inFlight: [...watch.inFlight, entry],
  refused: undefined,
  // A probe is to be refused, and settles nothing.
  holding: entry.isProbe ? watch.holding : markSettling(watch.holding, namesIn(entry)),
  search: { ...watch.search, isTrialNext: entry.trial === undefined },
  repeat: watch.repeat === 'Asked' ? 'Spent' : 'Allowed',
})
