import * as E from 'fp-ts/lib/Either.js'
import { cutMessage } from '../../../core/cut-message.js'
import type { ApiClient, ApiFailure, ApiReply, ApiRequest } from '../api.js'
import { isObject, type JsonObject, objectIn, textIn } from '../reflector/index.js'
import { isDenied, isDone, isPassing, isVersioned, saidBy } from '../reply.js'
import type { ApiProblem } from './api-problem.js'

/** What has become of a request about one object, split by what is to be done next. */
export type Answer =
  /** It was done; what the object, or the list, is now. Of what was deleted nothing is known by that. */
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
    }

/**
 * Sends a request; `what` is as in `write the ConfigMap edge/roster`. Never rejects.
 *
 * Somebody on the way to the API server, a proxy say, may answer in its place. So what is no object of Kubernetes is
 * not taken for the one that was asked for, nor any 404 for a word on whether there is one.
 */
export const ask = async (
  client: ApiClient,
  request: ApiRequest,
  what: string,
  signal: AbortSignal,
): Promise<Answer> => {
  const reply = await attempt(client, request, signal)
  return E.isLeft(reply) ? unanswered(reply.left, what) : answerOf(request, reply.right, what)
}

/** How long the server asks to be left alone with an answer, in milliseconds; 0 if it does not. */
export const askedPauseMs = (answer: Answer): number =>
  answer._tag === 'Problem' ? (answer.problem.retryAfterMs ?? 0) : 0

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
})

const answerOf = ({ method }: ApiRequest, reply: ApiReply, what: string): Answer => {
  const { status, body } = reply
  if (isDone(reply)) {
    if (method === 'DELETE') return { _tag: 'Done', object: {} }
    return isVersioned(body) ? { _tag: 'Done', object: body } : saysNothing(what, 'something else')
  }
  const problem = problemOf(reply, what)
  if (status === 404)
    return isNotFound(body) ? { _tag: 'Missing', problem } : saysNothing(what, 'a 404 of its own')
  if (status === 409 || status === 410) {
    const alreadyExists = isObject(body) && textIn(body, 'reason') === 'AlreadyExists'
    return { _tag: 'Conflict', problem, alreadyExists }
  }
  const isUncertain = status >= 500
  return { _tag: 'Problem', problem, isUncertain, isPassing: isPassing(reply) }
}

const isNotFound = (body: unknown): boolean =>
  isObject(body) && body.kind === 'Status' && body.reason === 'NotFound'

/** Nothing is known by that, not even whether it was the API server that has answered. */
const saysNothing = (what: string, sent: string): Answer => ({
  _tag: 'Problem',
  problem: {
    _tag: 'Failed',
    message: `cannot ${what}: ${sent} was sent in place of what was asked for. Is there a proxy before the API server?`,
  },
  isUncertain: true,
  isPassing: true,
})

const problemOf = (reply: ApiReply, what: string): ApiProblem => {
  const said = saidBy(reply)
  const words = said === undefined ? '' : `: ${cutMessage(said)}`
  return {
    _tag: isDenied(reply) ? 'Denied' : 'Failed',
    message: `cannot ${what}: ${reasonOf(reply.status)}${words}${remedyOf(reply)}`,
    ...(reply.retryAfterMs !== undefined && { retryAfterMs: reply.retryAfterMs }),
  }
}

/** What to do where a whole namespace is missing, which is said of what was to be made in it. */
const remedyOf = ({ status, body }: ApiReply): string => {
  const details = status === 404 ? objectIn(body, 'details') : {}
  const name = textIn(details, 'name')
  return textIn(details, 'kind') === 'namespaces' && name !== undefined
    ? `; create it: kubectl create namespace ${cutMessage(name)}, or name another with --own-namespace`
    : ''
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
