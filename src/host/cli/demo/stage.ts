import * as E from 'fp-ts/lib/Either.js'
import { type Context, defaultContext } from '../../../core/context.js'
import { defaultDataPlane } from '../../../core/edge-route.js'
import type { Logger } from '../../../ports/logger.js'
import { noMetrics } from '../../../ports/metrics.js'
import type { RouteSource } from '../../../ports/route-source.js'
import type { LedgerSource } from '../../../ports/ledger-source.js'
import type { SnapshotSink } from '../../../ports/snapshot-sink.js'
import { bootstrap, showHostPort } from '../../bootstrap.js'
import { systemClock } from '../../clock.js'
import { runController } from '../../controller.js'
import { observeXds } from '../../observe-xds.js'
import { reportRecoveries } from '../../report-recoveries.js'
import { loadXds } from '../peers.js'
import type { EnvoyBinary } from './envoy-binary.js'
import { startEnvoy } from './envoy-process.js'
import { freePort, loopback } from './listen.js'
import { startMemoryEnvoy } from './memory-envoy.js'
import { temporaryDirectory } from './routes.js'
import type { Scope } from './scope.js'

/** What answers the demo's requests, and the control plane behind it. */
export interface Proxy {
  /** Where requests go, as in `http://127.0.0.1:10000`. */
  readonly url: string
  /** Lines for people: what runs, and where. */
  readonly about: ReadonlyArray<string>
  /** Rejects when something of it ends by itself; else it stays pending. */
  readonly broken: Promise<never>
  /** What the Envoy has logged. */
  readonly log: () => string
}

export interface StageOptions {
  readonly scope: Scope
  readonly source: RouteSource
  readonly env: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  /** The port for requests, if it is free. */
  readonly port: number
  readonly signal: AbortSignal
}

/** Starts the control plane with an xDS server, and a real Envoy that connects to it. */
export const startRealProxy = async (
  options: StageOptions,
  binary: EnvoyBinary,
): Promise<Proxy> => {
  const { scope, logger, signal } = options
  const adapter = await loadXds()
  if (E.isLeft(adapter)) throw new Error(adapter.left)
  const stop = new AbortController()
  const observer = observeXds(logger, noMetrics)
  const listenAt = { host: loopback, port: 0 }
  const server = await adapter.right.serveXds({ ...listenAt, observer, logger }, stop.signal)
  scope.defer(() => (stop.abort(), server.finished))
  const stopReporting = reportRecoveries(server, { clock: systemClock, logger })
  scope.defer(() => Promise.resolve(stopReporting()))
  const port = await freePort(options.port)
  const controller = startController(options, server, port)
  const envoy = await startEnvoy({
    path: binary.path,
    bootstrap: bootstrap({ id: `demo-${process.pid}`, xds: server.address, admin: listenAt }),
    directory: await temporaryDirectory(scope, 'envoy'),
    env: options.env,
    signal,
  })
  scope.defer(envoy.stop)
  const ended = envoy.exited.then((how) => Promise.reject(new Error(`Envoy has ended: ${how}`)))
  const url = `http://${loopback}:${port}`
  const about = [
    `Control plane  xDS on ${showHostPort(server.address)}`,
    `Envoy          ${binary.version} from ${binary.origin}: ${binary.path}`,
    `               HTTP on ${url}, admin on ${envoy.adminUrl}`,
  ]
  return { url, about, broken: handled(Promise.race([ended, controller])), log: envoy.log }
}

/** Starts the control plane and an Envoy, both in memory, behind a small HTTP server. */
export const startMemoryProxy = async (options: StageOptions): Promise<Proxy> => {
  const port = await freePort(options.port)
  const sink = await startMemoryEnvoy(options.scope, port)
  const controller = startController(options, sink, port)
  const url = `http://${loopback}:${port}`
  const about = [
    'Control plane  in memory',
    `Envoy          NO REAL ONE: an in-memory Envoy, behind an HTTP server on ${url}`,
  ]
  return { url, about, broken: controller, log: () => '' }
}

/** The loop never ends before the scope, unless it fails. */
const startController = (
  { scope, source, logger }: StageOptions,
  sink: SnapshotSink & LedgerSource,
  port: number,
): Promise<never> => {
  const stop = new AbortController()
  const ports = {
    source,
    sink,
    ledger: sink,
    logger,
    clock: systemClock,
    context: contextFor(port),
  }
  const running = runController(ports, stop.signal)
  scope.defer(() => (stop.abort(), running))
  return handled(running.then(() => Promise.reject(new Error('the controller has ended'))))
}

const contextFor = (port: number): Context => ({
  ...defaultContext,
  dataPlanes: new Map([
    [defaultDataPlane, { listeners: [{ name: 'http', address: loopback, port }] }],
  ]),
})

/** Whoever waits for it may come later, or never: until then a rejection is no unhandled one. */
const handled = (promise: Promise<never>): Promise<never> => {
  promise.catch(() => undefined)
  return promise
}
