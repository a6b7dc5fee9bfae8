import type { OutgoingHttpHeaders } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import type { ApiFailure, ApiReply } from '../api.js'
import type { Operation } from './bounded.js'
import type { Credentials, CredentialSource } from './credentials.js'
import { exchange, type Exchanged } from './exchange.js'
import { explainBreak, explainRefusal } from './explain.js'
import type { Pools, Use } from './pools.js'
import { showServer } from './server.js'
import type { Sink } from './sink.js'

/** All that is needed to ask one API server. */
export interface Line {
  readonly server: URL
  readonly credentials: CredentialSource
  readonly pools: Pools
  readonly userAgent: string
}

/** A request, before it is known who asks. */
export interface Question {
  readonly use: Use
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>> | undefined
  readonly body: unknown
  readonly contentType: string | undefined
  readonly isWanted: (() => boolean) | undefined
}

/** As `GET https://10.0.0.1:6443/api/v1/pods`. */
export const showQuestion = ({ method, path }: Question, server: URL): string =>
  `${method} ${showServer(server)}${path}`

/**
 * Asks once; and once more where the credentials were refused and others can be had; and where a
 * GET went to a connection that had died while nobody used it. Nothing has taken effect then.
 */
export const ask = async (
  line: Line,
  question: Question,
  sinkOf: (status: number) => Sink,
  operation: Operation,
): Promise<E.Either<ApiFailure, ApiReply>> => {
  const { server, credentials } = line
  const what = showQuestion(question, server)
  const unreachable = (why: string): E.Either<ApiFailure, ApiReply> =>
    E.left({ _tag: 'Unreachable', message: `${what}: ${why}` })
  const attempt = (used: Credentials): Promise<Exchanged> =>
    askAs(line, question, used, sinkOf, operation)

  const given = await credentials.current()
  if (E.isLeft(given)) return unreachable(given.left)
  let used = given.right
  let exchanged = await attempt(used)
  if (isRefused(exchanged)) {
    const other = await credentials.after(used)
    if (E.isRight(other) && other.right !== used) {
      used = other.right
      exchanged = await attempt(used)
    }
  }
  switch (exchanged._tag) {
    case 'Replied':
      return E.right(explainRefusal(exchanged.reply, used.what, credentials.problem()))
    case 'Broken':
      return unreachable(explainBreak(exchanged.cause, server))
    case 'Unwanted':
      return E.left({
        _tag: 'Unwanted',
        message: `${what}: not sent, since it is not wanted any more`,
      })
  }
}

const isRefused = (exchanged: Exchanged): boolean =>
  exchanged._tag === 'Replied' && exchanged.reply.status === 401

const askAs = async (
  { server, pools, userAgent }: Line,
  question: Question,
  credentials: Credentials,
  sinkOf: (status: number) => Sink,
  operation: Operation,
): Promise<Exchanged> => {
  const agent = pools.agentFor(question.use, credentials)
  const body = question.body === undefined ? undefined : JSON.stringify(question.body)
  const headers = { ...headersOf(question, body), 'user-agent': userAgent, ...credentials.headers }
  const { method, isWanted } = question
  const target = pathOf(server, question)
  const outgoing = { server, agent, method, target, headers, body, isWanted }
  const first = await exchange(outgoing, sinkOf, operation)
  if (first._tag !== 'Broken' || !first.isStale || method !== 'GET') return first
  pools.dropIdle(agent)
  return exchange(outgoing, sinkOf, operation)
}

const headersOf = ({ contentType }: Question, body: string | undefined): OutgoingHttpHeaders => ({
  accept: 'application/json',
  ...(body !== undefined && {
    'content-type': contentType ?? 'application/json',
    'content-length': Buffer.byteLength(body),
  }),
})

const pathOf = (server: URL, { path, query }: Question): string => {
  const search = new URLSearchParams(query).toString()
  return `${server.pathname.replace(/\/+$/, '')}${path}${search === '' ? '' : `?${search}`}`
}
