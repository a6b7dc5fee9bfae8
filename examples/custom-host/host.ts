import { type Logger, noMetrics } from 'edgewright'
import { filesRosterStore } from 'edgewright/files'
import { fromPromises, observeXds, serveAdmin, startHost, systemClock } from 'edgewright/host'
import { serveXds } from 'edgewright/xds'
import { watchServices } from './services.js'

const { env } = process
const at = (port: string | undefined, otherwise: number) => ({
  host: '127.0.0.1',
  port: Number(port ?? otherwise),
})
const logger: Logger = {
  log: (level, message, fields) => {
    if (level !== 'debug') console.log(JSON.stringify({ level, message, ...fields }))
  },
}
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort())

const { host: address, port } = at(env['LISTEN_PORT'], 10_000)
const host = await startHost(
  {
    ...fromPromises({ source: { watch: watchServices(logger) } }),
    roster: filesRosterStore({ path: 'roster.json' }), // the Envoys that may serve something
    serve: (start) => serveXds({ ...at(env['XDS_PORT'], 18_000), logger, ...start }, start.signal),
    context: {
      dataPlanes: new Map([['edge-envoy', { listeners: [{ name: 'http', address, port }] }]]),
      services: [],
      endpointSlices: [],
    },
    clock: systemClock,
    logger,
    observer: observeXds(logger, noMetrics),
    onDeletion: ({ record, fact }) => logger.log('info', fact._tag, { route: record.key.name }),
  },
  stop.signal,
)
if (host !== undefined) {
  const admin = at(env['ADMIN_PORT'], 18_001)
  const operators = await serveAdmin({ ...admin, logger }, () => host.operator, stop.signal)
  logger.log('info', 'listening', { xds: host.fleet.address.port, admin: operators.address.port })
  await host.finished.finally(() => stop.abort())
  await Promise.all([host.fleet.finished, operators.finished])
  logger.log('info', 'stopped')
}
