import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { type Clock, systemClock } from '../../ports/clock.js'
import { type Metrics, noMetrics } from '../../ports/metrics.js'
import type { RouteStore, WriteError } from '../../ports/route-store.js'
import type { ApiClient } from './api.js'
import { conditionsWriteOf } from './write/conditions.js'
import { defaultWriteLimits, type WriteLimits } from './write/limits.js'
import { guardOf, releaseOf } from './write/requests.js'
import { makeWriter } from './write/writer.js'

/** The name under which the server notes what is ours of an object. */
export const defaultFieldManager = 'edgewright'

export interface KubernetesRouteStoreOptions {
  /** `edgewright` if absent. Under another name than before, nobody is left to take off what that one has written. */
  readonly fieldManager?: string | undefined
  /** The clock of the machine if absent. */
  readonly clock?: Clock | undefined
  readonly limits?: WriteLimits | undefined
  readonly metrics?: Metrics | undefined
}

/**
 * Writes to the EdgeRoutes of a cluster: our finalizer by JSON Patches that begin with tests of the uid and the
 * resource version which were seen, the status by server-side apply of our conditions alone, over that resource
 * version. Of an object that is as it should be, nothing is asked.
 *
 * Guarantees: every write comes to an end within `writeDeadlineMs`, if the client keeps its deadlines. Writes of
 * finalizers and of conditions are held to their limits by themselves: no finalizer waits for a status. A release asks
 * after that wait whether it is still proven, and again once it has its connection, in the moment in which it is sent.
 *
 * Cost: one request for a write; one more to find out what a conflict is about; more where others write our conditions.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const kubernetesRouteStore = (
  client: ApiClient,
  options: KubernetesRouteStoreOptions = {},
): RouteStore => {
  const { fieldManager = defaultFieldManager, limits = defaultWriteLimits } = options
  const { clock = systemClock, metrics = noMetrics } = options
  const { write } = makeWriter({ client, clock, limits, metrics })
  return {
    guard: (object) => {
      const request = guardOf(object, fieldManager)
      return request === undefined ? nothingToDo : write('finalizers', { object, request })
    },
    release: (object, isProven) => {
      const request = releaseOf(object, fieldManager)
      if (request === undefined) return nothingToDo
      const asked = { ...request, ...(isProven !== undefined && { isWanted: isProven }) }
      return write('finalizers', { object, request: asked })
    },
    writeConditions: (object, conditions) => {
      const first = conditionsWriteOf(object, conditions, fieldManager)
      return first === undefined ? nothingToDo : write('conditions', first)
    },
  }
}

const nothingToDo: TaskEither<WriteError, void> = () => Promise.resolve(E.right(undefined))
