import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  type TypeUrl,
} from '../../../../core/type-url.js'
import type { DiscoveryRequest } from '../../../../core/xds/messages.js'
import { inspect } from './inspect.js'
import { changeRequest, firstRequest } from './requests.js'
import { type EnvoyState, type HeldResource, type Watch, withWatch } from './state.js'

/** A state, and the requests that lead to it, in their order. */
export type Asking = readonly [state: EnvoyState, requests: ReadonlyArray<DiscoveryRequest>]

/**
 * Asks for what a response of this type has made necessary, and gives up what it has made needless:
 * clusters bring endpoints, listeners bring route tables, and the first listeners are asked for when
 * no cluster waits for its endpoints any more.
 */
export const follow = (before: EnvoyState, after: EnvoyState, typeUrl: TypeUrl): Asking => {
  const { held } = after.watches[typeUrl]
  switch (typeUrl) {
    case clusterType: {
      const renewed = needsOf(clusterType, renewedOf(before.watches[clusterType].held, held))
      const names = needsOf(clusterType, held)
      return askForListeners(subscribe(after, endpointType, names, renewed.size > 0))
    }
    case endpointType:
      return askForListeners([after, []])
    case listenerType:
      return subscribe(after, routeType, needsOf(listenerType, held))
    case routeType:
      return [after, []]
  }
}

/** Sends the first request of a type on this stream. */
export const ask = (state: EnvoyState, typeUrl: TypeUrl): Asking => [
  withWatch(state, typeUrl, { asked: true }),
  [firstRequest(state, typeUrl)],
]

/**
 * Makes these the names of a type, and forgets what stood under the others.
 *
 * `renewed` says that something that needs the names is new: with the state of the world Envoy then asks
 * again, although nothing in its request has changed (xDS protocol, statement 53).
 */
const subscribe = (
  state: EnvoyState,
  typeUrl: TypeUrl,
  names: ReadonlySet<string>,
  renewed = false,
): Asking => {
  const watch = state.watches[typeUrl]
  const added = [...names].filter((name) => !watch.names.has(name))
  const dropped = [...watch.names].filter((name) => !names.has(name))
  const asksAgain = renewed && state.options.variant === 'sotw'
  if (added.length + dropped.length === 0 && !asksAgain) return [state, []]
  const next = withWatch(state, typeUrl, { names, ...without(watch, new Set(dropped)) })
  if (watch.asked) return [next, [changeRequest(next, typeUrl, added, dropped)]]
  return ask(next, typeUrl)
}

const askForListeners = ([state, requests]: Asking): Asking => {
  const { [clusterType]: clusters, [endpointType]: endpoints } = state.watches
  const waits = [...endpoints.names].some((name) => !endpoints.settled.has(name))
  if (state.asksForListeners || !clusters.heard || waits) return [state, requests]
  const [next, more] = ask({ ...state, asksForListeners: true }, listenerType)
  return [next, [...requests, ...more]]
}

const needsOf = (typeUrl: TypeUrl, held: ReadonlyMap<string, HeldResource>): ReadonlySet<string> =>
  new Set([...held.values()].flatMap(({ bytes }) => inspect(typeUrl, bytes).needs))

/** What is new or has other content; equal bytes under another version change nothing. */
const renewedOf = (
  before: ReadonlyMap<string, HeldResource>,
  after: ReadonlyMap<string, HeldResource>,
): ReadonlyMap<string, HeldResource> =>
  new Map([...after].filter(([name, { bytes }]) => !sameBytes(before.get(name)?.bytes, bytes)))

const sameBytes = (a: Uint8Array | undefined, b: Uint8Array): boolean =>
  a === b || (a?.length === b.length && a.every((byte, index) => byte === b[index]))

const without = (
  { held, reported, settled }: Watch,
  dropped: ReadonlySet<string>,
): Pick<Watch, 'held' | 'reported' | 'settled'> => ({
  held: new Map([...held].filter(([name]) => !dropped.has(name))),
  reported: new Map([...reported].filter(([name]) => !dropped.has(name))),
  settled: new Set([...settled].filter((name) => !dropped.has(name))),
})
