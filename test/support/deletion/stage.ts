import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { eventually } from '../envoy.js'
import type { RecordingBackends } from './backends.js'
import { servedAfter } from './judge.js'
import type { Load } from './load.js'
import { type DeletionRig, redialMs } from './rig.js'
import type { DeletionEnvoy } from './wired-envoy.js'

/** How long an Envoy that was told nothing yet is watched, in milliseconds: many times what a release takes. */
export const watchMs = 1_500
/** How long it is watched behind the end of a route. */
const afterMs = 200

/** An object that is being deleted, on an Envoy that serves it under load. */
export interface Deletion {
  readonly rig: DeletionRig
  readonly backends: RecordingBackends
  readonly envoy: DeletionEnvoy
  readonly load: Load
  readonly name: string
  /** What the load asks for. */
  readonly path: string
  /** As long as it is there. */
  readonly answer: string
}

/**
 * The object stays as long as the Envoy answers for it, which it does for as long as this is watched. Call this
 * where the Envoy cannot have been told.
 */
export const staysWhileServed = async (deletion: Deletion, ms = watchMs): Promise<void> => {
  const { rig, load, name, path, answer } = deletion
  const sinceMs = performance.now()
  while (performance.now() < sinceMs + ms) {
    expect(rig.goneAt(name)).toBeUndefined()
    await sleep(20)
  }
  const late = load.shots.filter((shot) => shot.path === path && shot.sentMs > sinceMs)
  expect(late.filter((shot) => shot.answer !== answer)).toEqual([])
  expect(late.length).toBeGreaterThan(0)
}

/** The object vanishes; nothing that is sent afterwards is served, and something is. */
export const endsUnserved = async (deletion: Deletion): Promise<void> => {
  const { rig, backends, load, name, path } = deletion
  const goneMs = await rig.untilGone(name, redialMs)
  await sleep(afterMs)
  const shots = await load.stop()
  expect(servedAfter(backends.arrivals, shots, path, goneMs)).toEqual([])
  const late = shots.filter((shot) => shot.path === path && shot.sentMs > goneMs)
  expect(late.filter(({ answer }) => answer !== '404')).toEqual([])
  for (const kind of new Set(shots.map(({ connection }) => connection)))
    expect(late.some(({ connection }) => connection === kind)).toBe(true)
}

/** Connects an Envoy again whose wire was cut, and lets nothing through to it before `endsWhenTold`. */
export const comesBackUntold = async ({ rig, envoy }: Deletion): Promise<void> => {
  envoy.wire.hold()
  envoy.wire.mend()
  await eventually(
    () => rig.host().fleet.ledger().nodes,
    (nodes) => nodes.some(({ id, connected }) => id === envoy.id && connected),
    redialMs,
  )
}

/** It hears what it was not told, and the object ends. */
export const endsWhenTold = async (deletion: Deletion): Promise<void> => {
  deletion.envoy.wire.release()
  await endsUnserved(deletion)
}

/** Ends the rig, and what else the test has opened, with the test. */
export const endWithTest = (...stops: ReadonlyArray<() => Promise<unknown>>): void =>
  onTestFinished(async () => {
    for (const stop of stops) await stop()
  })
