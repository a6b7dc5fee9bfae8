import { clusterType, listenerType, routeType } from '../../../../core/type-url.js'
import { release } from './answers.js'
import { areFirstReady, type ClusterSurroundings } from './clusters.js'
import { andThen, ask, type Asking } from './follow.js'
import { type RunningListener, tablesOf, warmUp } from './listeners.js'
import { defaultDrainMs, defaultFetchMs } from './options.js'
import { scopesOf, type ScopeSource, tablesOfSources } from './scopes.js'
import { type EnvoyState, everything, withWatch } from './state.js'

/** Does what has become possible: asks for listeners, gives withheld answers, opens ports. */
export const progress = (state: EnvoyState): Asking =>
  openPorts(andThen(initialize(state), release))

/** The first listeners are asked for when the first clusters are ready (E1). */
export const initialize = (state: EnvoyState): Asking => {
  const { clusters, watches, nowMs } = state
  if (clusters.initialized || !watches[clusterType].heard || !areFirstReady(clusters))
    return [state, []]
  const dueMs = new Map([[everything, nowMs + defaultFetchMs]])
  const ready = { ...state, clusters: { ...clusters, initialized: true } }
  return ask(withWatch(ready, listenerType, { dueMs }), listenerType)
}

const openPorts = ([state, requests]: Asking): Asking => {
  if (!state.watches[listenerType].heard) return [state, requests]
  const isReady = (listener: RunningListener): boolean => isListenerReady(state, listener)
  return [{ ...state, listeners: warmUp(state.listeners, isReady, drainUntilMs(state)) }, requests]
}

const isListenerReady = (state: EnvoyState, listener: RunningListener): boolean => {
  const { held, settled } = state.watches[routeType]
  const isThere = (table: string): boolean => held.has(table) || settled.has(table)
  return (
    tablesOf(listener).every(({ name }) => isThere(name)) &&
    awaitedSources(state, listener).every(
      (source) => source.heard && [...tablesOfSources([source]).keys()].every(isThere),
    )
  )
}

/** The scopes that a listener waits for: those for which no other one does. */
const awaitedSources = (
  { scopes }: EnvoyState,
  listener: RunningListener,
): ReadonlyArray<ScopeSource> =>
  scopesOf(listener)
    .flatMap(({ source }) => scopes.get(source) ?? [])
    .filter(({ waiter }) => waiter === listener.id)

/** What clusters find when they change now. */
export const surroundings = ({ nowMs, options }: EnvoyState): ClusterSurroundings => ({
  nowMs,
  resolves: options.resolves ?? (() => true),
})

/** Until when a listener drains that is replaced or removed now. */
export const drainUntilMs = ({ nowMs, options }: EnvoyState): number =>
  nowMs + (options.drainMs ?? defaultDrainMs)
