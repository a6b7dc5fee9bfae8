import { isFullState, type TypeUrl } from '../type-url.js'
import { accept, answeredBy, refuse, type RefusalOf, settle } from './answers.js'
import { classifySotw, type RequestKind } from './classify.js'
import type { SotwRequest } from './messages.js'
import { eachName, hasName } from './names.js'
import type { Noted } from './noted.js'
import type { Freshness, Session } from './session-state.js'
import { replaceNames, subscribeFirst } from './subscription.js'
import { type InFlight, openWatch, repeatAll, resubscribe, type Watch } from './watch.js'

/**
 * Takes in a request of the state-of-the-world variant.
 *
 * | kind            | what it does                                                      |
 * | --------------- | ----------------------------------------------------------------- |
 * | First           | opens the watch; versions that it brings are not trusted, since they speak of no set of names |
 * | Ack, Nack       | settles the response in flight, takes the names                    |
 * | NotApplied      | the same, but says nothing of what the client holds                |
 * | Change          | takes the names                                                    |
 * | Repeat          | sends once more what the client asks for, if that is allowed       |
 * | Stale           | takes the names if it has crossed the response in flight; no reply of its own |
 */
export const receiveSotw = (
  watch: Watch | undefined,
  request: SotwRequest,
  typeUrl: TypeUrl,
  { options: { legacyWildcard }, freshness }: Session,
  nowMs: number,
): Noted => {
  const { kind, changesNames } = classifySotw(watch, request)
  if (watch === undefined) {
    const subscription = subscribeFirst(request.resourceNames, legacyWildcard.has(typeUrl))
    return { watch: openWatch(subscription, new Map()), kind: 'Other', answered: [] }
  }
  const answered = answeredBy(watch, request.responseNonce, 'sotw')
  const next = answer(watch, kind, answered, request, typeUrl, {
    evidence: { message: request.errorDetail?.message ?? '', kind: 'Refused', nowMs },
    isBlind: isBlind(watch, typeUrl, freshness),
  })
  const isAnswer = kind === 'Ack' || kind === 'Nack'
  return {
    watch: changesNames ? rename(next, request) : next,
    kind: isAnswer ? kind : 'Other',
    answered: isAnswer ? answered : [],
  }
}

/**
 * An Envoy puts answers together that it held back, errors and all: with the newest response's own version
 * it says that it has that, and that an older one was refused (run).
 */
const isForOlder = (answered: ReadonlyArray<InFlight>, { versionInfo }: SotwRequest): boolean =>
  answered.length > 1 && answered.at(-1)?.version === versionInfo

/** A response is the whole truth, and nobody knows what the client held before the first one. */
const isBlind = (
  { hasAccepted, holding }: Watch,
  typeUrl: TypeUrl,
  freshness: Freshness,
): boolean =>
  isFullState(typeUrl) && freshness === 'Held' && !hasAccepted && holding.acked === undefined

const answer = (
  watch: Watch,
  kind: RequestKind,
  answered: ReadonlyArray<InFlight>,
  request: SotwRequest,
  typeUrl: TypeUrl,
  refusal: RefusalOf,
): Watch => {
  switch (kind) {
    case 'Ack':
      return accept(watch, answered, typeUrl, 'sotw')
    case 'Nack':
      return isForOlder(answered, request)
        ? accept(
            refuse(watch, answered.slice(0, -1), typeUrl, refusal),
            answered.slice(-1),
            typeUrl,
            'sotw',
          )
        : refuse(watch, answered, typeUrl, refusal)
    case 'NotApplied':
      return settle(watch, answered)
    case 'Repeat':
      return watch.repeat === 'Allowed' ? repeatAll(watch) : watch
    case 'First':
    case 'Change':
    case 'Stale':
      return watch
  }
}

/** A name that was not asked for before is answered, even if nothing has changed. */
const rename = (watch: Watch, { resourceNames }: SotwRequest): Watch => {
  const before = watch.subscription
  const next = replaceNames(before, resourceNames)
  return resubscribe(watch, next, {
    asked: [...eachName(next.names)].filter((name) => !hasName(before.names, name)),
    givenUp: [...eachName(before.names)].filter((name) => !hasName(next.names, name)),
  })
}
