import {
  endpointType,
  perType,
  routeType,
  type TypeUrl,
  typeUrls,
} from '../../../../core/type-url.js'
import { awaitNoMore } from './clusters.js'
import { andThen, type Asking, followClusters, followDrains } from './follow.js'
import { endDrains } from './listeners.js'
import { progress, surroundings } from './progress.js'
import { awaitScopesNoMore } from './scopes.js'
import { type EnvoyState, everything, type Watch } from './state.js'

/**
 * Ends what has lasted for long enough: the wait for endpoints, tables and first answers, and
 * drains. Names that did not resolve are looked up again.
 */
export const passTime = (before: EnvoyState, nowMs: number): Asking => {
  const state: EnvoyState = { ...before, nowMs: Math.max(before.nowMs, nowMs) }
  const { held } = state.watches[endpointType]
  const [clusters, moved] = awaitNoMore(state.clusters, held, surroundings(state))
  const next: EnvoyState = {
    ...state,
    clusters,
    listeners: endDrains(state.listeners, state.nowMs),
    scopes: awaitScopesNoMore(state.scopes, state.nowMs),
    watches: perType((typeUrl) => waitNoMore(state.watches[typeUrl], typeUrl, state.nowMs)),
  }
  return andThen(andThen(followClusters(next, moved), progress), followDrains)
}

/** What is waited for no more works as if it had come empty. */
const waitNoMore = (watch: Watch, typeUrl: TypeUrl, nowMs: number): Watch => {
  const over = [...watch.dueMs].filter(([, untilMs]) => untilMs <= nowMs).map(([name]) => name)
  if (over.length === 0) return watch
  const dueMs = new Map([...watch.dueMs].filter(([name]) => !over.includes(name)))
  return typeUrl === routeType
    ? { ...watch, dueMs, settled: new Set([...watch.settled, ...over]) }
    : { ...watch, dueMs, heard: watch.heard || over.includes(everything) }
}

/**
 * When an Envoy next does something by itself, in the time of `TimePassed`; `undefined` if never. A
 * silent resolver has no time: it is asked at every `TimePassed`.
 */
export const nextTimer = ({
  watches,
  clusters,
  listeners,
  scopes,
}: EnvoyState): number | undefined => {
  const times = [
    ...typeUrls.flatMap((typeUrl) => [...watches[typeUrl].dueMs.values()]),
    ...[...clusters.warming.values()].flatMap(({ awaits }) =>
      awaits._tag === 'Endpoints' && awaits.untilMs !== undefined ? [awaits.untilMs] : [],
    ),
    ...listeners.draining.map(({ untilMs }) => untilMs),
    ...[...scopes.values()].flatMap(({ dueMs }) => dueMs ?? []),
  ]
  return times.length === 0 ? undefined : times.reduce((least, time) => Math.min(least, time))
}
