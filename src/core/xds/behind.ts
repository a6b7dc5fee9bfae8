import type { Resource } from '../resource.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../type-url.js'
import type { Outgoing } from './advance.js'
import { eachName, withNames } from './names.js'
import { type Session, withWatch } from './session-state.js'
import { owe } from './watch.js'

/** What must follow a response, changed or not. */
export const oweBehind = (session: Session, typeUrl: TypeUrl, outgoing: Outgoing): Session => {
  switch (typeUrl) {
    case clusterType:
      return oweEndpoints(session, outgoing)
    case listenerType:
      return oweScopes(session, outgoing)
    case endpointType:
    case scopeType:
    case routeType:
      return session
  }
}

/**
 * A listener that begins to look for scopes waits until they are sent again: an Envoy that has asked for them before on
 * this stream does not ask in delta, and has forgotten them if its last such listener has gone (run).
 */
const oweScopes = (session: Session, { resources }: Outgoing): Session => {
  const watch = session.watches[scopeType]
  return watch === undefined || namedBy(resources, scopeType).length === 0
    ? session
    : withWatch(session, scopeType, owe(watch, eachName(watch.sent)))
}

const namedBy = (resources: ReadonlyArray<Resource>, typeUrl: TypeUrl): ReadonlyArray<string> =>
  resources.flatMap(({ refs }) =>
    refs.flatMap((ref) => (ref.typeUrl === typeUrl ? [ref.name] : [])),
  )

/**
 * A cluster that is sent again warms until its endpoints are sent again too, and in delta Envoy does not
 * even ask for them (envoyproxy/envoy#13009): so they follow, changed or not.
 */
const oweEndpoints = (session: Session, { renewed }: Outgoing): Session => {
  const watch = session.watches[endpointType]
  const names = namedBy(renewed, endpointType)
  if (watch !== undefined) return withWatch(session, endpointType, owe(watch, names))
  // In state of the world a first request is answered in full.
  const isSpared = session.variant === 'sotw' || names.length === 0
  return isSpared ? session : { ...session, debts: withNames(session.debts, names) }
}
