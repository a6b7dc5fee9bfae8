import { clusterType, type TypeUrl } from '../../../../core/type-url.js'
import { andThen, ask, type Asking } from './follow.js'
import type { ReceivedResponse } from './messages.js'
import { answerRequest } from './requests.js'
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
 * Gives the answers that were withheld, oldest first, once no cluster warms; before that not even
 * the first request for clusters is sent on a new stream.
 */
export const release = (state: EnvoyState): Asking => {
  const { connected, clusters, watches, withheld, options } = state
  if (!connected || clusters.paused) return [state, []]
  const answersOnly = options.variant === 'sotw' && withheld.length > 0
  const opened: Asking =
    watches[clusterType].asked || answersOnly
      ? [withWatch(state, clusterType, { asked: true }), []]
      : ask(state, clusterType)
  return withheld.reduce<Asking>(
    (asking, answer) => andThen(asking, (soFar) => send(soFar, clusterType, answer)),
    andThen(opened, (soFar) => [{ ...soFar, withheld: [] }, []]),
  )
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
