import { clusterType, type TypeUrl } from '../../../../core/type-url.js'
import type { DiscoveryRequest } from '../../../../core/xds/messages.js'
import { andThen, ask, type Asking } from './follow.js'
import type { ReceivedResponse } from './messages.js'
import { answerRequest, firstRequest } from './requests.js'
import { type EnvoyState, logged, withWatch, type Withheld } from './state.js'

/** Answers a response: at once, but for clusters while one warms. */
export const giveAnswer = (
  state: EnvoyState,
  { typeUrl, nonce, version }: ReceivedResponse,
  message: string | undefined,
): Asking => {
  const answer: Withheld = { nonce, version, message }
  return typeUrl === clusterType
    ? release({ ...state, withheld: withOneMore(state, answer) })
    : send(state, typeUrl, answer)
}

/**
 * A delta client owes an answer to each response. With the state of the world only the newest is
 * answered, and a refusal that was not told yet stands in that answer, even if it is of an older
 * response.
 */
const withOneMore = (
  { options, withheld }: EnvoyState,
  answer: Withheld,
): ReadonlyArray<Withheld> =>
  options.variant === 'delta'
    ? [...withheld, answer]
    : [{ ...answer, message: answer.message ?? withheld[0]?.message }]

/**
 * What a new stream leaves of the answers that were withheld: in the state of the world a refusal is
 * still told, with the first request.
 */
export const withheldStill = ({ options, withheld }: EnvoyState): ReadonlyArray<Withheld> =>
  options.variant === 'delta' ? [] : withheld.filter(({ message }) => message !== undefined)

/**
 * Gives the answers that were withheld, oldest first, once no cluster warms; before that not even
 * the first request for clusters is sent on a new stream. That request is the first answer as well,
 * where something was taken before it was sent.
 */
export const release = (state: EnvoyState): Asking => {
  const { connected, clusters, watches, withheld } = state
  if (!connected || clusters.paused) return [state, []]
  const { asked } = watches[clusterType]
  const opened = withWatch({ ...state, withheld: [] }, clusterType, { asked: true })
  if (withheld.length === 0) return asked ? [opened, []] : ask(opened, clusterType)
  const [answered, answers] = withheld.reduce<Asking>(
    (asking, answer) => andThen(asking, (soFar) => send(soFar, clusterType, answer)),
    [opened, []],
  )
  return [answered, asked ? answers : openingWith(state, answers)]
}

/** A delta client says in the first request of a stream what it holds, whatever else that says. */
const openingWith = (
  state: EnvoyState,
  [first, ...others]: ReadonlyArray<DiscoveryRequest>,
): ReadonlyArray<DiscoveryRequest> => {
  const opening = firstRequest(state, clusterType)
  if (first?._tag !== 'Delta' || opening._tag !== 'Delta')
    return first === undefined ? others : [first, ...others]
  const { responseNonce, errorDetail } = first
  return [{ ...opening, responseNonce, errorDetail }, ...others]
}

const send = (state: EnvoyState, typeUrl: TypeUrl, answer: Withheld): Asking => {
  const { nonce, version, message } = answer
  const entry = { typeUrl, nonce, version }
  return [
    logged(
      state,
      message === undefined ? { _tag: 'Acked', ...entry } : { _tag: 'Nacked', ...entry, message },
    ),
    [answerRequest(state, typeUrl, nonce, message)],
  ]
}
