import { type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import type { Answer, changeHeaders, Forwarded, Header } from '../../../adapters/memory/index.js'
import { defaultDataPlane } from '../../../core/edge-route.js'
import { systemClock } from '../../../ports/clock.js'
import type { LedgerSource } from '../../../ports/ledger-source.js'
import type { SnapshotSink } from '../../../ports/snapshot-sink.js'
import { loadMemory } from '../peers.js'
import { listenHttp } from './listen.js'
import type { Scope } from './scope.js'

/** The name of the one listener of the demo. */
const listener = 'http'

/**
 * Starts an Envoy in memory, and an HTTP server that does with each request what that Envoy says.
 * Returns where the control plane publishes to, and what that Envoy holds.
 */
export const startMemoryEnvoy = async (
  scope: Scope,
  port: number,
): Promise<SnapshotSink & LedgerSource> => {
  const memory = await loadMemory()
  const controlPlane = memory.memoryControlPlane({ clock: systemClock })
  const envoy = controlPlane.connect({
    node: { id: 'demo', cluster: defaultDataPlane },
    variant: 'delta',
  })
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const answer = envoy.request({
      listener,
      host: request.headers.host ?? '',
      path: request.url ?? '/',
      method: request.method ?? 'GET',
      headers: headersOf(request),
      pick: Math.random(),
    })
    follow(answer, request, response, memory.changeHeaders)
  }
  await listenHttp(
    scope,
    (request, response) => guarded(response, () => handle(request, response)),
    port,
  )
  return {
    publish: (snapshot) => {
      controlPlane.publish(snapshot)
      controlPlane.settle()
    },
    ledger: controlPlane.ledger,
    onLedgerChange: controlPlane.onLedgerChange,
  }
}

/**
 * Does something for one request. What it throws is the answer to that request, and harms no other
 * one: a listener of an HTTP server that throws would end the process.
 */
const guarded = (response: ServerResponse, work: () => void): void => {
  try {
    work()
  } catch (cause) {
    if (response.headersSent) response.destroy()
    else reply(response, 500, [], `${cause instanceof Error ? cause.message : String(cause)}\n`)
  }
}

const follow = (
  answer: Answer,
  request: IncomingMessage,
  response: ServerResponse,
  change: typeof changeHeaders,
): void => {
  switch (answer._tag) {
    case 'Forwarded':
      return forward(request, response, answer, change)
    case 'Redirected':
      return reply(response, answer.code, [...answer.headers, ['location', answer.location]])
    case 'Responded':
      return reply(response, answer.code, answer.headers, answer.body)
    case 'NotFound':
      return reply(response, 404)
    case 'ServiceUnavailable':
      return reply(response, 503)
    case 'ConnectionRefused':
      return void request.destroy()
  }
}

const headersOf = ({ rawHeaders }: IncomingMessage): ReadonlyArray<Header> =>
  rawHeaders.flatMap((name, index): ReadonlyArray<Header> =>
    index % 2 === 0 && name.toLowerCase() !== 'host' ? [[name, rawHeaders[index + 1] ?? '']] : [],
  )

const reply = (
  response: ServerResponse,
  code: number,
  headers: ReadonlyArray<Header> = [],
  body = '',
): void => {
  response.writeHead(code, flat(headers))
  response.end(body)
}

const forward = (
  request: IncomingMessage,
  response: ServerResponse,
  { endpoints, host, path, headers, responseChanges }: Forwarded,
  change: typeof changeHeaders,
): void => {
  const endpoint = endpoints[Math.floor(Math.random() * endpoints.length)]
  const sent = send(
    {
      host: endpoint?.address,
      port: endpoint?.port,
      path,
      method: request.method,
      headers: flat([...headers, ['host', host]]),
    },
    (answer) =>
      guarded(response, () => {
        const changed = change(headersOf(answer), responseChanges)
        response.writeHead(answer.statusCode ?? 502, flat(changed))
        // Ends the one with the other: half an answer must not look like a whole one.
        pipeline(answer, response, () => undefined)
      }),
  )
  sent.on('error', () => (response.headersSent ? response.destroy() : reply(response, 503)))
  response.on('close', () => sent.destroy())
  request.pipe(sent)
}

/** Node's form of raw headers: names and values in turn. */
const flat = (headers: ReadonlyArray<Header>): Array<string> => headers.flatMap(([...pair]) => pair)
