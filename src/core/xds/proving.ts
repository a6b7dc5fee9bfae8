import * as PM from '../persistent-map.js'
import { routeType } from '../type-url.js'
import { recall, unsureOf } from './holding.js'
import { hasName } from './names.js'
import { tablesIn } from './node-memory.js'
import { type Session, withWatch } from './session-state.js'

/**
 * Doubts every route table that the client has not accepted on this stream, so that it is sent once more: what
 * it came with, what it was remembered to hold, and what it says of versions may be somebody else's. Nothing
 * of a client that has come with nothing. Costs O(tables).
 */
export const doubtUnproven = (session: Session): Session => {
  const watch = session.watches[routeType]
  if (watch === undefined || session.freshness === 'Fresh') return session
  const doubtful = [...PM.entries(tablesIn(watch, watch.holding))]
    .filter(({ name }) => !hasName(watch.proven, name))
    .map((entry) => {
      // That there is none proves nothing, and is not said twice.
      const isSettling = watch.claims === undefined && PM.get(watch.sent, entry.name) === undefined
      return unsureOf(entry.name, { ...entry, isUnknown: true, isSettling })
    })
  if (doubtful.length === 0) return session
  return withWatch(session, routeType, { ...watch, holding: recall(watch.holding, doubtful) })
}
