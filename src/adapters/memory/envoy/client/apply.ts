import {
  clusterType,
  endpointType,
  isFullState,
  listenerType,
  routeType,
  scopeType,
} from '../../../../core/type-url.js'
import { release } from './answers.js'
import { changeClusters, takeEndpoints } from './clusters.js'
import { andThen, type Asking, followClusters, followListeners } from './follow.js'
import type { Judgement } from './judge.js'
import { changeListeners } from './listeners.js'
import type { ReceivedResource, ReceivedResponse } from './messages.js'
import { drainUntilMs, initialize, progress, surroundings } from './progress.js'
import { followSources, type ScopeNews, takeScopes } from './scopes.js'
import { type EnvoyState, type HeldResource, type Watch, withWatch } from './state.js'

/**
 * Does what a response says, whether it is accepted or refused, and asks for what that needs.
 *
 * Of a refused response with clusters or listeners the good ones work all the same, and so do
 * removals; the refused ones keep their old form. What the client reports stays behind then: that
 * is how a real Envoy is (xDS protocol, 2.8, A to C).
 */
export const apply = (
  state: EnvoyState,
  response: ReceivedResponse,
  judgement: Judgement,
): Asking => {
  switch (response.typeUrl) {
    case clusterType:
      return applyClusters(state, response, judgement)
    case scopeType:
      return applyScopes(state, response, judgement)
    case endpointType:
      return applyEndpoints(state, response, judgement)
    case listenerType:
      return applyListeners(state, response, judgement)
    case routeType:
      return applyTables(state, response, judgement)
  }
}

/**
 * The clusters or listeners that a response takes away: what the state of the world leaves out, and
 * what an incremental response names.
 */
export const goneOf = (
  { options, clusters, listeners }: EnvoyState,
  { typeUrl, resources, removed }: ReceivedResponse,
): ReadonlyArray<string> => {
  if (typeUrl !== clusterType && typeUrl !== listenerType) return []
  if (options.variant === 'delta') return removed
  const named = new Set(resources.map(({ name }) => name))
  const { active, warming } = typeUrl === clusterType ? clusters : listeners
  return [...new Set([...active.keys(), ...warming.keys()])].filter((name) => !named.has(name))
}

const applyClusters = (
  state: EnvoyState,
  response: ReceivedResponse,
  judgement: Judgement,
): Asking => {
  if (judgement._tag === 'Malformed') return initialize(withNews(state, response, judgement))
  const gone = goneOf(state, response)
  const [clusters, moved] = changeClusters(
    state.clusters,
    judgement.judged,
    gone,
    surroundings(state),
  )
  const asking = resubscribe(state, clusters.paused)
  const changed = andThen(asking, (opened) =>
    followClusters(withNews({ ...opened, clusters }, response, judgement), moved),
  )
  return andThen(changed, initialize)
}

/**
 * On a new stream that was opened while a cluster warmed, clusters were not asked for; what was
 * sent all the same is taken, and if that ends the warming, a delta client asks with what it held
 * before, and gives the answers that it owes.
 */
const resubscribe = (state: EnvoyState, paused: boolean): Asking =>
  state.options.variant === 'sotw' || state.watches[clusterType].asked || paused
    ? [state, []]
    : release({ ...state, clusters: { ...state.clusters, paused } })

/** Endpoints that are refused keep nobody waiting; nor do those that are known not to be there. */
const applyEndpoints = (
  state: EnvoyState,
  response: ReceivedResponse,
  judgement: Judgement,
): Asking => {
  const refused = judgement.message !== undefined
  const assignments = new Map(goodOf(judgement).map((good) => [good.name, toHeld(good)]))
  const { held } = state.watches[endpointType]
  const next = withWatch(withNews(state, response, judgement), endpointType, {
    held: new Map([...(refused ? held : removeFrom(held, response.removed)), ...assignments]),
  })
  const absent = refused ? 'all' : new Set(response.removed)
  const clusters = takeEndpoints(state.clusters, { assignments, absent })
  return andThen(progress({ ...next, clusters }), (soFar) => followClusters(soFar, false))
}

/** What goes does so before anything comes: a source of scopes that both need ends, and begins anew. */
const applyListeners = (
  state: EnvoyState,
  response: ReceivedResponse,
  judgement: Judgement,
): Asking => {
  const next = withNews(state, response, judgement)
  if (judgement._tag === 'Malformed') return progress(next)
  const untilMs = drainUntilMs(state)
  const left = changeListeners(state.listeners, [], goneOf(state, response), untilMs)
  const scopes = followSources(state.scopes, left, state.nowMs)
  const listeners = changeListeners(left, goodOf(judgement), [], untilMs)
  return andThen(followListeners({ ...next, scopes, listeners }), progress)
}

/** The tables are asked for that the scopes name. Of a refused response nothing is applied. */
const applyScopes = (
  state: EnvoyState,
  response: ReceivedResponse,
  judgement: Judgement,
): Asking => {
  const news: ScopeNews = {
    good: new Map(goodOf(judgement).map((scope) => [scope.name, toHeld(scope)])),
    gone: state.options.variant === 'sotw' ? 'others' : response.removed,
  }
  const next = withNews(state, response, judgement)
  const scopes = takeScopes(state.scopes, judgement.message === undefined ? news : undefined)
  return andThen(followListeners({ ...next, scopes }), progress)
}

/**
 * A removed table goes on working (statement 57); one that has not come is waited for without end
 * then. A refusal makes listeners go on without the tables that have not come.
 */
const applyTables = (
  state: EnvoyState,
  response: ReceivedResponse,
  judgement: Judgement,
): Asking => {
  const { held, names, settled, dueMs } = state.watches[routeType]
  const good = goodOf(judgement)
  const refused = judgement.message !== undefined
  const come = [...good.map(({ name }) => name), ...response.removed]
  const next = withWatch(withNews(state, response, judgement), routeType, {
    held: new Map([...held, ...good.map((table) => [table.name, toHeld(table)] as const)]),
    settled: refused ? names : settled,
    dueMs: refused ? new Map() : removeFrom(dueMs, come),
  })
  return progress(next)
}

/**
 * What any response makes of a watch. A name that was removed is not reported, even where it stays
 * in use.
 */
const withNews = (
  state: EnvoyState,
  { typeUrl, version, removed }: ReceivedResponse,
  judgement: Judgement,
): EnvoyState => {
  const watch = state.watches[typeUrl]
  const heard = isFullState(typeUrl) ? { dueMs: new Map() } : {}
  if (judgement.message !== undefined) return withWatch(state, typeUrl, heard)
  const reported: Watch['reported'] = new Map([
    ...removeFrom(watch.reported, removed),
    ...goodOf(judgement).map((good) => [good.name, good.version] as const),
  ])
  return withWatch(state, typeUrl, { ...heard, version, reported })
}

const goodOf = (judgement: Judgement): ReadonlyArray<ReceivedResource> =>
  judgement._tag === 'Malformed'
    ? []
    : judgement.judged.flatMap(({ resource, fault }) => (fault === undefined ? [resource] : []))

const toHeld = ({ version, bytes }: ReceivedResource): HeldResource => ({ version, bytes })

const removeFrom = <A>(
  map: ReadonlyMap<string, A>,
  names: ReadonlyArray<string>,
): ReadonlyMap<string, A> => {
  if (names.length === 0) return map
  const removed = new Set(names)
  return new Map([...map].filter(([name]) => !removed.has(name)))
}
