import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { aborted } from '../aborted.js'
import { type Clock, systemClock } from '../../ports/clock.js'
import { guardedLogger } from '../../ports/faults.js'
import { type HostPort, showHostPort } from '../../ports/host-port.js'
import { type Logger, silentLogger } from '../../ports/logger.js'
import type { Operator } from '../operator.js'
import { handle, rawAnswer } from './handle.js'
import { type AdminLimits, defaultAdminLimits } from './limits.js'
import { isLoopback } from './strangers.js'
import { inTurns } from './turns.js'

export interface AdminOptions extends HostPort {
  /** Nothing is logged if absent. */
  readonly logger?: Logger
  /** This machine's time if absent. */
  readonly clock?: Pick<Clock, 'nowMs'>
  readonly limits?: Partial<AdminLimits>
  /**
   * Why there is no operator at the moment, for people, and what to do. Where it is absent, or gives `undefined`, they
   * are told to ask again in a moment.
   */
  readonly whyNone?: () => string | undefined
}

/** A running admin endpoint. */
export interface AdminServer {
  /** Where it listens: an IP address, and the port that it got. */
  readonly address: HostPort
  /** Resolves when it has stopped; never rejects. */
  readonly finished: Promise<void>
}

/**
 * Serves what a person asks a control plane, and tells it, over HTTP in JSON (see `document.ts`):
 *
 * | method and path                               | answer              |
 * | --------------------------------------------- | ------------------- |
 * | `GET /v1/routes/NAMESPACE/NAME`               | `RoutesDocument`    |
 * | `GET /v1/nodes`                               | `NodesDocument`     |
 * | `POST /v1/nodes/ID/forget`                    | `ForgottenDocument` |
 * | `POST /v1/routes/NAMESPACE/NAME/break-glass`  | `BrokenDocument`    |
 *
 * Everything else is an `ErrorDocument`. A POST has the content type `application/json`, which no web
 * page can send here without being asked first, and nobody answers that question.
 *
 * It has no authentication: whoever can connect may do all of this. Listen on a loopback address; on
 * any other it logs a warning. `operator` may be `undefined` until the control plane has begun, and once it ends.
 *
 * Rejects if it cannot listen. No client can hold it up or make it fail, within `AdminLimits`; it ends
 * with the signal, whatever clients do. Keeps the process alive until then, as servers do.
 *
 * @category host
 * @since 0.1.0
 */
export const serveAdmin = async (
  options: AdminOptions,
  operator: () => Operator | undefined,
  signal: AbortSignal,
): Promise<AdminServer> => {
  const limits = { ...defaultAdminLimits, ...options.limits }
  const { nowMs } = options.clock ?? systemClock
  const logger = guardedLogger(options.logger ?? silentLogger)
  const { whyNone = () => undefined, host: ownHost } = options
  const at = { operator, whyNone, limits, nowMs, logger, turns: inTurns(nowMs), ownHost }
  const server = httpServer(limits)
  const requests = new Map<ServerResponse, IncomingMessage>()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    requests.set(response, request)
    response.on('close', () => requests.delete(response))
    void handle(request, response, at)
  })
  const address = await listen(server, options)
  // An accept that fails, for want of file descriptors say, is told here: the client tries again.
  server.on('error', ({ message }) => logger.log('warn', 'the admin endpoint', { message }))
  if (!isLoopback(address.host))
    logger.log('warn', 'the admin endpoint has no authentication, and others can reach it', {
      admin: showHostPort(address),
    })
  return { address, finished: closed(server, requests, limits, signal) }
}

const httpServer = (limits: AdminLimits): Server => {
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    requestTimeout: limits.requestTimeoutMs,
    headersTimeout: limits.requestTimeoutMs,
    // How often the two are looked at: each is exceeded by no more than this.
    connectionsCheckingInterval: Math.min(1_000, limits.requestTimeoutMs),
    // Its absence is answered as any other wrong Host is.
    requireHostHeader: false,
  })
  server.maxConnections = limits.maxConnections
  // No connection outlives its answer: there is none to be closed when the endpoint ends.
  server.maxRequestsPerSocket = 1
  server.on('connection', (socket: Socket) => {
    const timer = setTimeout(() => socket.destroy(), limits.connectionTimeoutMs)
    timer.unref()
    socket.on('close', () => clearTimeout(timer))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (socket.writable && socket.bytesWritten === 0) socket.write(rawAnswer(error.code))
    socket.destroySoon()
  })
  return server
}

const listen = async (server: Server, { host, port }: HostPort): Promise<HostPort> => {
  try {
    const { address } = await lookup(host)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: address, port }, resolve)
    })
    const bound = server.address()
    return { host: address, port: typeof bound === 'object' && bound !== null ? bound.port : port }
  } catch (cause) {
    const where = showHostPort({ host, port })
    throw new Error(`cannot listen for operators on ${where}: ${reasonOf(cause)}`, { cause })
  }
}

const reasonOf = (cause: unknown): string => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return 'the port is in use'
    case 'EACCES':
      return 'permission denied, as for most ports below 1024'
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address'
    case 'ENOTFOUND':
      return 'the host name has no address'
    default:
      return cause instanceof Error ? cause.message : String(cause)
  }
}

/** Resolves when the signal has come, and every connection is closed. */
const closed = async (
  server: Server,
  requests: ReadonlyMap<ServerResponse, IncomingMessage>,
  { stopGraceMs }: AdminLimits,
  signal: AbortSignal,
): Promise<void> => {
  await aborted(signal)
  const ended = new Promise<void>((resolve) => server.close(() => resolve()))
  for (const [response, request] of requests) if (!request.complete) response.destroy()
  // What is being done is told: a glass that is broken already, say.
  await Promise.race([
    Promise.all([...requests.keys()].filter(({ destroyed }) => !destroyed).map(closing)),
    new Promise((resolve) => setTimeout(resolve, stopGraceMs).unref()),
  ])
  server.closeAllConnections()
  await ended
}

const closing = (response: ServerResponse): Promise<unknown> =>
  new Promise((resolve) => response.once('close', resolve))
