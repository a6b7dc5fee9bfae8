import { clusterType, listenerType, type TypeUrl, typeUrls } from '../type-url.js'
import { nextDeparture } from './linger.js'
import { type Conviction, keyOf, type Search, suspectsOf } from './search.js'
import type { Session } from './session-state.js'

/**
 * How long the answer to clusters is waited for, in milliseconds: a cluster that does not become ready holds
 * back the answers to all others (envoyproxy/envoy#5174), and is taken out then.
 */
export const warmTimeoutMs = 5_000

/** How long what was refused waits until it is tried again: doubled each time, up to the most. */
interface Backoff {
  readonly firstMs: number
  readonly mostMs: number
}

/** A port that is busy may be free again. */
const listenerBackoff: Backoff = { firstMs: 1_000, mostMs: 60_000 }

/** A client that has said nothing at all may only have been busy, or far away. */
const silenceBackoff: Backoff = { firstMs: 10_000, mostMs: 600_000 }

/** What was not ready may be, and holds up all others when it is tried. */
const stallBackoff: Backoff = { firstMs: 30_000, mostMs: 600_000 }

/** When the session wants a `TimePassed`, in milliseconds; `undefined` if it waits for no time. */
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
  const times = [nextDeparture(lingerers), warmDeadline(session), ...retries].filter(
    (time) => time !== undefined,
  )
  return times.length === 0 ? undefined : Math.min(...times)
}

/** When the answer to clusters has been waited for long enough. */
export const warmDeadline = ({ watches }: Session): number | undefined => {
  const oldest = watches[clusterType]?.inFlight.find(({ isStalled }) => !isStalled)
  return oldest === undefined ? undefined : oldest.sentAt + warmTimeoutMs
}

/** When what was refused is tried again as it is; `undefined` for never. */
export const retryAt = (typeUrl: TypeUrl, { evidence, times }: Conviction): number | undefined => {
  const backoff = backoffOf(typeUrl, evidence)
  if (backoff === undefined) return undefined
  return evidence.nowMs + Math.min(backoff.mostMs, backoff.firstMs * 2 ** Math.min(times - 1, 16))
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
