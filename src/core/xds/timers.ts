import {
  clusterType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
  typeUrls,
} from '../type-url.js'
import { type Backoff, waitMs } from './backoff.js'
import { hasForeignScopes } from './foreign-scopes.js'
import { holdsUnknown } from './holding.js'
import { nextDeparture } from './linger.js'
import { mayHoldUnknown } from './node-memory.js'
import { type Conviction, keyOf, type Search, suspectsOf } from './search.js'
import { isEnvoyBack, type Session } from './session-state.js'

/**
 * How long the answer to clusters is waited for, in milliseconds: a cluster that does not become ready holds
 * back the answers to all others (envoyproxy/envoy#5174), and is taken out then.
 */
export const warmTimeoutMs = 5_000

/**
 * The same for an Envoy that has come back, and goes on with what it had, as long as it has said nothing but that,
 * in milliseconds: one that is well says at once all that it asks for, and from one that is not nothing can be
 * taken without harm.
 */
export const unknownTimeoutMs = 600_000

/** A port that is busy may be free again. */
const listenerBackoff: Backoff = { firstMs: 1_000, mostMs: 60_000 }

/** A client that has said nothing at all may only have been busy, or far away. */
const silenceBackoff: Backoff = { firstMs: 10_000, mostMs: 600_000 }

/** What was not ready may be, and holds up all others when it is tried. */
const stallBackoff: Backoff = { firstMs: 30_000, mostMs: 600_000 }

/**
 * When the session wants a `TimePassed`, in milliseconds; `undefined` if it waits for no time. A time that has
 * passed already is none.
 */
export const nextTimer = (session: Session): number | undefined => {
  const { watches, lingerers } = session
  const retries = typeUrls.flatMap((typeUrl) => {
    const search = watches[typeUrl]?.search
    return search === undefined || search.convicted.size === 0
      ? []
      : [...search.convicted.values()]
          .filter((each) => !isSuspect(search, each))
          .map((each) => retryAt(typeUrl, each))
  })
  const awaited = session.hasWaited ? undefined : clustersAwaited(session)
  const times = [
    nextDeparture(lingerers),
    warmDeadline(session),
    awaited,
    session.hasHeardTables ? undefined : scopesAwaited(session),
    hasForeignScopes(session) ? drainedAt(session) : undefined,
    emptiesAt(session),
    ...retries,
    ...typeUrls.map((typeUrl) => watches[typeUrl]?.balked?.until),
  ].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

/** When the answer to clusters has been waited for long enough. */
export const warmDeadline = (session: Session): number | undefined => {
  const watch = session.watches[clusterType]
  const oldest = watch?.inFlight.find(({ isStalled }) => !isStalled)
  if (watch === undefined || oldest === undefined) return undefined
  // Of one that has named none of its clusters nothing counts but an answer: the rest it had said before.
  const saysNothing = watch.holding.acked === undefined && !hasAccepted(session)
  const isSilent = session.heardAt <= oldest.sentAt || mayHoldUnknown(session) || saysNothing
  // One that has begun to read again gets the whole time to answer.
  return isEnvoyBack(session) && !watch.hasAccepted && isSilent
    ? oldest.sentAt + unknownTimeoutMs
    : Math.max(oldest.sentAt, session.wokeAt) + warmTimeoutMs
}

/** True once it has accepted anything on this stream. */
export const hasAccepted = ({ watches }: Session): boolean =>
  typeUrls.some((typeUrl) => watches[typeUrl]?.hasAccepted === true)

/**
 * How long a client that comes back is waited for to ask for clusters, in milliseconds: an Envoy gives up a
 * cluster whose endpoints nobody has after 15 s (`initial_fetch_timeout`), and asks then.
 */
export const clustersWaitMs = 20_000

/**
 * Until when a client that comes back is sent no route tables, since it has not asked for clusters yet, in
 * milliseconds. While a cluster warms an Envoy asks for everything else first (run), and then nobody
 * knows which clusters it has. `undefined` if there is nothing to wait for.
 */
export const clustersAwaited = (session: Session): number | undefined => {
  const { watches, namedAt } = session
  const isAwaited =
    isEnvoyBack(session) && watches[clusterType] === undefined && watches[routeType] !== undefined
  return isAwaited ? namedAt + clustersWaitMs : undefined
}

/**
 * How long an Envoy that comes back is waited for to say which tables it has, before it is sent any scopes, in
 * milliseconds: it says in one burst all that it asks for. Which scopes it needs, its tables tell.
 */
export const scopesWaitMs = 1_000

/**
 * Until when an Envoy that comes back is sent no scopes, since it has not said which tables it has, in milliseconds.
 * `undefined` if there is nothing to wait for: one that answers listeners has said all.
 */
export const scopesAwaited = (session: Session): number | undefined => {
  const { watches, namedAt, isBare } = session
  const isAwaited =
    isEnvoyBack(session) &&
    !isBare &&
    watches[scopeType] !== undefined &&
    watches[routeType] === undefined
  return isAwaited ? namedAt + scopesWaitMs : undefined
}

/**
 * How long an Envoy drains a listener, in milliseconds, if it was not told otherwise (`--drain-time-s`): so long
 * it asks for tables that are published no more.
 */
export const drainMs = 600_000

/**
 * When a table that nobody knows, and that is published no more, is sent empty to a client that asks for it as
 * long as a deletion waits for proof, in milliseconds: without that it could never prove anything.
 */
export const emptiesAt = (session: Session): number | undefined => {
  const { isProving, isAdmitted, watches, namedAt } = session
  const watch = watches[routeType]
  const isWaiting =
    isProving && isAdmitted && watch?.emptiesUnknown === false && holdsUnknown(watch.holding)
  return isWaiting ? namedAt + drainMs : undefined
}

/** When a client drains nothing any more of what it came with, in milliseconds: then it loses the scopes of that. */
export const drainedAt = ({ namedAt }: Session): number => namedAt + drainMs

/** When what was refused is tried again as it is; `undefined` for never. */
export const retryAt = (typeUrl: TypeUrl, { evidence, times }: Conviction): number | undefined => {
  const backoff = backoffOf(typeUrl, evidence)
  if (backoff === undefined) return undefined
  return evidence.nowMs + waitMs(backoff, times)
}

const backoffOf = (typeUrl: TypeUrl, { kind }: Conviction['evidence']): Backoff | undefined => {
  switch (kind) {
    case 'Stalled':
      return stallBackoff
    case 'Silent':
      return silenceBackoff
    case 'Refused':
      return typeUrl === listenerType ? listenerBackoff : undefined
  }
}

/** True if what was convicted is being tried again. */
export const isSuspect = (search: Search, { unit }: Conviction): boolean =>
  suspectsOf(search).some((each) => keyOf(each) === keyOf(unit))
