import { randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { type Clock, systemClock } from '../../../ports/clock.js'
import type { ApiClient } from '../api.js'
import { objectIn } from '../informers/index.js'
import { type Answer, ask } from '../objects/answer.js'
import type { ApiProblem } from '../objects/api-problem.js'
import { pause } from '../objects/pause.js'
import { configMapAt, type Place } from '../objects/places.js'
import {
  createRequests,
  type ForgetAnswer,
  type ForgetRequest,
  forgetRequestsName,
  keyOfId,
  patchRequests,
  readRequests,
  requestIn,
} from './request.js'

/** How long an answer is waited for, in milliseconds: many times what a control plane takes to look. */
export const forgetAnswerMs = 20_000

/** How often it is looked whether there is one, in milliseconds. */
const lookEveryMs = 500

export interface AskToForgetOptions {
  /** That of the control plane. */
  readonly namespace: string
  readonly clock?: Clock | undefined
}

/**
 * Asks the control plane at work, through the API server, to wait no more for a lost Envoy, and waits for its answer,
 * for `forgetAnswerMs` at most. Left if there is none; it may come to it all the same.
 *
 * Needs the permissions to get, create and patch ConfigMaps in the namespace.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const askToForget =
  (
    client: ApiClient,
    { namespace, clock = systemClock }: AskToForgetOptions,
    id: string,
    signal: AbortSignal,
  ): TaskEither<ApiProblem, ForgetAnswer> =>
  async () => {
    const place = configMapAt(namespace, forgetRequestsName)
    const request: ForgetRequest = { id, nonce: randomUUID() }
    const put = await putRequest(client, place, request, signal)
    if (put._tag !== 'Done') return E.left(put.problem)
    const deadlineMs = clock.nowMs() + forgetAnswerMs
    const key = keyOfId(id)
    while (!signal.aborted && clock.nowMs() < deadlineMs) {
      await pause(clock, lookEveryMs, signal)
      const found = await ask(client, readRequests(place), `read ${place.shown}`, signal)
      if (found._tag === 'Problem' && !found.isPassing) return E.left(found.problem)
      const said =
        found._tag === 'Done' ? requestIn(objectIn(found.object, 'data')[key]) : undefined
      if (said?.nonce !== request.nonce || said.answer === undefined) continue
      await ask(client, patchRequests(place, [[key, undefined]]), `tidy ${place.shown}`, signal)
      return E.right(said.answer)
    }
    const message = `no control plane has answered within ${forgetAnswerMs / 1_000} s`
    return E.left({ _tag: 'Failed', message })
  }

const putRequest = async (
  client: ApiClient,
  place: Place,
  request: ForgetRequest,
  signal: AbortSignal,
): Promise<Answer> => {
  const patch = patchRequests(place, [[keyOfId(request.id), request]])
  const what = `write ${place.shown}`
  const patched = await ask(client, patch, what, signal)
  if (patched._tag !== 'Missing') return patched
  const created = await ask(client, createRequests(place, request), what, signal)
  return created._tag === 'Conflict' ? ask(client, patch, what, signal) : created
}
