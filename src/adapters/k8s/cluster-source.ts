import * as E from 'fp-ts/lib/Either.js'
import { systemClock } from '../../ports/clock.js'
import { guardedLogger } from '../../ports/faults.js'
import { silentLogger } from '../../ports/logger.js'
import type { RouteSource, SourceError } from '../../ports/route-source.js'
import type { ApiClient } from './api.js'
import { followCluster } from './cluster/follow.js'
import { takeTurns } from './cluster/turns.js'
import { ending } from './informers/ending.js'
import { unlessTooMany } from './informers/namespaces.js'
import { edgeRoutes, startInformer } from './informers/index.js'
import { seeRoute } from './informers/route-view.js'
import type { KubernetesRoutesOptions } from './route-source.js'

/**
 * The EdgeRoutes of a cluster with the Services and EndpointSlices that they name, as a source of routes and of what
 * they may send to; each watcher follows them by its own.
 *
 * Guarantees: all that `kubernetesRoutes` says of routes. The first state comes when every namespace was listed
 * completely, and each Service that its routes name is known, with its slices; however long that takes, since Envoys
 * serve what they have until then, and what keeps it from coming is told to the log. A route that newly names a Service
 * is shown when that is known, and the changes after it not before it, but after `serviceWaitMs` at the latest: from
 * then on those requests are answered with 503, and `problems` says so. What was known of a Service stays while the
 * server is away or denies access. An invalid Service or slice keeps the last valid form of that uid, and is a problem.
 * One that has not changed stays the same object, and so do `backends` as a whole.
 *
 * Cost: all Services and slices of the watched namespaces are read as they change, and dropped at once unless a route
 * names them; those of a Service that no route names any more are dropped after the state which no longer names it.
 * A state is an O(n) copy of references; at times of many changes there is at most one for each microsecond and object.
 *
 * Errors: a left only if `onState` throws, or more namespaces are named than can be followed (64).
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const kubernetesSource = (
  client: ApiClient,
  options: KubernetesRoutesOptions = {},
): RouteSource => ({
  watch: (onState, signal) =>
    unlessTooMany(options.namespaces, () => {
      const clock = options.clock ?? systemClock
      const { onEnd, end, finished } = ending(signal)
      const fail = (message: string, cause: unknown): void =>
        end(E.left<SourceError>({ _tag: 'Unavailable', message, cause }))
      const turns = takeTurns(clock, (cause) => fail('following the cluster failed', cause), onEnd)
      const cluster = followCluster(
        {
          client,
          options,
          turns,
          logger: guardedLogger(options.logger ?? silentLogger),
          end,
          onState: (state) => {
            try {
              onState(state)
            } catch (cause) {
              fail('the watcher threw', cause)
            }
          },
        },
        onEnd,
      )
      const routes = startInformer(
        { ...options, client, kind: edgeRoutes, project: seeRoute },
        {
          onChanges: (changes) => turns.run(() => cluster.routesChanged(changes)),
          onTroubles: (troubles) => turns.run(() => cluster.routesTroubled(troubles)),
        },
        onEnd,
      )
      void routes.finished.then(end)
      return finished
    }),
})
