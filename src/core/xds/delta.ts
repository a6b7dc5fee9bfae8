import { endpointType, isFullState, scopeType, type TypeUrl } from '../type-url.js'
import { accept, answeredBy, refuse } from './answers.js'
import { classifyDelta } from './classify.js'
import type { DeltaRequest, NodeIdentity } from './messages.js'
import { eachName, hasName, type Names } from './names.js'
import type { Noted } from './noted.js'
import type { Session, SessionOptions } from './session-state.js'
import { changeNames, subscribeFirst, type Subscription, wildcardName } from './subscription.js'
import { openWatch, resubscribe, type Watch } from './watch.js'

/**
 * Takes in a request of the delta variant.
 *
 * | kind      | what it does                                                                |
 * | --------- | --------------------------------------------------------------------------- |
 * | First     | opens the watch; what the client says it holds counts as sent where it is right |
 * | Ack, Nack | settles the response in flight, takes the names                              |
 * | Change    | takes the names                                                              |
 * | Stale     | takes the names: they count, though the answer does not                      |
 */
export const receiveDelta = (
  watch: Watch | undefined,
  request: DeltaRequest,
  typeUrl: TypeUrl,
  { options, node, debts, memory }: Session,
  nowMs: number,
): Noted => {
  if (watch === undefined) {
    const subscription = firstSubscription(request, typeUrl, options, node)
    const { initialResourceVersions: said } = request
    // An Envoy names scopes that it has forgotten with its last listener of them (run).
    const isDoubtful = memory?.doubts[typeUrl] !== undefined || typeUrl === scopeType
    const trusted = isDoubtful
      ? new Map([...said.keys()].map((name) => [name, unknownVersion]))
      : said
    const claims = typeUrl === endpointType ? withoutVersions(trusted, debts) : trusted
    return { watch: openWatch(subscription, claims), kind: 'Other', answered: [] }
  }
  const { kind, changesNames } = classifyDelta(watch, request)
  const answered = answeredBy(watch, request.responseNonce, 'delta')
  const next =
    kind === 'Ack'
      ? accept(watch, answered, typeUrl, 'delta')
      : kind === 'Nack'
        ? refuse(watch, answered, typeUrl, {
            evidence: { message: request.errorDetail?.message ?? '', kind: 'Refused', nowMs },
            isBlind: false,
          })
        : watch
  const isAnswer = kind === 'Ack' || kind === 'Nack'
  return {
    watch: changesNames ? rename(next, request) : next,
    kind: isAnswer ? kind : 'Other',
    answered: isAnswer ? answered : [],
  }
}

/** What a client is owed whatever it holds; that it holds it still counts, in case it is gone. */
const withoutVersions = (
  claims: ReadonlyMap<string, string>,
  owed: Names,
): ReadonlyMap<string, string> => {
  const held = [...eachName(owed)].filter((name) => claims.has(name))
  return new Map([...claims, ...held.map((name) => [name, unknownVersion] as const)])
}

/** No resource has it: versions are digests. */
const unknownVersion = ''

/**
 * Before 1.19 an Envoy that had asked for everything came back with the names of all that it held
 * (envoyproxy/envoy#16063): taken by its word it would never learn of a new listener.
 */
const firstSubscription = (
  { subscribe, initialResourceVersions }: DeltaRequest,
  typeUrl: TypeUrl,
  { legacyWildcard }: SessionOptions,
  node: NodeIdentity | undefined,
): Subscription => {
  const asksForAll =
    isFullState(typeUrl) && initialResourceVersions.size > 0 && namesAllItHolds(node)
  return subscribeFirst(asksForAll ? [wildcardName] : subscribe, legacyWildcard.has(typeUrl))
}

const namesAllItHolds = (node: NodeIdentity | undefined): boolean => {
  const build = node?.buildVersion
  return build !== undefined && build.major === 1 && build.minor < 19
}

/**
 * Asking for a name again forces an answer: the client may have dropped the resource. So does giving up a
 * name that `*` still covers; other names are given up without a word.
 */
const rename = (watch: Watch, { subscribe, unsubscribe }: DeltaRequest): Watch => {
  const next = changeNames(watch.subscription, subscribe, unsubscribe)
  const givenUp = unsubscribe.filter((name) => hasName(watch.subscription.names, name))
  const asked = subscribe.filter((name) => name !== wildcardName)
  return resubscribe(watch, next, {
    asked: next.wildcard ? [...asked, ...givenUp] : asked,
    givenUp,
  })
}
