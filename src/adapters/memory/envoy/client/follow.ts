import { endpointType, routeType, type TypeUrl } from '../../../../core/type-url.js'
import type { DiscoveryRequest } from '../../../../core/xds/messages.js'
import { endpointNeeds } from './clusters.js'
import { tableNeeds } from './listeners.js'
import { changeRequest, firstRequest } from './requests.js'
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
  withWatch(state, typeUrl, { asked: true }),
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

/** Asks for the tables that the listeners need, and gives up what none needs any more. */
export const followListeners = (state: EnvoyState): Asking => {
  const { names: before, dueMs } = state.watches[routeType]
  const needs = tableNeeds(state.listeners)
  const [asking, requests] = subscribe(state, routeType, new Set(needs.keys()), false)
  if (requests.length === 0) return [asking, requests]
  const due = [...needs.values()].flatMap(({ name, fetchMs }) => {
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
