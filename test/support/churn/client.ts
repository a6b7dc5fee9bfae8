import { Agent, type IncomingMessage, request, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { backendHeader } from './backends.js'
import { delayHeader } from './delay.js'
import type { Answered, Outcome } from './history.js'

/** Sends requests to one Envoy over connections that stay open. */
export interface Client {
  /** Resolves with what came of it; never rejects. */
  readonly ask: (prefix: string, delayed: boolean) => Promise<Answered>
  readonly close: () => void
}

/**
 * An answer takes milliseconds, a delayed one 400. One that takes this long does not come, not even on a machine
 * that has much else to do.
 */
const silenceTimeoutMs = 15_000
const graceMs = 200

/** `maxConnections`: with 1, requests that come while another is on its way wait for it. */
export const openClient = (
  envoy: string,
  port: number,
  now: () => number,
  maxConnections = Infinity,
): Client => {
  const agent = new Agent({ keepAlive: true, maxSockets: maxConnections })
  const ask: Client['ask'] = async (prefix, delayed) => {
    const sentMs = now()
    const headers = delayed ? { [delayHeader]: '1' } : {}
    const { connection, outcome } = await get({ port, path: prefix, agent, headers })
    const doneMs = now()
    return { _tag: 'Answered', envoy, connection, prefix, sentMs, doneMs, delayed, outcome }
  }
  return { ask, close: () => agent.destroy() }
}

const get = (options: RequestOptions): Promise<Pick<Answered, 'connection' | 'outcome'>> =>
  new Promise((resolve) => {
    let connection = 0
    let isDone = false
    const done = (outcome: Outcome): void => {
      isDone = true
      resolve({ connection, outcome })
    }
    const sent = request({ host: '127.0.0.1', timeout: silenceTimeoutMs, ...options }, (answer) => {
      let body = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => (body += chunk))
      answer.on('error', (error) => done(failed(error)))
      answer.on('end', () => done(outcomeOf(answer, body)))
    })
    sent.on('socket', (socket) => (connection = numberOf(socket)))
    // Where this process itself was held up, the answer may be there, and only be read behind the timer.
    const giveUp = (): unknown => isDone || sent.destroy(new Error('silence'))
    sent.on('timeout', () => setTimeout(giveUp, graceMs))
    sent.on('error', (error) => done(failed(error)))
    sent.end()
  })

const outcomeOf = ({ statusCode: status = 0, headers }: IncomingMessage, body: string): Outcome => {
  const backend = headers[backendHeader]
  return {
    _tag: 'Status',
    status,
    ...(typeof backend === 'string' ? { backend } : {}),
    ...(status === 200 ? {} : { body }),
  }
}

const failed = (error: NodeJS.ErrnoException): Outcome => ({
  _tag: 'Failed',
  reason: error.code ?? error.message,
})

const numbers = new WeakMap<Socket, number>()
let sockets = 0

const numberOf = (socket: Socket): number => {
  const number = numbers.get(socket) ?? (sockets += 1)
  numbers.set(socket, number)
  return number
}
