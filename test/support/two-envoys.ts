import {
  type Context,
  defaultDataPlane,
  type EdgeRoute,
  listenerType,
  type Resource,
  type Snapshot,
  translate,
  entries,
  view,
  viewOf,
  type Variant,
  type XdsEvent,
} from 'edgewright'
import { serveXds, type XdsServer } from 'edgewright/xds'
import { freePort, startTestEnvoy, type TestEnvoy } from './envoy.js'

/** A control plane, and two real Envoys with the same routes: one in each variant, each on a port of its own. */
export interface TwoEnvoys {
  readonly server: XdsServer
  readonly envoys: ReadonlyArray<ListeningEnvoy>
  /** Makes what `publish` publishes of these routes. */
  readonly snapshot: (routes: ReadonlyArray<EdgeRoute>, context?: Partial<Context>) => Snapshot
  readonly stop: () => Promise<void>
}

export interface ListeningEnvoy {
  /** Also the name of its data plane, and its `node.id`. */
  readonly name: Variant
  /** Of 127.0.0.1. */
  readonly port: number
  readonly envoy: TestEnvoy
}

export interface TwoEnvoysOptions {
  readonly observer?: (event: XdsEvent) => void
  /** Changes the listeners of both; nothing if absent. */
  readonly changeListener?: (listener: Resource) => Resource
  /** Worker threads of each Envoy; 2 if absent. */
  readonly concurrency?: number
}

/** Of both, each after the variant that it speaks. */
export const envoyNames: readonly ['sotw', 'delta'] = ['sotw', 'delta']

/**
 * Starts both. Two Envoys on one machine cannot share a port, so each is a data plane of its own; but the routes
 * are translated once, and both get the very same tables, clusters and endpoints.
 */
export const startTwoEnvoys = async ({
  observer,
  changeListener = (listener) => listener,
  concurrency = 2,
}: TwoEnvoysOptions = {}): Promise<TwoEnvoys> => {
  const ports = new Map<Variant, number>()
  for (const variant of envoyNames) ports.set(variant, await freePort())
  const listeners = new Map(
    [...ports].map(([variant, port]) => [variant, listenersOn(port).map(changeListener)]),
  )
  const snapshot: TwoEnvoys['snapshot'] = (routes, context = {}) => {
    const shared = translate(routes, { ...contextOn(0), ...context }).snapshot
    return {
      dataPlanes: new Map([...listeners].map(([name, own]) => [name, viewWith(shared, own)])),
    }
  }
  const stopping = new AbortController()
  const options = { host: '127.0.0.1', port: 0, ...(observer === undefined ? {} : { observer }) }
  const server = await serveXds(options, stopping.signal)
  const envoys: Array<ListeningEnvoy> = []
  const stop = async (): Promise<void> => {
    await Promise.all(envoys.map(({ envoy }) => envoy.stop()))
    stopping.abort()
    await server.finished
  }
  try {
    server.publish(snapshot([]))
    for (const [name, port] of ports) {
      const identity = { id: name, dataPlane: name }
      const envoy = await startTestEnvoy({
        xds: server.address,
        variant: name,
        concurrency,
        ...identity,
      })
      envoys.push({ name, port, envoy })
    }
  } catch (cause) {
    await stop()
    throw cause
  }
  return { server, envoys, snapshot, stop }
}

const contextOn = (port: number): Context => ({
  dataPlanes: new Map([
    [defaultDataPlane, { listeners: [{ name: 'http', address: '127.0.0.1', port }] }],
  ]),
  services: [],
  endpointSlices: [],
})

const listenersOn = (port: number): ReadonlyArray<Resource> => [
  ...entries(viewOf(translate([], contextOn(port)).snapshot, defaultDataPlane)[listenerType]),
]

const viewWith = (shared: Snapshot, listeners: ReadonlyArray<Resource>) => ({
  ...viewOf(shared, defaultDataPlane),
  [listenerType]: view({ [listenerType]: listeners })[listenerType],
})
