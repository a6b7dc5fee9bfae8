import type * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../../ports/logger.js'
import type { SourceError, SourceState } from '../../../ports/route-source.js'
import type { ApiClient } from '../api.js'
import type { Change, FollowOptions, InformerTrouble } from '../informers/index.js'
import type { SeenRoute } from '../informers/route-view.js'
import { logTroubles, logWarnings } from '../informers/tell-log.js'
import { noRunningBackends, type RunningBackends, startBackends } from './backends.js'
import { logBackendTroubles } from './problems.js'
import { showCluster } from './showing.js'
import type { Turns } from './turns.js'

export interface ClusterPorts {
  readonly client: ApiClient
  readonly options: FollowOptions
  readonly turns: Turns
  readonly logger: Logger
  readonly end: (result: E.Either<SourceError, void>) => void
  /** Must not throw. */
  readonly onState: (state: SourceState) => void
}

/** Takes in what becomes of routes. Both are called in turn. */
export interface FollowedCluster {
  /** First, when all were listed, that everything there is was added. */
  readonly routesChanged: (changes: ReadonlyArray<Change<SeenRoute>>) => void
  readonly routesTroubled: (troubles: ReadonlyArray<InformerTrouble>) => void
}

/** Puts together what is seen of routes, and of the Services that they name, until `signal` aborts. */
export const followCluster = (ports: ClusterPorts, signal: AbortSignal): FollowedCluster => {
  const { client, options, logger } = ports
  const { run, clock } = ports.turns
  let backends = noRunningBackends
  let routeTroubles: ReadonlyArray<InformerTrouble> = []
  const showing = showCluster(
    {
      clock,
      backends: () => backends,
      routeTroubles: () => routeTroubles,
      onState: ports.onState,
    },
    signal,
  )
  const start = (groups: ReadonlyArray<string>): RunningBackends => {
    const handlers = {
      onNews: (isVisible: boolean) => run(() => showing.servicesChanged(isVisible)),
      onTroubles: (troubles: ReadonlyArray<InformerTrouble>) =>
        run(() => showing.tellTroubles(() => logBackendTroubles(logger, troubles))),
      onEnd: ports.end,
    }
    return startBackends(client, options, groups, handlers, signal)
  }
  return {
    routesChanged: (changes) => {
      logWarnings(logger, changes)
      const added = showing.hold(changes)
      if (backends === noRunningBackends) backends = start(added)
      else if (added.length > 0) backends.select({ add: added, remove: [] })
      showing.advance()
    },
    routesTroubled: (troubles) => {
      routeTroubles = troubles
      showing.tellTroubles(() => logTroubles(logger, troubles))
    },
  }
}
