import * as PM from '../persistent-map.js'
import type { Resources, View } from '../snapshot.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../type-url.js'
import { type Aim, nothingWithheld } from './advance.js'
import { isInUse, mayNameAny } from './departures.js'
import { strangersAmong } from './linger.js'
import { eachName } from './names.js'
import {
  isPurging,
  planResources,
  type Trial,
  tryResources,
  unreadyBefore,
  unreadyClusters,
} from './plan.js'
import { planTables, tryTables } from './plan-tables.js'
import { concerns } from './probe.js'
import { isEnvoy, type Session } from './session-state.js'
import type { Watch } from './watch.js'

/** What a client is to hold of a type next: the view, as far as it can go now; or a trial, alone. */
export const aimAt = (
  session: Session,
  watch: Watch,
  typeUrl: TypeUrl,
  view: View,
  trial: Trial,
): Aim => {
  const aim = wholeAim(session, watch, typeUrl, view, trial)
  return trial.length > 0 ? aloneWith(trial, aim, watch, typeUrl) : aim
}

/** What goes leaves when what has come before it is answered: nothing is missing in between. */
const withGone = ({ sent, owed }: Watch, { target, withheld, removesFirst }: Aim): Aim => ({
  target: PM.diff(sent, target).reduce(
    (map, { before, after }) =>
      before !== undefined && after === undefined ? PM.set(map, before) : map,
    target,
  ),
  withheld: new Set([
    ...withheld,
    ...[...eachName(owed)].filter((name) => PM.get(target, name) === undefined),
  ]),
  removesFirst: removesFirst === true,
})

const doubtedWithout = ({ holding }: Watch, goal: Resources): ReadonlyArray<string> =>
  [...PM.entries(holding.unsure)].flatMap(({ name }) =>
    PM.get(goal, name) === undefined ? [name] : [],
  )

/** What is due besides waits, so that the answer speaks of what is tried alone. */
const aloneWith = (trial: Trial, aim: Aim, { owed }: Watch, typeUrl: TypeUrl): Aim => {
  const tried = new Set(trial.map(({ name }) => name))
  const isTried = (name: string): boolean => {
    const table = typeUrl === routeType ? PM.get(aim.target, name) : undefined
    return tried.has(name) || (table !== undefined && concerns(table, trial))
  }
  const others = [...eachName(owed)].filter((name) => !isTried(name))
  return { ...aim, withheld: new Set([...aim.withheld, ...others]) }
}

const wholeAim = (
  session: Session,
  watch: Watch,
  typeUrl: TypeUrl,
  view: View,
  trial: Trial,
): Aim => {
  const goal = view[typeUrl]
  const plan = (): Resources =>
    trial.length > 0
      ? tryResources(watch, goal, trial)
      : planResources(watch, typeUrl, goal, typeUrl === clusterType ? isInUse(session) : undefined)
  switch (typeUrl) {
    case routeType: {
      const clusters = session.watches[clusterType]
      const unready =
        clusters === undefined
          ? unreadyBefore(session.memory, isEnvoy(session), view[clusterType])
          : unreadyClusters(clusters, view[clusterType])
      return trial.length > 0
        ? tryTables(watch, view, unready, trial)
        : planTables(watch, view, unready)
    }
    case clusterType: {
      const removesFirst = isPurging(watch)
      const target = plan()
      const withheld = new Set([
        ...strangersAmong(session.lingerers),
        // Whether it holds these at all is in doubt; if it does, a table may name them.
        ...(mayNameAny(session) ? doubtedWithout(watch, goal) : []),
      ])
      const aim: Aim = { target, withheld, removesFirst }
      return watch.inFlight.some(({ isStalled }) => !isStalled) ? withGone(watch, aim) : aim
    }
    case endpointType:
    case listenerType:
    case scopeType:
      return { target: plan(), withheld: nothingWithheld, removesFirst: typeUrl === listenerType }
  }
}
