import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EdgeRouteSpec, RouteKey } from 'edgewright'
import { type Explanation, systemClock } from 'edgewright/host'
import { memoryApiServer, type MemoryApiServer } from 'edgewright/memory'
import * as E from 'fp-ts/lib/Either.js'
import { finalizer } from '../../../src/core/stored-object.js'
import { eventually } from '../envoy.js'
import { controlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.js'
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.js'
import { type DeletionEnvoy, type RigEnvoyOptions, startBehindWire } from './wired-envoy.js'

/** A whole control plane on an API server with finalizers, and as many real Envoys as a test wants. */
export interface DeletionRig extends ControlPlane {
  readonly api: MemoryApiServer
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
  /** What is in the roster file. */
  readonly readRoster: () => Promise<string>
  /** Puts this into the roster file, or does away with it. Only while no control plane runs. */
  readonly writeRoster: (text: string | undefined) => Promise<void>
  readonly stop: () => Promise<void>
}

export interface DeletionRigOptions extends ControlPlaneOptions {
  /** Puts a recording proxy between the wires and the control plane. */
  readonly records?: boolean
}

/** An Envoy that has lost its control plane dials it again after some 500 ms, and then less often. */
export const redialMs = 25_000

const namespace = 'test'
const keyOf = (name: string): RouteKey => ({ namespace, name })

export const startDeletionRig = async (options: DeletionRigOptions = {}): Promise<DeletionRig> => {
  const directory = await mkdtemp(join(tmpdir(), 'edgewright-deletion-'))
  const rosterPath = join(directory, 'roster.json')
  const api = memoryApiServer({ clock: systemClock })
  const gone = goneFrom(api)
  const plane = controlPlane(api, rosterPath, options)
  await plane.startHost()
  const proxy =
    options.records === true ? await startRecordingProxy(plane.address().port) : undefined
  const envoys: Array<DeletionEnvoy> = []
  return {
    api,
    ...plane,
    ...gone,
    proxy,
    startEnvoy: async (each) => {
      const envoy = await startBehindWire(each, () => proxy?.address ?? plane.address())
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
    readRoster: () => readFile(rosterPath, 'utf8'),
    writeRoster: (text) => (text === undefined ? rm(rosterPath) : writeFile(rosterPath, text)),
    stop: async () => {
      for (const envoy of envoys) envoy.resume()
      await Promise.all(envoys.map((envoy) => envoy.stop()))
      await proxy?.stop()
      await plane.stopHost()
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
