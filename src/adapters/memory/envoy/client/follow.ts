import { compareStrings } from '../../../../core/order.js'
import { endpointType, routeType, scopeType, type TypeUrl } from '../../../../core/type-url.js'
import type { DiscoveryRequest } from '../../../../core/xds/messages.js'
import { endpointNeeds } from './clusters.js'
import type { Need } from './inspect.js'
import { tableNeeds } from './listeners.js'
import { changeRequest, firstRequest } from './requests.js'
import { followSources, tablesOfSources } from './scopes.js'
import { type EnvoyState, type Watch, withWatch } from './state.js'

/** A state, and the requests that lead to it, in their order. */
export type Asking = readonly [state: EnvoyState, requests: ReadonlyArray<DiscoveryRequest>]

/** Does one thing after the other. */
export const andThen = ([state, requests]: Asking, next: (state: EnvoyState) => Asking): Asking => {
  const [after, more] = next(state)
  return [after, [...requests, ...more]]
}

/** Sends the first request of a type on this stream. */
export const ask = (state: EnvoyState, typeUrl: TypeUrl): Asking => [
  withWatch(state, typeUrl, { asked: true, known: true }),
  [firstRequest(state, typeUrl)],
]

/**
 * Asks for the endpoints that the clusters need, and gives up what none needs any more.
 *
 * `moved` says that one of the subscriptions behind the names has begun or ended: with the state of
 * the world Envoy then asks again, although nothing in its request has changed (xDS protocol,
 * statement 53). A delta client asks for nothing then.
 */
export const followClusters = (state: EnvoyState, moved: boolean): Asking => {
  const names = new Set(endpointNeeds(state.clusters).map(({ name }) => name))
  return subscribe(state, endpointType, names, moved && state.options.variant === 'sotw')
}

/** Asks for the scopes and tables that the listeners need, and gives up what none needs any more. */
export const followListeners = (state: EnvoyState): Asking =>
  andThen(followScopes(state), (next) => followTables(next, needsOf(next)))

/**
 * The same once drains have ended. What leads to a table is given up piece by piece then, and each piece is told
 * by itself: as many requests as there are tables.
 */
export const followDrains = (state: EnvoyState): Asking =>
  andThen(followScopes(state), (next) => {
    const needs = needsOf(next)
    const { names } = next.watches[routeType]
    const dropped = [...names].filter((name) => !needs.has(name)).sort(compareStrings)
    return dropped.reduce<Asking>(
      (asking, _, index) => {
        const kept = dropped.slice(index + 1).map((name) => [name, undefined] as const)
        return andThen(asking, (soFar) => followTables(soFar, new Map([...needs, ...kept])))
      },
      [next, []],
    )
  })

/**
 * Asks for scopes where a source of them has begun. A delta client that has asked on this stream before does not:
 * it waits until scopes are sent again. Nothing says that a source has ended.
 */
const followScopes = (state: EnvoyState): Asking => {
  const scopes = followSources(state.scopes, state.listeners, state.nowMs)
  const next = { ...state, scopes }
  if ([...scopes.keys()].every((source) => state.scopes.has(source))) return [next, []]
  if (!state.watches[scopeType].asked) return ask(next, scopeType)
  return [next, state.options.variant === 'sotw' ? [changeRequest(next, scopeType, [], [])] : []]
}

/** The tables that listeners ask for, by themselves or by their scopes, and for how long each is waited for. */
const needsOf = ({ listeners, scopes }: EnvoyState): TableNeeds =>
  new Map([...tableNeeds(listeners), ...tablesOfSources(scopes.values())])

type TableNeeds = ReadonlyMap<string, Need['fetchMs']>

const followTables = (state: EnvoyState, needs: TableNeeds): Asking => {
  const { names: before, dueMs } = state.watches[routeType]
  const [asking, requests] = subscribe(state, routeType, new Set(needs.keys()), false)
  if (requests.length === 0) return [asking, requests]
  const due = [...needs].flatMap(([name, fetchMs]) => {
    const untilMs = before.has(name) ? dueMs.get(name) : state.nowMs + (fetchMs ?? Infinity)
    return untilMs === undefined || untilMs === Infinity ? [] : [[name, untilMs] as const]
  })
  return [withWatch(asking, routeType, { dueMs: new Map(due) }), requests]
}

const subscribe = (
  state: EnvoyState,
  typeUrl: TypeUrl,
  names: ReadonlySet<string>,
  asksAgain: boolean,
): Asking => {
  const watch = state.watches[typeUrl]
  const added = [...names].filter((name) => !watch.names.has(name))
  const dropped = [...watch.names].filter((name) => !names.has(name))
  if (added.length + dropped.length === 0 && !asksAgain) return [state, []]
  const next = withWatch(state, typeUrl, { names, ...without(watch, new Set(dropped)) })
  if (watch.asked) return [next, [changeRequest(next, typeUrl, added, dropped)]]
  return ask(next, typeUrl)
}

const without = (
  { held, reported, settled }: Watch,
  dropped: ReadonlySet<string>,
): Pick<Watch, 'held' | 'reported' | 'settled'> => ({
  held: new Map([...held].filter(([name]) => !dropped.has(name))),
  reported: new Map([...reported].filter(([name]) => !dropped.has(name))),
  settled: new Set([...settled].filter((name) => !dropped.has(name))),
})
