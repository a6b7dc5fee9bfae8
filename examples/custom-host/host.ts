// A control plane of one's own: which services there are stands in a JSON file, in a form of its own.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  decodeEdgeRoute,
  type Logger,
  noMetrics,
  showFieldError,
  type SourceState,
} from 'edgewright'
import { filesRosterStore } from 'edgewright/files'
import { fromPromises, observeXds, serveAdmin, startHost, systemClock } from 'edgewright/host'
import { serveXds } from 'edgewright/xds'

interface Service {
  readonly path: string
  readonly host: string
  readonly port: number
}

const {
  SERVICES = 'services.json',
  ROSTER = 'roster.json',
  XDS_PORT,
  ADMIN_PORT,
  LISTEN_PORT,
  START_WAIT_MS,
} = process.env

const logger: Logger = {
  log: (level, message, fields) => {
    if (level !== 'debug') console.log(JSON.stringify({ level, message, ...fields }))
  },
}

/** Says what routes the services want. Throws if there is something wrong: then what was served goes on. */
const readServices = (text: string): SourceState => {
  const services = JSON.parse(text) as Readonly<Record<string, Service>>
  const routes = Object.entries(services).map(([name, { path, host, port }]) => {
    const decoded = decodeEdgeRoute({
      apiVersion: 'net.10xdev.io/v1',
      kind: 'EdgeRoute',
      metadata: { namespace: 'services', name },
      spec: { matches: [{ path: { prefix: path } }], backends: [{ address: { host, port } }] },
    })
    if (decoded._tag === 'Left') throw new Error(decoded.left.map(showFieldError).join('; '))
    return decoded.right.route
  })
  return { routes, problems: [] }
}

/** Looks at the file every quarter of a second. A service that has left it is a route that was deleted. */
const watch = async (onState: (state: SourceState) => void, signal: AbortSignal): Promise<void> => {
  for (
    let last = '';
    !signal.aborted;
    await sleep(250, undefined, { signal }).catch(() => undefined)
  ) {
    const text = await readFile(SERVICES, 'utf8')
    if (text === last) continue
    last = text
    try {
      onState(readServices(text))
    } catch (cause) {
      logger.log('error', 'the services cannot be read', { cause: String(cause) })
    }
  }
}

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
const { signal } = stop
const port = Number(LISTEN_PORT ?? 10_000)
const host = await startHost(
  {
    ...fromPromises({ source: { watch } }),
    roster: filesRosterStore({ path: ROSTER }),
    serve: (start) =>
      serveXds({ host: '127.0.0.1', port: Number(XDS_PORT ?? 18_000), logger, ...start }, signal),
    context: {
      dataPlanes: new Map([
        ['edge-envoy', { listeners: [{ name: 'http', address: '0.0.0.0', port }] }],
      ]),
      services: [],
      endpointSlices: [],
    },
    clock: systemClock,
    logger,
    observer: observeXds(logger, noMetrics),
    startWaitMs: Number(START_WAIT_MS ?? 60_000), // Envoys of before may come back: leave it, outside of a trial
    onDeletion: ({ record, fact }) => logger.log('info', fact._tag, { route: record.key.name }),
  },
  signal,
)
if (host !== undefined) {
  const admin = await serveAdmin(
    { host: '127.0.0.1', port: Number(ADMIN_PORT ?? 18_001), logger },
    () => host.operator,
    signal,
  )
  logger.log('info', 'listening', { xds: host.fleet.address.port, admin: admin.address.port })
  await host.finished.finally(() => stop.abort())
  await Promise.all([host.fleet.finished, admin.finished])
}
