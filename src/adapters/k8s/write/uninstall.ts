import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { RouteKey } from '../../../core/edge-route.js'
import { finalizer, type StoredObject } from '../../../core/stored-object.js'
import { type Clock, systemClock } from '../../../ports/clock.js'
import type { RouteStore } from '../../../ports/route-store.js'
import type { ApiClient } from '../api.js'
import { kubernetesRouteStore, type KubernetesRouteStoreOptions } from '../route-store.js'
import { eachPage } from './pages.js'
import { release } from './release.js'

export interface UninstallOptions extends KubernetesRouteStoreOptions {
  /** All of them if absent. */
  readonly namespaces?: ReadonlyArray<string> | undefined
}

/** What has become of the objects that had our finalizer. */
export interface Uninstalled {
  /** How many have it no more; those that were gone when their turn came, too. */
  readonly released: number
  /** How many still have it. */
  readonly failed: number
  /** The first `maxNamedFailures` of them. */
  readonly failures: ReadonlyArray<ReleaseFailure>
}

export interface ReleaseFailure {
  readonly key: RouteKey
  /** For people. */
  readonly message: string
}

/** Why it was not looked through to the end. To begin anew does no harm. */
export interface UninstallError {
  readonly _tag: UninstallErrorTag
  /** For people. */
  readonly message: string
  readonly soFar: Uninstalled
}

export type UninstallErrorTag =
  | 'Aborted'
  /** EdgeRoutes cannot be listed. */
  | 'Unlisted'
  /** Somebody adds the finalizer again and again: a control plane is at work. */
  | 'Restored'

/** How many failures are named. */
export const maxNamedFailures = 100

/** How often everything is looked through: twice is enough where no control plane is at work. */
export const maxPasses = 5

/** How many objects are written at once: as many as a control plane does. */
const maxAtOnce = 8

/**
 * Takes our finalizer off every EdgeRoute, so that all of them can be deleted once there is no control plane any more.
 *
 * Looks through them again until none has it, save those from which it could not be taken. Each write is guarded, and
 * is tried again with what is there then. What the Envoys have confirmed is not asked: whoever runs this must know that
 * no control plane is at work. A cluster that has no EdgeRoutes is one with nothing to do.
 */
export const uninstallRoutes =
  (
    client: ApiClient,
    options: UninstallOptions,
    signal: AbortSignal,
  ): TaskEither<UninstallError, Uninstalled> =>
  async () => {
    const { clock = systemClock, namespaces } = options
    const store = kubernetesRouteStore(client, { ...options, clock })
    const ports = { client, clock, store, signal }
    const tally = makeTally()
    const stop = (_tag: UninstallErrorTag, message: string): E.Either<UninstallError, never> =>
      E.left({ _tag, message, soFar: tally.read() })
    for (let pass = 1; pass <= maxPasses; pass += 1) {
      let found = 0
      const listed = await eachPage(ports, namespaces, async (objects) => {
        const ours = objects.filter((object) => object.finalizers.includes(finalizer))
        const fresh = ours.filter(({ uid }) => !tally.hasFailed(uid))
        found += fresh.length
        await releaseAll(ports, fresh, tally)
      })
      if (signal.aborted) return stop('Aborted', 'stopped before the end')
      if (E.isLeft(listed)) return stop('Unlisted', listed.left)
      if (found === 0) return E.right(tally.read())
    }
    return stop('Restored', 'the finalizer is added again and again: a control plane is at work')
  }

interface ReleasePorts {
  readonly client: ApiClient
  readonly clock: Clock
  readonly store: RouteStore
  readonly signal: AbortSignal
}

const releaseAll = async (
  ports: ReleasePorts,
  objects: ReadonlyArray<StoredObject>,
  tally: Tally,
): Promise<void> => {
  const isStopped = (): boolean => ports.signal.aborted
  const rest = objects.values()
  const work = async (): Promise<void> => {
    for (const object of rest) {
      if (isStopped()) return
      const released = await release(ports, object)
      if (E.isRight(released)) tally.released()
      else if (!isStopped()) tally.failed(object, released.left)
    }
  }
  await Promise.all(Array.from({ length: maxAtOnce }, work))
}

interface Tally {
  readonly released: () => void
  readonly failed: (object: StoredObject, message: string) => void
  readonly hasFailed: (uid: string) => boolean
  readonly read: () => Uninstalled
}

const makeTally = (): Tally => {
  const failedUids = new Set<string>()
  const failures: Array<ReleaseFailure> = []
  let count = 0
  return {
    released: () => {
      count += 1
    },
    failed: ({ key, uid }, message) => {
      failedUids.add(uid)
      if (failures.length < maxNamedFailures) failures.push({ key, message })
    },
    hasFailed: (uid) => failedUids.has(uid),
    read: () => ({ released: count, failed: failedUids.size, failures: [...failures] }),
  }
}
