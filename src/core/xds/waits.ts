import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../type-url.js'
import type { Session } from './session-state.js'
import { clustersAwaited, drainedAt, emptiesAt, scopesAwaited } from './timers.js'
import type { Watch } from './watch.js'

/** Notes which waits are over: each is waited for once. */
export const stopAwaiting = (session: Session, nowMs: number): Session => {
  const isOver = (at: number | undefined): boolean => at !== undefined && at <= nowMs
  const hasWaited = session.hasWaited || isOver(clustersAwaited(session))
  const hasHeardTables = session.hasHeardTables || isOver(scopesAwaited(session))
  const hasDrained = session.hasDrained || isOver(drainedAt(session))
  const isSame =
    hasWaited === session.hasWaited &&
    hasHeardTables === session.hasHeardTables &&
    hasDrained === session.hasDrained
  return isSame ? session : { ...session, hasWaited, hasHeardTables, hasDrained }
}

/** Notes that tables that nobody knows are to be empty from now on. */
export const emptying = (session: Session, watch: Watch, nowMs: number): Watch => {
  const at = emptiesAt(session)
  const emptiesUnknown = session.isProving && (watch.emptiesUnknown || (at ?? nowMs + 1) <= nowMs)
  return emptiesUnknown === watch.emptiesUnknown ? watch : { ...watch, emptiesUnknown }
}

/** Whether anything of a type may go at all. */
export const maySend = (session: Session, typeUrl: TypeUrl): boolean => {
  switch (typeUrl) {
    case routeType:
      return session.isAdmitted && (session.hasWaited || clustersAwaited(session) === undefined)
    case scopeType:
      return session.hasHeardTables || scopesAwaited(session) === undefined
    case clusterType:
    case endpointType:
    case listenerType:
      return true
  }
}
