import { request as httpRequest } from 'node:http'
import { serveXds } from 'edgewright/xds'
import {
  type Context,
  defaultDataPlane,
  type EdgeRoute,
  type Snapshot,
  routeType,
  translate,
  versionOf,
  viewOf,
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
  /** Publishes these routes, and waits until the Envoy has accepted all that was sent. */
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

export const startEdge = async (variant: 'sotw' | 'delta'): Promise<Edge> => {
  const stopping = new AbortController()
  const events: Array<XdsEvent> = []
  const server = await serveXds(
    { host: '127.0.0.1', port: 0, observer: (event) => events.push(event) },
    stopping.signal,
  )
  const port = await freePort()
  const contextWith = (context: Partial<Context> = {}): Context => ({
    dataPlanes: new Map([
      [defaultDataPlane, { listeners: [{ name: 'http', address: '127.0.0.1', port }] }],
    ]),
    services: [],
    endpointSlices: [],
    ...context,
  })
  const publish = (snapshot: Snapshot): void => {
    server.publish(snapshot)
  }
  publish(translate([], contextWith()).snapshot)
  const envoy = await startTestEnvoy({ xds: server.address, variant, concurrency: 2 })
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
      await settled(events, snapshot)
    },
    send: (options) => send(port, options),
    stop: async () => {
      await envoy.stop()
      stopping.abort()
      await server.finished
    },
  }
}

/**
 * Waits until every response has its answer, and the route tables that were sent last are the snapshot's. (What
 * an answer brings forth is sent in the same turn, so nothing can be due unseen.)
 */
const settled = async (events: ReadonlyArray<XdsEvent>, snapshot: Snapshot): Promise<void> => {
  const tables = versionOf(viewOf(snapshot, defaultDataPlane)[routeType])
  const outstanding = (): ReadonlyArray<string> => {
    const waiting = new Map<string, string>()
    let lastTables = ''
    for (const event of events) {
      if (event._tag === 'ResponseSent') waiting.set(keyOf(event), event.typeUrl)
      if (event._tag === 'ResponseAcked' || event._tag === 'ResponseNacked')
        waiting.delete(keyOf(event))
      if (event._tag === 'ResponseSent' && event.typeUrl === routeType) lastTables = event.version
    }
    return lastTables === tables ? [...waiting.values()] : [routeType]
  }
  await eventually(outstanding, (types) => types.length === 0, 30_000)
}

const keyOf = (event: {
  readonly stream: string
  readonly typeUrl: string
  readonly nonce: string
}): string => `${event.stream} ${event.typeUrl} ${event.nonce}`

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
