import { serveXds, type XdsServer } from 'edgewright/xds'
import {
  type Context,
  defaultDataPlane,
  type EdgeRoute,
  type EdgeRouteSpec,
  type HttpListener,
  type Snapshot,
  translate,
  type Variant,
  type XdsEvent,
} from 'edgewright'
import { startTestEnvoy, type TestEnvoy, type TestEnvoyOptions } from './envoy.js'
import { serveAfter } from './ledger-view.js'
import { layWire, type Wire } from './wire.js'

/** A control plane, and as many real Envoys as a test wants, each behind a wire of its own. */
export interface Rig {
  /** The one that runs now. */
  readonly server: () => XdsServer
  /** Everything that has happened on the streams so far. */
  readonly events: ReadonlyArray<XdsEvent>
  readonly publish: (snapshot: Snapshot) => void
  /** Starts one, and waits until it serves all of its listeners. */
  readonly start: (options?: RigEnvoyOptions) => Promise<RigEnvoy>
  /** Is told of each event as it happens, before the control plane goes on. */
  readonly watch: (observer: (event: XdsEvent) => void) => () => void
  /** Ends the server, and lets another one of its memory take its place. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

export interface RigEnvoyOptions {
  readonly dataPlane?: string
  readonly change?: NonNullable<TestEnvoyOptions['change']>
  readonly drainSeconds?: number
}

export interface RigEnvoy extends TestEnvoy {
  readonly wire: Wire
  /** The port of a listener at the moment; rejects where there is none. */
  readonly port: (listener?: string) => Promise<number>
}

export const startRig = async (variant: Variant, first: Snapshot): Promise<Rig> => {
  const events: Array<XdsEvent> = []
  const observers = new Set<(event: XdsEvent) => void>()
  const observer = (event: XdsEvent): void => {
    events.push(event)
    for (const observe of observers) observe(event)
  }
  const options = { host: '127.0.0.1', port: 0, observer, limits: { stopGraceMs: 500 } }
  let stopping = new AbortController()
  let server = await serveXds(options, stopping.signal)
  let published = first
  server.publish(published)
  const envoys: Array<RigEnvoy> = []
  const stopServer = async (): Promise<void> => {
    stopping.abort()
    await server.finished
  }
  return {
    server: () => server,
    events,
    publish: (snapshot) => {
      published = snapshot
      server.publish(snapshot)
    },
    start: async (each = {}) => {
      const envoy = await startRigEnvoy(variant, () => server.address, each)
      envoys.push(envoy)
      return envoy
    },
    watch: (observe) => {
      observers.add(observe)
      return () => observers.delete(observe)
    },
    restart: async () => {
      await stopServer()
      stopping = new AbortController()
      server = await serveAfter(server, options, stopping.signal)
      server.publish(published)
    },
    stop: async () => {
      for (const envoy of envoys) await envoy.stop()
      await stopServer()
    },
  }
}

const startRigEnvoy = async (
  variant: Variant,
  target: () => XdsServer['address'],
  options: RigEnvoyOptions,
): Promise<RigEnvoy> => {
  const wire = await layWire(target)
  const envoy = await startTestEnvoy({ xds: wire.address, variant, ...options })
  return {
    ...envoy,
    wire,
    port: async (name = 'http') => {
      const address = (await envoy.listeners()).get(name)
      if (address === undefined) throw new Error(`there is no listener ${name}`)
      return Number(address.slice(address.lastIndexOf(':') + 1))
    },
    stop: async () => {
      await envoy.stop()
      await wire.stop()
    },
  }
}

/** On any free port, so that several Envoys of one data plane may have it. */
export const anyPort: HttpListener = { name: 'http', address: '127.0.0.1', port: 0 }

export const contextOf = (
  listeners: ReadonlyArray<HttpListener> = [anyPort],
  more: Partial<Context> = {},
): Context => ({
  dataPlanes: new Map([[defaultDataPlane, { listeners }]]),
  services: [],
  endpointSlices: [],
  ...more,
})

/** What these routes are translated to. */
export const snapshotOf = (
  routes: ReadonlyArray<EdgeRoute>,
  context: Context = contextOf(),
): Snapshot => translate(routes, context).snapshot

/** A route of an object whose uid is its name. */
export const aRoute = (name: string, path: string, spec: EdgeRouteSpec): EdgeRoute => ({
  metadata: { namespace: 'test', name, uid: name, generation: 1, finalizers: [] },
  spec: { matches: [{ path: { prefix: path } }], ...spec },
})

/** A route that answers by itself. */
export const answering = (name: string, path: string, body: string): EdgeRoute =>
  aRoute(name, path, { respond: { code: 200, body } })

/** A route to an address: each address has a cluster of its own. */
export const forwarding = (name: string, path: string, host: string, port: number): EdgeRoute =>
  aRoute(name, path, { backends: [{ address: { host, port } }] })
