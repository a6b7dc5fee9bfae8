import * as PM from '../persistent-map.js'
import type { Resource } from '../resource.js'
import type { View } from '../snapshot.js'
import { clusterType, endpointType, routeType } from '../type-url.js'
import { holdsNothing, holdsUnknown, possibleForms } from './holding.js'
import { depart, refersTo } from './linger.js'
import { hasName } from './names.js'
import { mayHoldUnknown, tablesBefore, tablesIn } from './node-memory.js'
import { resourceKey } from './search.js'
import { isEnvoy, isEnvoyBack, type Session } from './session-state.js'
import type { Watch } from './watch.js'

/** The session with the clusters that are to stay although the goal has them no more. */
export const linger = (session: Session, goal: View, nowMs: number): Session => {
  const clusters = session.watches[clusterType]
  if (clusters === undefined) return session
  const lingerers = depart(session.lingerers, {
    goal: goal[clusterType],
    held: clusters.sent,
    endpoints: session.watches[endpointType]?.sent,
    strangers: strangersTo(clusters),
    tables: () =>
      isUnsaid(session) || holdsUnknownTable(session, goal) ? undefined : possibleTables(session),
    nowMs,
  })
  return lingerers === session.lingerers ? session : { ...session, lingerers }
}

/** What it says it holds without having asked for it by name: that nobody names it cannot be known. */
const strangersTo = ({ claims, subscription }: Watch): ReadonlyArray<string> =>
  subscription.wildcard && claims !== undefined
    ? [...claims.keys()].filter((name) => !hasName(subscription.names, name))
    : []

/** True while the client holds a table that nobody knows, and is to be sent another one or drains it. */
const holdsUnknownTable = (session: Session, goal: View): boolean => {
  const watch = session.watches[routeType]
  return (
    watch !== undefined &&
    [...PM.entries(watch.holding.unsure)].some(
      ({ name, isUnknown }) =>
        isUnknown &&
        // An Envoy asks for a table that is not there any more as long as it drains a listener of it.
        (PM.get(goal[routeType], name) !== undefined || isEnvoy(session)) &&
        // One that is refused as a whole will not come: nothing is kept for ever.
        !watch.search.convicted.has(resourceKey(name)),
    )
  )
}

/** True while an Envoy goes on with a table that nobody knows: it may name any cluster. */
export const mayNameAny = (session: Session): boolean =>
  isUnsaid(session) ||
  (isEnvoyBack(session) && holdsUnknown(session.watches[routeType]?.holding ?? holdsNothing))

/** True while an Envoy that has come with something has not said which tables it has. */
const isUnsaid = (session: Session): boolean => isEnvoyBack(session) && mayHoldUnknown(session)

/** Every table that the client may hold. */
export const possibleTables = (session: Session): ReadonlyArray<Resource> => {
  const watch = session.watches[routeType]
  const entries = watch === undefined ? tablesBefore(session) : tablesIn(watch, watch.holding)
  return [...PM.entries(entries)].flatMap(({ name, accepted, forms }) =>
    watch === undefined
      ? [...(accepted === undefined ? [] : [accepted]), ...forms]
      : possibleForms(watch.holding, watch.inFlight, name),
  )
}

/**
 * Whether the client may have had this cluster when its stream began, as far as nobody knows better: its tables may
 * name it.
 *
 * It asks at once for the endpoints of all that it has. In state of the world that is all that it says: of a cluster
 * without endpoints of its own nobody knows.
 */
export const mayHaveBrought = (session: Session): ((cluster: Resource) => boolean) => {
  const { variant, freshness, watches, brought } = session
  const watch = watches[clusterType]
  if (watch === undefined || watch.hasAccepted || freshness !== 'Held') return () => false
  const isBlind = variant === 'sotw' && watch.holding.acked === undefined
  const hasSaid = watches[endpointType] !== undefined
  return ({ refs }) => {
    const endpoints = refs.filter(({ typeUrl }) => typeUrl === endpointType)
    return hasSaid && endpoints.length > 0
      ? endpoints.some(({ name }) => hasName(brought, name))
      : isBlind
  }
}

/** Whether a table that the client may hold names this cluster, or the client has brought it in a form of its own. */
export const isInUse = (session: Session): ((cluster: string) => boolean) => {
  const unsure = session.watches[clusterType]?.holding.unsure
  let tables: ReadonlyArray<Resource> | undefined
  return (cluster) => {
    if (PM.get(unsure, cluster)?.isUnknown === true) return true
    tables ??= possibleTables(session)
    return tables.some(({ refs }) => refersTo(refs, cluster))
  }
}
