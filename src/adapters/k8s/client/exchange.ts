import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from 'node:http'
import { request as requestHttps } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import type { ApiReply } from '../api.js'
import type { Operation } from './bounded.js'
import { retryAfterMs } from './retry-after.js'
import type { Sink } from './sink.js'

/** A request as it goes out. */
export interface Outgoing {
  readonly server: URL
  readonly agent: Agent
  readonly method: string
  /** With its query, and what stands before it in the server's address. */
  readonly target: string
  readonly headers: OutgoingHttpHeaders
  readonly body: string | undefined
  /** Asked when it has got its connection; see `ApiRequest`. */
  readonly isWanted: (() => boolean) | undefined
}

/** What became of a request. */
export type Exchanged =
  | { readonly _tag: 'Replied'; readonly reply: ApiReply }
  | {
      readonly _tag: 'Broken'
      readonly cause: unknown
      /**
       * The connection had been used before, and was reset before anything came back: most likely
       * the server had closed it while it was idle, and never saw the request.
       */
      readonly isStale: boolean
    }
  /** It was not sent. */
  | { readonly _tag: 'Unwanted' }

/**
 * Sends one request, and takes its reply in as `sinkOf` its status says. Rejects only where it
 * cannot be written, as with a header that no header may be. Once `operation` is over, the
 * connection is ended and nothing more is taken in.
 */
export const exchange = (
  outgoing: Outgoing,
  sinkOf: (status: number) => Sink,
  operation: Operation,
): Promise<Exchanged> =>
  new Promise((resolve) => {
    if (operation.isOver()) return resolve(broken(new Error('it is over'), false))
    const sent = open(outgoing)
    const state = { isAnswered: false, isDone: false }
    const finish = (exchanged: Exchanged): void => {
      state.isDone = true
      resolve(exchanged)
    }
    const breakOff = (cause: unknown): void => {
      if (state.isDone) return
      finish(broken(cause, !state.isAnswered && sent.reusedSocket && isReset(cause)))
      sent.destroy()
    }
    operation.onOver(() => breakOff(new Error('it is over')))
    // Stays for good: what was destroyed may still say so.
    sent.on('error', breakOff)
    sent.on('close', () => breakOff(new Error(state.isAnswered ? endedInReply : endedBefore)))
    sent.on('response', (response) => {
      state.isAnswered = true
      operation.heard()
      const status = response.statusCode ?? 0
      takeIn(response, sinkOf(status), operation, breakOff, (body) => {
        const askedMs = retryAfterMs(response.headers, operation.nowMs())
        finish({ _tag: 'Replied', reply: { status, body, retryAfterMs: askedMs } })
      })
    })
    const { isWanted, body } = outgoing
    if (isWanted === undefined) return void sent.end(body)
    whenConnected(sent, () => {
      if (state.isDone || isWanted()) return void sent.end(body)
      finish({ _tag: 'Unwanted' })
      sent.destroy()
    })
  })

/** Until then nothing goes out, whether it waits for a connection that others use or for a new one. */
const whenConnected = (sent: ClientRequest, then: () => void): void => {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return then()
    socket.once(sent.protocol === 'https:' ? 'secureConnect' : 'connect', then)
  })
}

const endedBefore = 'the connection ended without a reply'
const endedInReply = 'the connection ended in the middle of a reply'

const broken = (cause: unknown, isStale: boolean): Exchanged => ({ _tag: 'Broken', cause, isStale })

const open = ({ server, agent, method, target, headers }: Outgoing): ClientRequest => {
  const request = server.protocol === 'http:' ? requestHttp : requestHttps
  return request({ ...urlToHttpOptions(server), agent, method, path: target, headers })
}

const takeIn = (
  response: IncomingMessage,
  sink: Sink,
  operation: Operation,
  breakOff: (cause: unknown) => void,
  onBody: (body: unknown) => void,
): void => {
  response.on('data', (chunk: Buffer) => {
    operation.heard()
    const problem = operation.isOver() ? undefined : sink.write(chunk)
    if (problem !== undefined) breakOff(new Error(problem))
  })
  response.on('error', breakOff)
  response.on('end', () => {
    const problem = sink.end()
    if (problem === undefined) onBody(sink.body())
    else breakOff(new Error(problem))
  })
}

const resets: ReadonlyArray<unknown> = ['ECONNRESET', 'EPIPE']

const isReset = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && resets.includes(cause.code)
