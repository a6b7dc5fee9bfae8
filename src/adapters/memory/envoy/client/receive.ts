import {
  clusterType,
  endpointType,
  isFullState,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../../../../core/type-url.js'
import { giveAnswer } from './answers.js'
import { apply, goneOf } from './apply.js'
import { sameBytes } from './bytes.js'
import { latest } from './cluster-draft.js'
import { andThen, type Asking } from './follow.js'
import { inspect } from './inspect.js'
import { judge } from './judge.js'
import { hasForm } from './listeners.js'
import type { ReceivedResource, ReceivedResponse } from './messages.js'
import type { Refusal } from './options.js'
import { addressCheck } from './ports.js'
import { faultIn } from '../routing/refusal.js'
import { answerRequest } from './requests.js'
import { keyCheck } from './scopes.js'
import { type EnvoyState, withWatch } from './state.js'

/** Applies what is good in a response, asks for what that needs, then accepts or refuses it. */
export const receive = (state: EnvoyState, response: ReceivedResponse): Asking => {
  const { typeUrl, nonce } = response
  const { variant, seed } = state.options
  const watch = state.watches[typeUrl]
  if (variant === 'sotw' && !isWatched(state, typeUrl)) return receiveUnwatched(state, response)
  const judgement = judge(response, {
    variant,
    seed,
    isWanted: (name) => isFullState(typeUrl) || watch.names.has(name),
    refuse: refuser(state, response),
  })
  const heard = withWatch(state, typeUrl, { heard: true, nonce })
  return andThen(apply(heard, response, judgement), (applied) =>
    giveAnswer(applied, response, judgement.message),
  )
}

/** True for a type of which somebody in the Envoy wants something. */
const isWatched = ({ watches, scopes }: EnvoyState, typeUrl: TypeUrl): boolean => {
  switch (typeUrl) {
    case clusterType:
    case listenerType:
      return true
    case scopeType:
      return scopes.size > 0
    case endpointType:
    case routeType:
      return watches[typeUrl].names.size > 0
  }
}

/**
 * With the state of the world, a response of a type of which nothing is watched is neither accepted
 * nor refused: the new nonce goes back with the old version, and an empty one gets no reply (S8,
 * S9).
 */
const receiveUnwatched = (state: EnvoyState, response: ReceivedResponse): Asking => {
  const { typeUrl, nonce, version } = response
  if (response.resources.length === 0) return [withWatch(state, typeUrl, { nonce, version }), []]
  const noted = withWatch(state, typeUrl, { nonce })
  return [noted, [answerRequest(noted, typeUrl, nonce, undefined)]]
}

/** What makes a route table unfit, whatever the options say. */
const tableFault = ({ clusters }: EnvoyState, bytes: Uint8Array): Refusal | undefined => {
  const { invalid, findings } = inspect(routeType, bytes).table
  return invalid === undefined
    ? faultIn(findings, (cluster) => latest(clusters, cluster) !== undefined)
    : { reason: invalid, whole: true }
}

/** A cluster or listener in the form that is there already is not looked at again. */
const refuser = (
  state: EnvoyState,
  response: ReceivedResponse,
): ((resource: ReceivedResource) => Refusal | undefined) => {
  const { clusters, listeners } = state
  const { refuse = () => undefined, busyPorts = () => false } = state.options
  const { typeUrl } = response
  const hasBadKey = keyCheck(state.scopes, {
    names: response.resources.map(({ name }) => name),
    gone: state.options.variant === 'sotw' ? 'others' : response.removed,
  })
  const cannotBind = addressCheck(listeners, goneOf(state, response), busyPorts)
  return (resource) => {
    const { name, bytes } = resource
    switch (typeUrl) {
      case clusterType:
        return sameBytes(latest(clusters, name)?.bytes, bytes)
          ? undefined
          : refuse(typeUrl, name, bytes)
      case listenerType:
        return hasForm(listeners, name, bytes)
          ? undefined
          : (refuse(typeUrl, name, bytes) ?? cannotBind(resource))
      case endpointType:
        return refuse(typeUrl, name, bytes)
      case scopeType:
        return isWatched(state, typeUrl)
          ? (refuse(typeUrl, name, bytes) ?? hasBadKey(resource))
          : undefined
      case routeType:
        return refuse(typeUrl, name, bytes) ?? tableFault(state, bytes)
    }
  }
}
