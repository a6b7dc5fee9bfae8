import type * as E from 'fp-ts/lib/Either.js'
import { entries, size } from '../../../core/persistent-map.js'
import type { Logger } from '../../../ports/logger.js'
import type { SourceError, SourceState } from '../../../ports/route-source.js'
import type { ApiClient } from '../api.js'
import type { Change, FollowOptions, InformerTrouble } from '../informers/index.js'
import { paced } from '../informers/paced.js'
import { type SeenRoute, stateOf } from '../informers/route-view.js'
import { logTroubles, logWarnings } from '../informers/tell-log.js'
import { type BackendsView, noBackends } from './backend-view.js'
import { noRunningBackends, type RunningBackends, startBackends } from './backends.js'
import {
  type Backlog,
  emptyBacklog,
  forget,
  hold,
  overdueOf,
  servicesIn,
  settle,
  show,
  showAtMs,
} from './backlog.js'
import { logBackendTroubles, overdueProblems, sortProblems } from './problems.js'
import { has } from './tally.js'
import { alarmOf, type Turns } from './turns.js'

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
  const { client, options, logger, end, onState } = ports
  const { run, clock } = ports.turns
  let backlog = emptyBacklog
  let routeTroubles: ReadonlyArray<InformerTrouble> = []
  let backends = noRunningBackends
  let seen = noBackends
  /** Whether there is something to tell, whatever has become of Services. */
  let isDue = false
  const become = (next: Backlog): void => {
    isDue ||= next !== backlog
    backlog = next
  }
  const publish = (): number => {
    become(settle(backlog, backends))
    const view = backends.view((service) => has(backlog.named, service))
    if (isDue || view !== seen) {
      seen = view
      isDue = false
      onState(stateFrom(backlog, seen, backends, routeTroubles))
    }
    const [next, unused] = forget(backlog)
    backlog = next
    if (unused.length > 0) backends.select({ add: [], remove: unused })
    return costOf(backlog, seen) * restPerObjectMs
  }
  const publishSoon = paced(clock, publish, signal)
  const alarm = alarmOf(clock, () => advance(), signal)
  /** Shows what can be shown by now. */
  const advance = (isNews = false): void => {
    become(show(backlog, backends, clock.nowMs()))
    alarm(showAtMs(backlog))
    if (backlog.isShown && (isDue || isNews)) publishSoon()
  }
  const tellTroubles = (log: () => void): void => {
    if (!backlog.isShown) return log()
    isDue = true
    publishSoon()
  }
  const start = (groups: ReadonlyArray<string>): RunningBackends => {
    const handlers = {
      onNews: (isVisible: boolean) => run(() => advance(isVisible || size(backlog.overdue) > 0)),
      onTroubles: (troubles: ReadonlyArray<InformerTrouble>) =>
        run(() => tellTroubles(() => logBackendTroubles(logger, troubles))),
      onEnd: end,
    }
    return startBackends(client, options, groups, handlers, signal)
  }
  return {
    routesChanged: (changes) => {
      logWarnings(logger, changes)
      const added = [...servicesIn(changes)].filter((service) => !has(backlog.wanted, service))
      backlog = hold(backlog, changes, clock.nowMs())
      if (backends === noRunningBackends) backends = start(added)
      else if (added.length > 0) backends.select({ add: added, remove: [] })
      advance()
    },
    routesTroubled: (troubles) => {
      routeTroubles = troubles
      tellTroubles(() => logTroubles(logger, troubles))
    },
  }
}

/**
 * How long to rest after a state for each object that it was made of, in milliseconds. To make it, and to compare it
 * with the one before, takes a fraction of that: however fast objects change, most of the time is left for others.
 */
const restPerObjectMs = 0.001

const costOf = ({ routes, overdue }: Backlog, { backends }: BackendsView): number =>
  size(routes) + size(overdue) + backends.services.length + backends.endpointSlices.length

const stateFrom = (
  backlog: Backlog,
  { backends, problems }: BackendsView,
  { placeOf, troubles }: RunningBackends,
  routeTroubles: ReadonlyArray<InformerTrouble>,
): SourceState => {
  const state = stateOf(entries(backlog.routes), [...routeTroubles, ...troubles()])
  const overdue = overdueProblems(overdueOf(backlog), placeOf)
  return {
    ...state,
    backends,
    problems: sortProblems([...state.problems, ...problems, ...overdue]),
  }
}
