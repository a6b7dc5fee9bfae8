import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { prngOf } from '../../support/churn/prng.js'
import type { Cluster } from '../cluster/cluster.js'
import { type ApiCall, apiCallOf, isWrite } from './api-call.js'
import { passWatch, type Watch } from './proxy-watch.js'

/** An answer that the proxy gives in place of the API server. */
export interface Refusal {
  readonly status: number
  /** Whether the request takes effect all the same: its answer alone is lost. */
  readonly isDone?: boolean
  readonly retryAfterSeconds?: number
}

/** What goes wrong between a client and the API server; nothing of what is absent. */
export interface Faults {
  /** Which part of the writes is refused, from 0 to 1. */
  readonly refusedShare?: number
  /** Each refused write gets one of these, picked by chance. */
  readonly refusals?: ReadonlyArray<Refusal>
  /** Is awaited before a request goes on, so it may delay or hold it. A write that is refused waits for it, too. */
  readonly before?: (call: ApiCall) => Promise<unknown> | undefined
}

/** A request that was heard, and what became of it. */
export interface ProxiedCall extends ApiCall {
  /** By `performance.now()`. */
  readonly atMs: number
  /** `undefined` as long as there is no answer, or where there never was one. */
  readonly status: number | undefined
}

/** Stands between clients and an API server. Knows who asks by what they send: bearer tokens only. */
export interface ApiProxy {
  /** What clients dial, with the API server's own certificate. */
  readonly url: string
  /** From now on; `{}` for none. */
  readonly setFaults: (faults: Faults) => void
  /** Ends all open watches without a word; returns how many there were. */
  readonly cutWatches: () => number
  /** Says nothing on any watch any more, open or new, until they are thawed: then nothing is missing. */
  readonly freezeWatches: () => void
  readonly thawWatches: () => void
  /** In the order in which they were heard. */
  readonly calls: () => ReadonlyArray<ProxiedCall>
  /** How many of them there were, by verb and resource, as in `patch edgeroutes/status`. */
  readonly counts: () => ReadonlyMap<string, number>
  /** How often the API server said that what was asked for is too old, in either form. */
  readonly gone: () => { readonly asStatus: number; readonly inStream: number }
  readonly stop: () => Promise<void>
}

interface State {
  faults: Faults
  inStream: number
  readonly calls: Array<ProxiedCall & { status: number | undefined }>
  readonly watches: Set<Watch>
  isFrozen: boolean
}

const defaultRefusals: ReadonlyArray<Refusal> = [
  { status: 409 },
  { status: 500 },
  { status: 500, isDone: true },
]

/** Starts one on 127.0.0.1. The seed decides which writes are refused. */
export const startProxy = async (cluster: Cluster, seed: number): Promise<ApiProxy> => {
  const calls: State['calls'] = []
  const state: State = { faults: {}, inStream: 0, calls, watches: new Set(), isFrozen: false }
  const prng = prngOf(seed)
  const pickRefusal = (call: ApiCall): Refusal | undefined => {
    const { refusedShare = 0, refusals = defaultRefusals } = state.faults
    if (!isWrite(call) || prng() >= refusedShare) return undefined
    return refusals[Math.floor(prng() * refusals.length)]
  }
  const upstream = upstreamOf(cluster)
  const { certificate, key } = cluster.serverCertificate
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) })
  // An idle connection that was closed just as a request is on its way would be a fault that nobody asked for.
  Object.assign(server, { keepAliveTimeout: 0, requestTimeout: 0 })
  server.on('request', (asked, answer) => {
    const call = apiCallOf(asked.method ?? '', asked.url ?? '')
    const record = { ...call, atMs: performance.now(), status: undefined }
    state.calls.push(record)
    handle({ asked, answer, record, state, upstream, refusal: pickRefusal(call) }).catch(() =>
      answer.destroy(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const at = server.address()
  const port = typeof at === 'object' && at !== null ? at.port : 0
  return {
    url: `https://127.0.0.1:${port}`,
    ...controls(state),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        upstream.agent.destroy()
      }),
  }
}

const controls = (state: State): Omit<ApiProxy, 'url' | 'stop'> => ({
  setFaults: (faults) => {
    state.faults = faults
  },
  cutWatches: () => {
    const { size } = state.watches
    for (const watch of state.watches) watch.cut()
    return size
  },
  freezeWatches: () => {
    state.isFrozen = true
  },
  thawWatches: () => {
    state.isFrozen = false
    for (const watch of state.watches) watch.flush()
  },
  calls: () => state.calls,
  counts: () => {
    const counts = new Map<string, number>()
    for (const { verb, resource } of state.calls) {
      const key = `${verb} ${resource}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return counts
  },
  gone: () => ({
    asStatus: state.calls.filter(({ status }) => status === 410).length,
    inStream: state.inStream,
  }),
})

interface Upstream {
  readonly agent: Agent
  /** Passes a request on, and resolves with the head of its answer. */
  readonly pass: (asked: IncomingMessage, answer: ServerResponse) => Promise<IncomingMessage>
}

const upstreamOf = ({ url, caFile }: Cluster): Upstream => {
  const agent = new Agent({ ca: readFileSync(caFile), keepAlive: true })
  return {
    agent,
    pass: (asked, answer) =>
      new Promise((resolve, reject) => {
        const { method, headers } = asked
        const options = { agent, headers, ...(method !== undefined && { method }) }
        const sent = request(url + (asked.url ?? ''), options, resolve)
        sent.on('error', reject)
        // Whoever asked has gone.
        answer.on('close', () => {
          if (!answer.writableFinished) sent.destroy()
        })
        asked.pipe(sent)
      }),
  }
}

interface Exchange {
  readonly asked: IncomingMessage
  readonly answer: ServerResponse
  readonly record: State['calls'][number]
  readonly state: State
  readonly upstream: Upstream
  readonly refusal: Refusal | undefined
}

const handle = async (exchange: Exchange): Promise<void> => {
  const { asked, answer, record, state, upstream, refusal } = exchange
  await state.faults.before?.(record)
  if (refusal !== undefined && refusal.isDone !== true) {
    asked.resume()
    return refuse(exchange, refusal)
  }
  const got = await upstream.pass(asked, answer)
  if (refusal !== undefined) {
    got.resume()
    return refuse(exchange, refusal)
  }
  const status = got.statusCode ?? 502
  record.status = status
  answer.writeHead(status, got.headers)
  if (record.verb !== 'watch' || status !== 200) return pipeline(got, answer)
  const onGone = (): void => void (state.inStream += 1)
  return passWatch({ got, answer, watches: state.watches, isFrozen: () => state.isFrozen, onGone })
}

const reasons: Readonly<Record<number, string>> = {
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
}

/** In the form of the API server. */
const refuse = ({ answer, record }: Exchange, { status, retryAfterSeconds }: Refusal): void => {
  record.status = status
  answer.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  })
  const reason = reasons[status]
  const said = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: status }
  answer.end(JSON.stringify({ ...said, reason, message: 'refused by the proxy of a test' }))
}
