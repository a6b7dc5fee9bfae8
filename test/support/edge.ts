import { request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveXds } from 'edgewright/xds'
import {
  type Context,
  defaultDataPlane,
  type EdgeRoute,
  type Snapshot,
  routeType,
  type TableForm,
  translate,
  versionOf,
  viewOf,
  wholeForm,
  type XdsEvent,
} from 'edgewright'
import { eventually, freePort, startTestEnvoy, type TestEnvoy } from './envoy.js'

/** A control plane, and one real Envoy that is connected to it. */
export interface Edge {
  readonly envoy: TestEnvoy
  /** Where the Envoy's listener is: `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Everything that has happened on the streams so far. */
  readonly events: ReadonlyArray<XdsEvent>
  /** Publishes these routes, and waits until the Envoy has answered all that was sent, and serves it. */
  readonly apply: (routes: ReadonlyArray<EdgeRoute>, context?: Partial<Context>) => Promise<void>
  readonly publish: (snapshot: Snapshot) => void
  /** What `apply` would publish. */
  readonly snapshot: (routes: ReadonlyArray<EdgeRoute>) => Snapshot
  readonly nacks: () => ReadonlyArray<XdsEvent>
  readonly send: (options: SendOptions) => Promise<EdgeAnswer>
  readonly stop: () => Promise<void>
}

export interface SendOptions {
  readonly path: string
  readonly method?: string
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface EdgeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

export interface EdgeOptions {
  /** Worker threads of the Envoy; 2 if absent. With 1 `apply` is done as soon as all is ACKed. */
  readonly concurrency?: number
  /** The form of its tables; whole if absent. */
  readonly form?: TableForm
}

/**
 * An ACK speaks for Envoy's main thread only: its workers follow within this time, of which they
 * need a hundredth as a rule.
 */
const settleMs = 100

export const startEdge = async (
  variant: 'sotw' | 'delta',
  { concurrency = 2, form = wholeForm }: EdgeOptions = {},
): Promise<Edge> => {
  const stopping = new AbortController()
  const events: Array<XdsEvent> = []
  const exchanges = followExchanges()
  const observer = (event: XdsEvent): void => {
    events.push(event)
    exchanges.observe(event)
  }
  const server = await serveXds({ host: '127.0.0.1', port: 0, observer }, stopping.signal)
  const port = await freePort()
  const contextWith = (context: Partial<Context> = {}): Context => ({
    dataPlanes: new Map([
      [defaultDataPlane, { listeners: [{ name: 'http', address: '127.0.0.1', port }], form }],
    ]),
    services: [],
    endpointSlices: [],
    ...context,
  })
  const publish = (snapshot: Snapshot): void => {
    server.publish(snapshot)
  }
  publish(translate([], contextWith()).snapshot)
  const envoy = await startTestEnvoy({ xds: server.address, variant, concurrency })
  return {
    envoy,
    url: `http://127.0.0.1:${port}`,
    events,
    publish,
    snapshot: (routes) => translate(routes, contextWith()).snapshot,
    nacks: () => events.filter(({ _tag }) => _tag === 'ResponseNacked'),
    apply: async (routes, context) => {
      const { snapshot } = translate(routes, contextWith(context))
      publish(snapshot)
      const tables = versionOf(viewOf(snapshot, defaultDataPlane)[routeType])
      await eventually(
        () => exchanges.open(tables),
        (open) => open.length === 0,
        30_000,
      )
      if (concurrency > 1) await sleep(settleMs)
    },
    send: (options) => send(port, options),
    stop: async () => {
      await envoy.stop()
      stopping.abort()
      await server.finished
    },
  }
}

interface Exchanges {
  /** Costs the same for each event, however many there were. */
  readonly observe: (event: XdsEvent) => void
  /**
   * What is still to come, in words: nothing once every response has its answer, and the last route
   * tables of every stream are those of this version. (What an answer brings forth is sent in the
   * same turn, so nothing can be due unseen.)
   */
  readonly open: (tables: string) => ReadonlyArray<string>
}

const followExchanges = (): Exchanges => {
  const streams = new Map<string, { readonly waiting: Set<string>; tables: string }>()
  const observe = (event: XdsEvent): void => {
    if (event._tag === 'StreamOpened')
      streams.set(event.stream, { waiting: new Set(), tables: 'none' })
    const stream = streams.get(event.stream)
    if (event._tag === 'StreamClosed') streams.delete(event.stream)
    if (event._tag === 'ResponseSent') {
      stream?.waiting.add(keyOf(event))
      if (stream !== undefined && event.typeUrl === routeType) stream.tables = event.version
    }
    if (event._tag === 'ResponseAcked' || event._tag === 'ResponseNacked')
      stream?.waiting.delete(keyOf(event))
  }
  const open = (tables: string): ReadonlyArray<string> =>
    streams.size === 0
      ? ['no stream is open']
      : [...streams].flatMap(([id, stream]) => [
          ...[...stream.waiting].map((key) => `stream ${id}: no answer to ${key}`),
          ...(stream.tables === tables ? [] : [`stream ${id}: its tables are ${stream.tables}`]),
        ])
  return { observe, open }
}

const keyOf = (event: { readonly typeUrl: string; readonly nonce: string }): string =>
  `${event.typeUrl} ${event.nonce}`

const send = (port: number, options: SendOptions): Promise<EdgeAnswer> =>
  new Promise((resolve, reject) => {
    const { path, method = 'GET', host, headers = {} } = options
    const sent = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        headers: { ...headers, ...(host === undefined ? {} : { host }) },
        timeout: 10_000,
        agent: false,
      },
      (answer) => {
        let body = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => (body += chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
        )
      },
    )
    sent.on('timeout', () => sent.destroy(new Error(`${path} did not answer`)))
    sent.on('error', reject)
    sent.end()
  })
