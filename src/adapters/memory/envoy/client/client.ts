import {
  clusterType,
  endpointType,
  isFullState,
  listenerType,
  perType,
  routeType,
  type TypeUrl,
  typeUrls,
} from '../../../../core/type-url.js'
import { answer, type EncodedResources } from '../routing/answer.js'
import type { Answer, Request } from '../routing/request.js'
import { apply } from './apply.js'
import { ask, type Asking, follow } from './follow.js'
import { judge, type Judgement } from './judge.js'
import type { EnvoyEffect, EnvoyEvent, ReceivedResponse } from './messages.js'
import { answerRequest } from './requests.js'
import {
  type Acked,
  type EnvoyState,
  type HeldResource,
  logged,
  type Nacked,
  withWatch,
} from './state.js'

export type EnvoyStep = readonly [state: EnvoyState, effects: ReadonlyArray<EnvoyEffect>]

/**
 * Advances an Envoy by one event, as Envoy 1.40 behaves as a client of an aggregated stream.
 *
 * | event            | what it does                                                                  |
 * | ---------------- | ----------------------------------------------------------------------------- |
 * | Connected        | asks for clusters, and at once for everything else that it asked for before     |
 * | Disconnected     | goes on with what it holds                                                     |
 * | ResponseReceived | applies what is good, asks for what that needs, then accepts or refuses          |
 *
 * A response while it is not connected, or of a type that it has not asked for, changes nothing.
 * Everything that is applied works at once: here no cluster warms and no listener drains.
 */
export const step = (state: EnvoyState, event: EnvoyEvent): EnvoyStep => {
  switch (event._tag) {
    case 'Connected':
      return toStep(connect(state))
    case 'Disconnected':
      return [{ ...state, connected: false }, []]
    case 'ResponseReceived':
      return state.connected && state.watches[event.response.typeUrl].asked
        ? toStep(receive(state, event.response))
        : [state, []]
  }
}

/** What the Envoy runs, by type and name. */
export const held = (
  state: EnvoyState,
): Readonly<Record<TypeUrl, ReadonlyMap<string, HeldResource>>> =>
  perType((typeUrl) => state.watches[typeUrl].held)

/** The responses that it has accepted, oldest first; the log is bounded by `keptAnswers`. */
export const acked = ({ log }: EnvoyState): ReadonlyArray<Acked> =>
  log.filter((entry) => entry._tag === 'Acked')

/** The responses that it has refused, oldest first; the log is bounded by `keptAnswers`. */
export const nacked = ({ log }: EnvoyState): ReadonlyArray<Nacked> =>
  log.filter((entry) => entry._tag === 'Nacked')

/** Answers a request with what the Envoy runs. */
export const request = (state: EnvoyState, of: Request): Answer => answer(running(state), of)

const connect = (state: EnvoyState): Asking => {
  const watches = perType((typeUrl) => ({ ...state.watches[typeUrl], asked: false, nonce: '' }))
  const opened: EnvoyState = { ...state, connected: true, watches }
  return typeUrls
    .filter((typeUrl) => asksFor(opened, typeUrl))
    .reduce<Asking>(
      ([soFar, requests], typeUrl) => {
        const [next, more] = ask(soFar, typeUrl)
        return [next, [...requests, ...more]]
      },
      [opened, []],
    )
}

const asksFor = (state: EnvoyState, typeUrl: TypeUrl): boolean => {
  switch (typeUrl) {
    case clusterType:
      return true
    case listenerType:
      return state.asksForListeners
    case endpointType:
    case routeType:
      return state.watches[typeUrl].names.size > 0
  }
}

const receive = (state: EnvoyState, response: ReceivedResponse): Asking => {
  const { typeUrl } = response
  const { variant, refuse } = state.options
  const watch = state.watches[typeUrl]
  if (variant === 'sotw' && !isFullState(typeUrl) && watch.names.size === 0)
    return receiveUnwatched(state, response)
  const judgement = judge(response, refuse ?? (() => undefined))
  const applied = withWatch(state, typeUrl, apply(watch, response, judgement, variant))
  const [followed, requests] = follow(state, applied, typeUrl)
  const [answered, more] = giveAnswer(followed, response, judgement)
  return [answered, [...requests, ...more]]
}

/**
 * With the state of the world, a response of a type of which nothing is watched is neither accepted nor
 * refused: the new nonce goes back with the old version, and an empty one gets no reply (S8, S9).
 */
const receiveUnwatched = (state: EnvoyState, response: ReceivedResponse): Asking => {
  const { typeUrl, nonce, version } = response
  if (response.resources.length === 0) return [withWatch(state, typeUrl, { nonce, version }), []]
  const noted = withWatch(state, typeUrl, { nonce })
  return [noted, [answerRequest(noted, typeUrl, undefined)]]
}

const giveAnswer = (
  state: EnvoyState,
  { typeUrl, nonce, version }: ReceivedResponse,
  { message }: Judgement,
): Asking => {
  const entry = { typeUrl, nonce, version }
  return message === undefined
    ? [logged(state, { _tag: 'Acked', ...entry }), [answerRequest(state, typeUrl, undefined)]]
    : [
        logged(state, { _tag: 'Nacked', ...entry, message }),
        [answerRequest(state, typeUrl, { code: internalError, message })],
      ]
}

/** The gRPC status code in every refusal of Envoy. */
const internalError = 13

/** What is settled and not held works as if it were empty: zero bytes are an empty message. */
const running = (state: EnvoyState): EncodedResources =>
  perType((typeUrl) => {
    const { held: resources, settled } = state.watches[typeUrl]
    const empty = [...settled].filter((name) => !resources.has(name))
    return empty.length === 0
      ? resources
      : new Map([...resources, ...empty.map((name) => [name, nothing] as const)])
  })

const nothing: HeldResource = { version: '', bytes: new Uint8Array() }

const toStep = ([state, requests]: Asking): EnvoyStep => [
  state,
  requests.map((sent) => ({ _tag: 'SendRequest', request: sent })),
]
