import type { Context, Snapshot, XdsEvent } from 'edgewright'
import { filesRosterStore } from 'edgewright/files'
import {
  type FleetStart,
  type HostPort,
  type RunningHost,
  startHost,
  systemClock,
} from 'edgewright/host'
import { type MemoryApiServer, memoryRoutes } from 'edgewright/memory'
import { serveXds, type XdsServer } from 'edgewright/xds'
import { contextOf } from '../rig.js'

/** So short that the gate of the start is open when a test gets to its point. */
export const startWaitMs = 300
const stopGraceMs = 500

export interface ControlPlaneOptions {
  readonly context?: Context
  /** How long an Envoy may be silent, and then may take to answer a ping, in milliseconds; 30 s and 10 s if absent. */
  readonly keepaliveMs?: number
}

/** One control plane after the other, of which nothing outlives its end but the roster file and the API server. */
export interface ControlPlane {
  /** The one that runs now; throws while none does. */
  readonly host: () => RunningHost<XdsServer>
  readonly address: () => HostPort
  /** All that has happened on the streams, of one control plane after the other. */
  readonly events: ReadonlyArray<XdsEvent>
  /** Is told of each event as it happens, before the control plane goes on. */
  readonly watch: (observer: (event: XdsEvent) => void) => () => void
  /** Changes every snapshot on its way to the Envoys from now on, and the one that is published. */
  readonly tamper: (change: (snapshot: Snapshot) => Snapshot) => void
  /** Starts one at the same port, which waits so long for Envoys that it does not know; `startWaitMs` if absent. */
  readonly startHost: (waitMs?: number) => Promise<void>
  /** Ends it by its signal; nothing happens where none runs. */
  readonly stopHost: () => Promise<void>
}

/** None runs before it is started. */
export const controlPlane = (
  api: MemoryApiServer,
  rosterPath: string,
  { context = contextOf(), keepaliveMs }: ControlPlaneOptions,
): ControlPlane => {
  const events: Array<XdsEvent> = []
  const observers = new Set<(event: XdsEvent) => void>()
  const observer = (event: XdsEvent): void => {
    events.push(event)
    for (const observe of observers) observe(event)
  }
  const keepalive =
    keepaliveMs === undefined ? {} : { keepaliveMs, keepaliveTimeoutMs: keepaliveMs }
  const limits = { stopGraceMs, ...keepalive }
  let change = (snapshot: Snapshot): Snapshot => snapshot
  let port = 0
  let running:
    { readonly host: RunningHost<XdsServer>; readonly abort: AbortController } | undefined
  let republish = (): void => undefined
  const host = (): RunningHost<XdsServer> => {
    if (running === undefined) throw new Error('no control plane runs')
    return running.host
  }
  const serve = async (begin: FleetStart): Promise<XdsServer> => {
    const server = await serveXds({ host: '127.0.0.1', port, limits, ...begin }, begin.signal)
    port = server.address.port
    let last: Snapshot | undefined
    republish = () => {
      if (last !== undefined) server.publish(change(last))
    }
    const publish = (snapshot: Snapshot): void => {
      last = snapshot
      republish()
    }
    return { ...server, publish }
  }
  return {
    host,
    address: () => ({ host: '127.0.0.1', port }),
    events,
    watch: (observe) => {
      observers.add(observe)
      return () => observers.delete(observe)
    },
    tamper: (next) => {
      change = next
      republish()
    },
    startHost: async (waitMs = startWaitMs) => {
      const abort = new AbortController()
      const ports = {
        ...memoryRoutes(api, { clock: systemClock }),
        roster: filesRosterStore({ path: rosterPath }),
        ...{ clock: systemClock, context, startWaitMs: waitMs, observer },
        serve,
      }
      const started = await startHost(ports, abort.signal)
      if (started === undefined) throw new Error('the control plane has not started')
      running = { host: started, abort }
    },
    stopHost: async () => {
      if (running === undefined) return
      const { host: ending, abort } = running
      running = undefined
      abort.abort()
      await Promise.all([ending.finished, ending.fleet.finished])
    },
  }
}
