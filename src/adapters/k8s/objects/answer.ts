import * as E from 'fp-ts/lib/Either.js'
import { cutMessage } from '../../../core/cut-message.js'
import type { ApiClient, ApiFailure, ApiReply, ApiRequest } from '../api.js'
import { isObject, type JsonObject, textIn } from '../reflector/index.js'
import { isDenied, isDone, isPassing, saidBy } from '../reply.js'
import type { ApiProblem } from './api-problem.js'

/** What has become of a request about one object, split by what is to be done next. */
export type Answer =
  /** It was done; what the object is now. */
  | { readonly _tag: 'Done'; readonly object: JsonObject }
  /** There is none of this name; or, to a creation, no such namespace. */
  | { readonly _tag: 'Missing'; readonly problem: ApiProblem }
  /** It has changed since it was read, what it was read with has expired, or there is one already. Read it again. */
  | {
      readonly _tag: 'Conflict'
      readonly problem: ApiProblem
      /** There is one of the name that was to be made. (A quota that many use at once makes conflicts, too.) */
      readonly alreadyExists: boolean
    }
  | {
      readonly _tag: 'Problem'
      readonly problem: ApiProblem
      /** It may have been done, or may still be. */
      readonly isUncertain: boolean
      /** It could go better later. */
      readonly isPassing: boolean
      /** How long it asks to be left alone, in milliseconds. */
      readonly retryAfterMs: number | undefined
    }

/** Sends a request; `what` is as in `write the ConfigMap edge/roster`. Never rejects. */
export const ask = async (
  client: ApiClient,
  request: ApiRequest,
  what: string,
  signal: AbortSignal,
): Promise<Answer> => {
  const reply = await attempt(client, request, signal)
  return E.isLeft(reply) ? unanswered(reply.left, what) : answerOf(reply.right, what)
}

const attempt = async (
  client: ApiClient,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<E.Either<ApiFailure, ApiReply>> => {
  try {
    return await client.send(request, signal)()
  } catch (bug) {
    return E.left({ _tag: 'Unreachable', message: `the client threw: ${String(bug)}` })
  }
}

const unanswered = ({ message }: ApiFailure, what: string): Answer => ({
  _tag: 'Problem',
  problem: { _tag: 'Unreachable', message: `cannot ${what}: ${message}` },
  isUncertain: true,
  isPassing: true,
  retryAfterMs: undefined,
})

const answerOf = (reply: ApiReply, what: string): Answer => {
  const { status, body, retryAfterMs } = reply
  if (isDone(reply)) return { _tag: 'Done', object: isObject(body) ? body : {} }
  const problem = problemOf(reply, what)
  if (status === 404) return { _tag: 'Missing', problem }
  if (status === 409 || status === 410) {
    const alreadyExists = isObject(body) && textIn(body, 'reason') === 'AlreadyExists'
    return { _tag: 'Conflict', problem, alreadyExists }
  }
  const isUncertain = status >= 500
  return { _tag: 'Problem', problem, isUncertain, isPassing: isPassing(reply), retryAfterMs }
}

const problemOf = (reply: ApiReply, what: string): ApiProblem => {
  const said = saidBy(reply)
  return {
    _tag: isDenied(reply) ? 'Denied' : 'Failed',
    message: `cannot ${what}: ${reasonOf(reply.status)}${said === undefined ? '' : `: ${cutMessage(said)}`}`,
  }
}

const reasonOf = (status: number): string => {
  switch (status) {
    case 401:
      return 'the API server does not accept the credentials'
    case 403:
      return 'the API server does not allow it'
    case 404:
      return 'there is none'
    default:
      return `the API server answers ${status}`
  }
}
