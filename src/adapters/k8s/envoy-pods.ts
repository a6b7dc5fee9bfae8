import * as E from 'fp-ts/lib/Either.js'
import { type Clock, systemClock } from '../../ports/clock.js'
import { guardedLogger } from '../../ports/faults.js'
import { type Logger, silentLogger } from '../../ports/logger.js'
import type { ApiClient } from './api.js'
import { followEnvoyPods } from './cluster/follow-pods.js'
import { takeTurns } from './cluster/turns.js'

export interface EnvoyPodsOptions {
  /** The node ids that are asked about. Must not throw. */
  readonly nodes: () => ReadonlyArray<string>
  /** The namespaces in which Pods may be looked at; all if absent. */
  readonly namespaces?: ReadonlyArray<string> | undefined
  /** The clock of the machine if absent. */
  readonly clock?: Clock | undefined
  /** Is told of what cannot be read. Silent if absent. */
  readonly logger?: Logger | undefined
  /** In [0, 1): decides when to try again. `Math.random` if absent. */
  readonly random?: (() => number) | undefined
}

/**
 * Finds out which Envoys are gone for sure, because their Pods are: calls `onGone` with the node id and the reason,
 * once for as long as the id is asked about. Follows until `signal` aborts.
 *
 * The node id of an Envoy in a Pod is `NAMESPACE/POD/UID`. It is gone when the Pods of the namespace were listed
 * completely, and its own is not there (any more), or has ended; and when the API server, asked for this very Pod, says
 * the same. A Pod has ended when its phase is `Succeeded` or `Failed`, and all of its containers have terminated: an
 * evicted one is still there, and serves nothing. One that was never seen is asked for too: an earlier life of the
 * control plane may have known it.
 *
 * Never gone is one whose id has another form, or another namespace than may be looked at; one whose Pod cannot be
 * read; one whose Pod is being deleted and is still there, as on a machine that cannot be reached. That a container has
 * begun anew says nothing: it ends an Envoy whose id goes on, and only the clocks of two machines could tell whether
 * that is the one that was lost. The new one comes back with the same id, and speaks for itself.
 *
 * Assumes that Envoys whose ids have this form run in this cluster, and that whoever deletes a Pod by force has seen
 * that nothing of it runs, as Kubernetes asks for.
 *
 * Cost: a watch for each namespace in which a Pod is asked about, and a few bytes for each id. All Pods there are read
 * as they change, and dropped at once. `nodes` is asked when Pods change, and each `lookEveryMs`.
 *
 * Errors: rejects only for a bug, such as when `nodes` or `onGone` throws. What cannot be read is tried again without
 * end, with backoff.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const watchEnvoyPods = (
  client: ApiClient,
  options: EnvoyPodsOptions,
  onGone: (nodeId: string, why: string) => void,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const over = new AbortController()
    const stop = (): void => {
      signal.removeEventListener('abort', stop)
      over.abort()
      resolve()
    }
    const fail = (cause: unknown): void => {
      // The first outcome counts.
      reject(cause instanceof Error ? cause : new Error('following Pods failed', { cause }))
      stop()
    }
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop)
    const { clock = systemClock, logger = silentLogger, random = Math.random } = options
    followEnvoyPods(
      {
        client,
        turns: takeTurns(clock, fail, over.signal),
        logger: guardedLogger(logger),
        random,
        nodes: options.nodes,
        namespaces: options.namespaces && new Set(options.namespaces),
        onGone,
        onEnd: (result) => {
          if (E.isLeft(result)) fail(result.left.cause)
        },
        onBug: fail,
      },
      over.signal,
    )
  })
