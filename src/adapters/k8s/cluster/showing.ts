import { entries, size } from '../../../core/persistent-map.js'
import type { SourceState } from '../../../ports/route-source.js'
import type { Change, InformerTrouble } from '../informers/index.js'
import { paced } from '../informers/paced.js'
import { type SeenRoute, stateOf } from '../informers/route-view.js'
import { type BackendsView, noBackends } from './backend-view.js'
import type { RunningBackends } from './backends.js'
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
import { overdueProblems, sortProblems } from './problems.js'
import { has } from './tally.js'
import { alarmOf, type Turns } from './turns.js'

export interface ShowingPorts {
  readonly clock: Turns['clock']
  /** The Services that are followed now. */
  readonly backends: () => RunningBackends
  /** What is wrong with following routes now. */
  readonly routeTroubles: () => ReadonlyArray<InformerTrouble>
  /** Must not throw. */
  readonly onState: (state: SourceState) => void
}

/** Shows what is seen of a cluster, as soon as it can be. */
export interface Showing {
  /** Has routes wait for the Services that they name. Returns those that none has named before. */
  readonly hold: (changes: ReadonlyArray<Change<SeenRoute>>) => ReadonlyArray<string>
  /** Shows what can be shown by now. */
  readonly advance: () => void
  /** The same where Services have become known, or have changed; that may be seen, or not. */
  readonly servicesChanged: (isVisible: boolean) => void
  /** Shows troubles with the rest; before anything is shown, only the log can tell of them. */
  readonly tellTroubles: (log: () => void) => void
}

/** Shows a cluster until `signal` aborts. */
export const showCluster = (ports: ShowingPorts, signal: AbortSignal): Showing => {
  const { clock, backends, routeTroubles } = ports
  const telling = makeTelling(ports.onState)
  let backlog = emptyBacklog
  const become = (next: Backlog): void => {
    if (next !== backlog) telling.due()
    backlog = next
  }
  const publish = (): number => {
    become(settle(backlog, backends()))
    const view = backends().view((service) => has(backlog.named, service))
    telling.tell(view, () => stateFrom(backlog, view, backends(), routeTroubles()))
    backlog = letGo(backlog, backends())
    return costOf(backlog, view) * restPerObjectMs
  }
  const publishSoon = paced(clock, publish, signal)
  const alarm = alarmOf(clock, () => advance(), signal)
  const advance = (isNews = false): void => {
    become(show(backlog, backends(), clock.nowMs()))
    alarm(showAtMs(backlog))
    if (backlog.isShown && (telling.isDue() || isNews)) publishSoon()
  }
  const tellTroubles = (log: () => void): void => {
    if (!backlog.isShown) return log()
    telling.due()
    publishSoon()
  }
  return {
    hold: (changes) => {
      const added = [...servicesIn(changes)].filter((service) => !has(backlog.wanted, service))
      backlog = hold(backlog, changes, clock.nowMs())
      return added
    },
    advance: () => advance(),
    servicesChanged: (isVisible) => advance(isVisible || size(backlog.overdue) > 0),
    tellTroubles,
  }
}

/** Follows those Services no longer that no route names any more. */
const letGo = (backlog: Backlog, backends: RunningBackends): Backlog => {
  const [next, unused] = forget(backlog)
  if (unused.length > 0) backends.select({ add: [], remove: unused })
  return next
}

/** Tells states, where one may differ from the last. */
interface Telling {
  /** There is something to tell, whatever has become of Services. */
  readonly due: () => void
  readonly isDue: () => boolean
  readonly tell: (view: BackendsView, stateOf: () => SourceState) => void
}

const makeTelling = (onState: (state: SourceState) => void): Telling => {
  let told = noBackends
  let isDue = false
  return {
    due: () => void (isDue = true),
    isDue: () => isDue,
    tell: (view, stateOf) => {
      if (!isDue && view === told) return
      told = view
      isDue = false
      onState(stateOf())
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
