import {
  type Context,
  type EdgeRoute,
  type Snapshot,
  type TypeUrl,
  type Variant,
  type XdsEvent,
} from 'edgewright'
import { onTestFinished } from 'vitest'
import { eventually } from './envoy.js'
import { stillServing } from './ledger-view.js'
import { anyPort, aRoute, contextOf, type Rig, type RigEnvoy, snapshotOf, startRig } from './rig.js'
import { answers, ask, startBackend } from './traffic.js'

/** A rig with one Envoy, for one test. */
export const start = async (
  variant: Variant,
  first: Snapshot,
  change?: Parameters<Rig['start']>[0],
): Promise<{ readonly rig: Rig; readonly envoy: RigEnvoy; readonly port: number }> => {
  const rig = await startRig(variant, first)
  onTestFinished(rig.stop)
  const envoy = await rig.start(change)
  return { rig, envoy, port: await envoy.port() }
}

/** What became of a response. */
export type Answer = 'ResponseAcked' | 'ResponseNacked' | 'ResponseSent'

/** True of the event that a response of this type was sent, or answered so. */
export const isOf = (event: XdsEvent, tag: Answer, typeUrl: TypeUrl): boolean =>
  event._tag === tag && 'typeUrl' in event && event.typeUrl === typeUrl

/** How many such events there are. */
export const countOf = (events: ReadonlyArray<XdsEvent>, tag: Answer, typeUrl: TypeUrl): number =>
  events.filter((event) => isOf(event, tag, typeUrl)).length

/** Publishes, and cuts the wire in the very turn in which a response of the type is answered so. */
export const publishAndCut = async (
  { rig, envoy }: { readonly rig: Rig; readonly envoy: RigEnvoy },
  snapshot: Snapshot,
  [tag, typeUrl]: readonly [Answer, TypeUrl],
): Promise<void> => {
  const since = rig.events.length
  const unwatch = rig.watch((event) => {
    if (isOf(event, tag, typeUrl)) envoy.wire.cut()
  })
  rig.publish(snapshot)
  await eventually(
    () => rig.events.slice(since),
    (events) => events.some(({ _tag }) => _tag === 'StreamClosed'),
  )
  unwatch()
}

/** Resolves when no Envoy may serve the object any more. */
export const untilGone = async (rig: Rig, uid: string, withinMs?: number): Promise<void> => {
  await eventually(
    () => stillServing(rig.server(), uid),
    (nodes) => nodes.length === 0,
    withinMs,
  )
}

/** Waits until nobody listens on a port any more. */
export const refusesConnections = async (port: number, withinMs?: number): Promise<void> => {
  await eventually(
    () => ask(port, '/').catch((cause: unknown) => String(cause)),
    (got) => got.includes('ECONNREFUSED'),
    withinMs,
  )
}

/** An Envoy with a route to a Service, whose endpoints it gets apart from the cluster. */
export const startWithService = async (
  variant: Variant,
): Promise<{ readonly rig: Rig; readonly port: number; readonly world: Snapshot }> => {
  const backend = await startBackend('service')
  onTestFinished(backend.stop)
  const route: EdgeRoute = aRoute('service', '/service', {
    backends: [{ service: { name: 'service', port: 80 } }],
  })
  const world = snapshotOf([route], contextOf([anyPort], serviceAt(backend.port)))
  const { rig, port } = await start(variant, world)
  await answers(port, '/service', '200 service')
  return { rig, port, world }
}

const serviceAt = (port: number): Partial<Context> => ({
  services: [{ namespace: 'test', name: 'service', ports: [{ name: '', port: 80 }] }],
  endpointSlices: [
    {
      namespace: 'test',
      name: 'service-1',
      service: 'service',
      ports: [{ name: '', port }],
      endpoints: [{ addresses: ['127.0.0.1'], ready: true }],
    },
  ],
})
