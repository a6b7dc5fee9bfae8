import * as E from 'fp-ts/lib/Either.js'
import { systemClock } from '../../ports/clock.js'
import { guardedLogger } from '../../ports/faults.js'
import { type Logger, silentLogger } from '../../ports/logger.js'
import type { RouteSource } from '../../ports/route-source.js'
import type { ApiClient } from './api.js'
import { ending } from './informers/ending.js'
import { unlessTooMany } from './informers/namespaces.js'
import {
  edgeRoutes,
  type FollowOptions,
  type InformerTrouble,
  startInformer,
} from './informers/index.js'
import { paced } from './informers/paced.js'
import { seeRoute, stateOf } from './informers/route-view.js'
import { logTroubles, logWarnings } from './informers/tell-log.js'

export interface KubernetesRoutesOptions extends FollowOptions {
  /** Is told of fields that are ignored, and of what keeps the first state from coming. Silent if absent. */
  readonly logger?: Logger | undefined
}

/**
 * The EdgeRoutes of a cluster as a source of routes, followed by list and watch; each watcher by its own.
 *
 * Guarantees: the first state comes when every namespace was listed completely. An object leaves only when the
 * server said that it is gone, or a complete list lacked it; one that was made anew under its name has another uid
 * and starts anew. While the server is away, or denies access, the last good state stays, and `problems` says what
 * is wrong; the server is asked again without end, with backoff. An invalid spec keeps the last valid form of that
 * uid. Unknown fields are ignored, with a warning in the log. A route that has not changed stays the same object.
 *
 * Cost: decodes what has changed, and holds no JSON. A state is an O(n) copy of references; at times of many changes
 * there is at most one for each microsecond and object.
 *
 * Errors: a left only if `onState` throws, or more namespaces are named than can be followed (64). That there is no
 * such kind, or no permission, is waited out: the definition or the role may be applied after the control plane.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const kubernetesRoutes = (
  client: ApiClient,
  options: KubernetesRoutesOptions = {},
): RouteSource => ({
  watch: (onState, signal) =>
    unlessTooMany(options.namespaces, () => {
      const clock = options.clock ?? systemClock
      const logger = guardedLogger(options.logger ?? silentLogger)
      const { onEnd, end, finished } = ending(signal)
      let troubles: ReadonlyArray<InformerTrouble> = []
      const publish = (): number => {
        const state = stateOf(informer.objects(), troubles)
        try {
          onState(state)
        } catch (cause) {
          end(E.left({ _tag: 'Unavailable', message: 'the watcher threw', cause }))
        }
        return (state.objects?.length ?? 0) * restPerObjectMs
      }
      const publishSoon = paced(clock, publish, onEnd)
      const informer = startInformer(
        { ...options, client, kind: edgeRoutes, project: seeRoute },
        {
          onChanges: (changes) => {
            logWarnings(logger, changes)
            publishSoon()
          },
          onTroubles: (now) => {
            troubles = now
            if (informer.isSynced()) publishSoon()
            else logTroubles(logger, now)
          },
        },
        onEnd,
      )
      void informer.finished.then(end)
      return finished
    }),
})

/**
 * How long to rest after a state for each object in it, in milliseconds. To make it, and to compare it with the one
 * before, takes a fraction of that: however fast objects change, most of the time is left for other things.
 */
const restPerObjectMs = 0.001
