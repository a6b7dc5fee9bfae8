import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Context,
  type EdgeRouteSpec,
  type RouteKey,
  type Snapshot,
  type Variant,
  type XdsEvent,
} from 'edgewright'
import { filesRosterStore } from 'edgewright/files'
import { type Explanation, type RunningHost, startHost, systemClock } from 'edgewright/host'
import { memoryApiServer, type MemoryApiServer, memoryRoutes } from 'edgewright/memory'
import { serveXds, type XdsServer } from 'edgewright/xds'
import * as E from 'fp-ts/lib/Either.js'
import { finalizer } from '../../../src/core/stored-object.js'
import type { RouteSource } from '../../../src/ports/route-source.js'
import { eventually, startTestEnvoy, type TestEnvoy, type TestEnvoyOptions } from '../envoy.js'
import { contextOf } from '../rig.js'
import { layWire, type Wire } from '../wire.js'
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.js'

/** A whole control plane on an API server with finalizers, and as many real Envoys as a test wants. */
export interface DeletionRig {
  readonly api: MemoryApiServer
  /** The one that runs now; throws while none does. */
  readonly host: () => RunningHost<XdsServer>
  /** All that has happened on the streams, of one control plane after the other. */
  readonly events: ReadonlyArray<XdsEvent>
  /** Is told of each event as it happens, before the control plane goes on. */
  readonly watch: (observer: (event: XdsEvent) => void) => () => void
  readonly proxy: RecordingProxy | undefined
  /** Starts one, behind a wire of its own, and waits until it is live. */
  readonly startEnvoy: (options: RigEnvoyOptions) => Promise<DeletionEnvoy>
  /** With our finalizer, so that it is served at once; returns its uid. All of one turn are published together. */
  readonly create: (name: string, spec: EdgeRouteSpec) => string
  readonly remove: (name: string) => void
  /** When it vanished from the API server, by `performance.now()`; `undefined` as long as it is there. */
  readonly goneAt: (name: string) => number | undefined
  /** Resolves with that time. */
  readonly untilGone: (name: string, withinMs?: number) => Promise<number>
  readonly explain: (name: string) => ReadonlyArray<Explanation>
  /** Calls back in the very moment in which an object vanishes. */
  readonly onGone: (listener: (name: string) => void) => void
  /** Changes every snapshot on its way to the Envoys from now on, and the one that is published. */
  readonly tamper: (change: (snapshot: Snapshot) => Snapshot) => void
  /** Ends the control plane by its signal. Nothing of it is left but the roster file and the API server. */
  readonly stopHost: () => Promise<void>
  /** Starts another one at the same port. */
  readonly startHost: () => Promise<void>
  /** What is in the roster file. */
  readonly readRoster: () => Promise<string>
  /** Puts this into the roster file, or does away with it. Only while no control plane runs. */
  readonly writeRoster: (text: string | undefined) => Promise<void>
  readonly stop: () => Promise<void>
}

export interface DeletionEnvoy extends TestEnvoy {
  readonly variant: Variant
  readonly wire: Wire
  /** The port of the listener. */
  readonly port: (listener?: string) => Promise<number>
  /** Stops the process where it stands (SIGSTOP), and lets it go on. */
  readonly pause: () => void
  readonly resume: () => void
  /** Ends it without a word (SIGKILL). */
  readonly kill: () => Promise<void>
}

export interface RigEnvoyOptions extends Omit<TestEnvoyOptions, 'xds'> {
  /** Does without the recording proxy. */
  readonly direct?: boolean
}

export interface DeletionRigOptions {
  readonly context?: Context
  /** Puts a recording proxy between the wires and the control plane. */
  readonly records?: boolean
  /** Of the control plane, towards Envoys that do not answer, in milliseconds; 30 s and 10 s if absent. */
  readonly keepaliveMs?: number
}

/** So short that the gate of the start is open when a test gets to its point. */
export const startWaitMs = 300
const stopGraceMs = 500
/** An Envoy that has lost its control plane dials it again after some 500 ms, and then less often. */
export const redialMs = 25_000

export const namespace = 'test'
const keyOf = (name: string): RouteKey => ({ namespace, name })

