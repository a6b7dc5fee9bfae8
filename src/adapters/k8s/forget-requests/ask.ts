import { randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { type Clock, pause, systemClock } from '../../../ports/clock.js'
import type { ApiClient, ApiRequest } from '../api.js'
import { type JsonObject, objectIn } from '../informers/index.js'
import { type Answer, ask, askedPauseMs } from '../objects/answer.js'
import type { ApiProblem } from '../objects/api-problem.js'
import { configMapAt, type Place, versionOf } from '../objects/places.js'
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

/** The longest that it is not looked because the server asks to be left alone, in milliseconds. */
const maxRetryAfterMs = 5_000

export interface AskToForgetOptions {
  /** That of the control plane. */
  readonly namespace: string
  readonly clock?: Clock | undefined
}

/** How long it may take to take a request back, in milliseconds. */
const withdrawMs = 2_000

/**
 * Asks the control plane at work, through the API server, to wait no more for a lost Envoy, and waits for its answer,
 * for `forgetAnswerMs` at most. Left if there is none: then the request is taken back, so that nothing comes of it
 * later, as far as the API server can be reached.
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
    const answer =
      put._tag === 'Done'
        ? await waitForAnswer({ client, place, clock }, request, signal)
        : E.left(put.problem)
    const mayBeThere = put._tag === 'Done' || (put._tag === 'Problem' && put.isUncertain)
    return E.isRight(answer) || !mayBeThere
      ? answer
      : withdraw({ client, place, clock }, request, answer)
  }

interface AskPorts {
  readonly client: ApiClient
  readonly place: Place
  readonly clock: Clock
}

const waitForAnswer = async (
  { client, place, clock }: AskPorts,
  request: ForgetRequest,
  signal: AbortSignal,
): Promise<E.Either<ApiProblem, ForgetAnswer>> => {
  const key = keyOfId(request.id)
  const deadlineMs = clock.nowMs() + forgetAnswerMs
  let askedMs = 0
  while (!signal.aborted && clock.nowMs() < deadlineMs) {
    await pause(clock, Math.max(lookEveryMs, Math.min(askedMs, maxRetryAfterMs)), signal)
    const found = await ask(client, readRequests(place), `read ${place.shown}`, signal)
    askedMs = askedPauseMs(found)
    if (found._tag === 'Problem' && !found.isPassing) return E.left(found.problem)
    const answer = found._tag === 'Done' ? answerTo(request, found.object) : undefined
    if (answer === undefined) continue
    await ask(client, patchRequests(place, [[key, undefined]]), `tidy ${place.shown}`, signal)
    return E.right(answer)
  }
  const message = signal.aborted
    ? 'the answer was not waited for'
    : `no control plane has answered within ${forgetAnswerMs / 1_000} s`
  return E.left({ _tag: 'Failed', message })
}

const answerTo = (request: ForgetRequest, object: JsonObject): ForgetAnswer | undefined => {
  const said = requestIn(objectIn(object, 'data')[keyOfId(request.id)])
  return said?.nonce === request.nonce ? said.answer : undefined
}

/** Takes a request back, unless it is answered at the last moment. */
const withdraw = async (
  { client, place, clock }: AskPorts,
  request: ForgetRequest,
  unanswered: E.Either<ApiProblem, ForgetAnswer>,
): Promise<E.Either<ApiProblem, ForgetAnswer>> => {
  const deadline = new AbortController()
  const cancel = clock.after(withdrawMs, () => deadline.abort())
  const send = (what: ApiRequest): Promise<Answer> =>
    ask(client, what, `tidy ${place.shown}`, deadline.signal)
  const key = keyOfId(request.id)
  let result = unanswered
  for (let i = 0; i < maxWithdrawals; i += 1) {
    const found = await send(readRequests(place))
    if (found._tag !== 'Done') break
    if (requestIn(objectIn(found.object, 'data')[key])?.nonce !== request.nonce) break
    const answer = answerTo(request, found.object)
    if (answer !== undefined) result = E.right(answer)
    const version = versionOf(found.object)
    const taken = await send(patchRequests(place, [[key, undefined]], version))
    if (taken._tag !== 'Conflict') break
  }
  cancel()
  return result
}

/** How often it is tried to take a request back: others write to the same object. */
const maxWithdrawals = 3

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
