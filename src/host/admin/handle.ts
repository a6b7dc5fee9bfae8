import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../../ports/logger.js'
import type { Operator } from '../operator.js'
import { type Answer, answer, refused } from './answer.js'
import { readBody } from './body.js'
import { errorDocument } from './document.js'
import type { AdminLimits } from './limits.js'
import { strangerOf } from './strangers.js'
import { type Target, targetOf } from './target.js'
import type { Turns } from './turns.js'

export interface Handling {
  /** `undefined` as long as the control plane has not begun, and once it ends. */
  readonly operator: () => Operator | undefined
  /** Why there is none, for people; `undefined` where nobody knows. */
  readonly whyNone: () => string | undefined
  readonly limits: AdminLimits
  /** Must not throw. */
  readonly logger: Logger
  readonly nowMs: () => number
  readonly turns: Turns
  /** What the endpoint was told to listen on: an address, or a name. */
  readonly ownHost: string
}

/** Answers one request. Never rejects. */
export const handle = async (
  request: IncomingMessage,
  response: ServerResponse,
  at: Handling,
): Promise<void> => {
  try {
    const answered = await answerOf(request, at)
    if (answered === undefined) response.destroy()
    else write(response, answered)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    at.logger.log('error', 'the control plane has failed to answer an operator', { message })
    write(response, refused(500, 'Failed', message))
  }
}

/** `undefined` if the client has gone. */
const answerOf = async (request: IncomingMessage, at: Handling): Promise<Answer | undefined> => {
  const stranger = strangerOf(request, at.ownHost)
  if (stranger !== undefined) return refused(403, 'Forbidden', stranger)
  const target = targetOf(request.url ?? '')
  if (target === undefined) return refused(404, 'NotFound', 'there is nothing under this path')
  const wrong = wrongUse(request, target)
  if (wrong !== undefined) return wrong
  const body =
    target.method === 'POST'
      ? await readBody(request, at.limits.maxBodyBytes)
      : ({ _tag: 'Json', fields: {} } as const)
  if (body._tag === 'Gone') return undefined
  if (body._tag === 'TooLarge')
    return refused(413, 'BadRequest', `the body has more than ${at.limits.maxBodyBytes} bytes`)
  if (body._tag === 'NotAnObject') return refused(400, 'BadRequest', 'the body is no JSON object')
  const operator = at.operator()
  return operator === undefined
    ? refused(503, 'Starting', at.whyNone() ?? servesNobody)
    : answer(target, body.fields, { ...at, ...at.limits, operator })
}

const servesNobody = 'the control plane serves no Envoys yet, or no longer: ask again in a moment'

const wrongUse = ({ method, headers }: IncomingMessage, target: Target): Answer | undefined => {
  if (method !== target.method)
    return {
      ...refused(405, 'BadRequest', `this path takes ${target.method} only`),
      headers: { allow: target.method },
    }
  return target.method === 'POST' &&
    !/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')
    ? refused(415, 'BadRequest', 'a POST must have the header content-type: application/json')
    : undefined
}

const write = (response: ServerResponse, { status, document, headers }: Answer): void => {
  if (response.destroyed || response.headersSent) return
  const body = Buffer.from(`${JSON.stringify(document)}\n`)
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(body)
}

/** The answer to what is no HTTP, as it goes to the socket: there is no response object. */
export const rawAnswer = (code: string | undefined): string => {
  const [status, message] =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? ['408 Request Timeout', 'the request takes too long']
      : code === 'HPE_HEADER_OVERFLOW'
        ? ['431 Request Header Fields Too Large', 'the headers are too large']
        : ['400 Bad Request', 'this is no HTTP request']
  const body = JSON.stringify(errorDocument('BadRequest', message))
  const headers = `content-type: application/json\r\ncontent-length: ${body.length}`
  return `HTTP/1.1 ${status}\r\n${headers}\r\nconnection: close\r\n\r\n${body}`
}
