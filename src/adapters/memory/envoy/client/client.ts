import {
  clusterType,
  endpointType,
  listenerType,
  perType,
  routeType,
  scopeType,
  type TypeUrl,
  typeUrls,
} from '../../../../core/type-url.js'
import type { BuildVersion } from '../../../../core/xds/messages.js'
import { release, withheldStill } from './answers.js'
import { andThen, ask, type Asking } from './follow.js'
import type { EnvoyEffect, EnvoyEvent } from './messages.js'
import { receive } from './receive.js'
import type { Acked, EnvoyState, Nacked } from './state.js'
import { passTime } from './time.js'

/** The Envoy that this one is held to; it says so, as every Envoy does. */
const likeEnvoy: BuildVersion = { major: 1, minor: 40, patch: 0 }

export { held, openConnection, request } from './serve.js'

export type EnvoyStep = readonly [state: EnvoyState, effects: ReadonlyArray<EnvoyEffect>]

/**
 * Advances an Envoy by one event, as Envoy 1.40 behaves as a client of an aggregated stream.
 *
 * | event            | what it does                                                                   |
 * | ---------------- | ------------------------------------------------------------------------------ |
 * | Connected        | forgets the answers that it owes, save a refusal in the state of the world;    |
 * |                  | asks for clusters, unless one warms, and for all else that it asked for before |
 * | Disconnected     | goes on with what it holds                                                     |
 * | ResponseReceived | applies what is good, asks for what that needs, then accepts or refuses; for   |
 * |                  | clusters it does not answer before none warms                                  |
 * | TimePassed       | gives up what it has waited for, and ends drains                               |
 *
 * A response while it is not connected, or of a type that it has never asked for, changes nothing.
 */
export const step = (state: EnvoyState, event: EnvoyEvent): EnvoyStep => {
  switch (event._tag) {
    case 'Connected':
      return toStep(connect(state))
    case 'Disconnected':
      return [{ ...state, connected: false }, []]
    case 'ResponseReceived':
      return state.connected && isSubscribed(state, event.response.typeUrl)
        ? toStep(receive(state, event.response))
        : [state, []]
    case 'TimePassed':
      return toStep(passTime(state, event.nowMs))
  }
}

/** The responses that it has accepted, oldest first; the log is bounded by `keptAnswers`. */
export const acked = ({ log }: EnvoyState): ReadonlyArray<Acked> =>
  log.filter((entry) => entry._tag === 'Acked')

/** The responses that it has refused, oldest first; the log is bounded by `keptAnswers`. */
export const nacked = ({ log }: EnvoyState): ReadonlyArray<Nacked> =>
  log.filter((entry) => entry._tag === 'Nacked')

/** Whichever request is the first of a stream names the node. */
const connect = (state: EnvoyState): Asking => {
  const watches = perType((typeUrl) => ({ ...state.watches[typeUrl], asked: false, nonce: '' }))
  const opened: EnvoyState = { ...state, connected: true, withheld: withheldStill(state), watches }
  const [asking, requests] = typeUrls
    .filter((typeUrl) => asksFor(opened, typeUrl))
    .reduce<Asking>(
      (soFar, typeUrl) => andThen(soFar, (next) => ask(next, typeUrl)),
      release(opened),
    )
  const node = { buildVersion: likeEnvoy, ...state.options.node }
  return [asking, requests.map((sent, index) => (index === 0 ? { ...sent, node } : sent))]
}

/**
 * Clusters are asked for apart from these: that waits while one warms. What nobody wants any more is asked for still,
 * save by name in delta, where no name is left to ask for.
 */
const asksFor = ({ options, clusters, watches }: EnvoyState, typeUrl: TypeUrl): boolean => {
  const { known, names } = watches[typeUrl]
  switch (typeUrl) {
    case clusterType:
      return false
    case listenerType:
      return clusters.initialized
    case scopeType:
      return known
    case endpointType:
    case routeType:
      return known && (names.size > 0 || options.variant === 'sotw')
  }
}

/** Clusters are subscribed to from the start, even while they were not asked for on this stream. */
const isSubscribed = (state: EnvoyState, typeUrl: TypeUrl): boolean =>
  typeUrl === clusterType || state.watches[typeUrl].asked

/** Nothing is sent on no stream; on the next one everything is asked for anew. */
const toStep = ([state, requests]: Asking): EnvoyStep => [
  state,
  state.connected ? requests.map((sent) => ({ _tag: 'SendRequest', request: sent })) : [],
]