export const startDeletionRig = async (options: DeletionRigOptions = {}): Promise<DeletionRig> => {
  const directory = await mkdtemp(join(tmpdir(), 'edgewright-deletion-'))
  const rosterPath = join(directory, 'roster.json')
  const api = memoryApiServer({ clock: systemClock })
  const gone = goneFrom(api)
  const plane = controlPlane(api, rosterPath, options)
  await plane.start()
  const proxy = options.records === true ? await startRecordingProxy(plane.port()) : undefined
  const envoys: Array<DeletionEnvoy> = []
  return {
    api,
    ...plane,
    ...gone,
    proxy,
    startEnvoy: async (each) => {
      const target = each.direct === true ? undefined : proxy?.address
      const envoy = await startBehindWire(each, () => target ?? plane.address())
      envoys.push(envoy)
      return envoy
    },
    create: (name, spec) => {
      const metadata = { ...keyOf(name), finalizers: [finalizer] }
      const created = api.write({ _tag: 'Create', object: { metadata, spec } })
      if (E.isLeft(created)) throw new Error(created.left.message)
      return created.right.metadata.uid
    },
    remove: (name) => {
      const removed = api.write({ _tag: 'Delete', key: keyOf(name) })
      if (E.isLeft(removed)) throw new Error(removed.left.message)
    },
    untilGone: async (name, withinMs) =>
      (await eventually(
        () => gone.goneAt(name),
        (at) => at !== undefined,
        withinMs,
      )) ?? 0,
    explain: (name) => plane.host().operator.explain(keyOf(name)),
    stopHost: plane.stop,
    startHost: plane.start,
    readRoster: () => readFile(rosterPath, 'utf8'),
    writeRoster: (text) => (text === undefined ? rm(rosterPath) : writeFile(rosterPath, text)),
    stop: async () => {
      for (const envoy of envoys) envoy.resume()
      await Promise.all(envoys.map((envoy) => envoy.stop()))
      await proxy?.stop()
      await plane.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const goneFrom = (api: MemoryApiServer) => {
  const times = new Map<string, number>()
  const listeners = new Set<(name: string) => void>()
  api.observe(({ type, object: { metadata } }) => {
    if (type === 'ADDED') times.delete(metadata.name)
    if (type !== 'DELETED') return
    times.set(metadata.name, performance.now())
    for (const listener of listeners) listener(metadata.name)
  })
  return {
    goneAt: (name: string) => times.get(name),
    onGone: (listener: (name: string) => void) => void listeners.add(listener),
  }
}

/** One control plane at a time, always at the same port, on the same roster and API server. */
const controlPlane = (
  api: MemoryApiServer,
  rosterPath: string,
  { context = contextOf(), keepaliveMs }: DeletionRigOptions,
) => {
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
  const start = async (): Promise<void> => {
    const abort = new AbortController()
    const { source, store } = memoryRoutes(api, { clock: systemClock })
    const started = await startHost(
      {
        source: source satisfies RouteSource,
        store,
        roster: filesRosterStore({ path: rosterPath }),
        clock: systemClock,
        context,
        startWaitMs,
        observer,
        serve: async (begin) => {
          const server = await serveXds({ host: '127.0.0.1', port, limits, ...begin }, abort.signal)
          let last: Snapshot | undefined
          republish = () => {
            if (last !== undefined) server.publish(change(last))
          }
          return {
            ...server,
            publish: (snapshot) => {
              last = snapshot
              republish()
            },
          }
        },
      },
      abort.signal,
    )
    if (started === undefined) throw new Error('the control plane has not started')
    port = started.fleet.address.port
    running = { host: started, abort }
  }
  return {
    events,
    watch: (observe: (event: XdsEvent) => void) => {
      observers.add(observe)
      return () => observers.delete(observe)
    },
    host,
    port: () => port,
    address: () => ({ host: '127.0.0.1', port }),
    start,
    tamper: (next: (snapshot: Snapshot) => Snapshot) => {
      change = next
      republish()
    },
    stop: async () => {
      if (running === undefined) return
      const { host, abort } = running
      running = undefined
      abort.abort()
      await Promise.all([host.finished, host.fleet.finished])
    },
  }
}

const startBehindWire = async (
  options: RigEnvoyOptions,
  target: Parameters<typeof layWire>[0],
): Promise<DeletionEnvoy> => {
  const wire = await layWire(target)
  const envoy = await startTestEnvoy({ xds: wire.address, concurrency: 2, ...options })
  const send = (signal: NodeJS.Signals): void => {
    try {
      process.kill(envoy.pid, signal)
    } catch {
      return // it is dead already
    }
  }
  return {
    ...envoy,
    variant: options.variant,
    wire,
    port: async (name = 'http') => {
      const address = (await envoy.listeners()).get(name)
      if (address === undefined) throw new Error(`there is no listener ${name}`)
      return Number(address.slice(address.lastIndexOf(':') + 1))
    },
    pause: () => send('SIGSTOP'),
    resume: () => send('SIGCONT'),
    kill: async () => {
      send('SIGKILL')
      await envoy.exited
    },
    stop: async () => {
      await envoy.stop()
      await wire.stop()
    },
  }
}
