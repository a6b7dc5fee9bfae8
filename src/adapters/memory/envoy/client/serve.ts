import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../../../../core/type-url.js'
import { answer, type EncodedResources, endpointsOf, type Surroundings } from '../routing/answer.js'
import type { Answer, EndpointAddress, Request } from '../routing/request.js'
import { type ConnectionId, connectTo, listenerOf } from './connections.js'
import { inspect } from './inspect.js'
import type { RunningListener } from './listeners.js'
import { scopesOf, type ScopeSource } from './scopes.js'
import type { EnvoyState, HeldResource } from './state.js'

/** What the Envoy runs, by type and name: what warms does not run, and what drains has no name. */
export const held = ({
  clusters,
  listeners,
  scopes,
  watches,
}: EnvoyState): Readonly<Record<TypeUrl, ReadonlyMap<string, HeldResource>>> => ({
  [clusterType]: clusters.active,
  [endpointType]: new Map([...assignmentsInUse(clusters), ...watches[endpointType].held]),
  [listenerType]: listeners.active,
  [scopeType]: new Map([...scopes.values()].flatMap((source) => [...source.held])),
  [routeType]: watches[routeType].held,
})

const assignmentsInUse = ({
  active,
}: EnvoyState['clusters']): ReadonlyArray<readonly [service: string, assignment: HeldResource]> =>
  [...active.values()].flatMap(({ bytes, assignment }) =>
    assignment === undefined
      ? []
      : inspect(clusterType, bytes).needs.map(({ name }) => [name, assignment] as const),
  )

/**
 * Answers a request: on the connection that it names, by the listener that took that, and on a new
 * one otherwise. A connection that was closed answers as a closed port does.
 */
export const request = (state: EnvoyState, of: Request): Answer => {
  const listener =
    of.connection === undefined
      ? listenerAt(state, of.listener)
      : listenerOf(state.connections, state.listeners, of.connection)
  return listener === undefined ? { _tag: 'ConnectionRefused' } : answerAt(state, listener, of)
}

/** Answers a request on a connection that this form of a listener took. */
export const answerAt = (state: EnvoyState, listener: RunningListener, of: Request): Answer =>
  answer(running(state, listener), of, { ...surroundingsOf(state), listener: listener.bytes })

const surroundingsOf = ({ clusters: { active }, options }: EnvoyState): Surroundings => ({
  assignmentOf: (cluster) => active.get(cluster)?.assignment?.bytes ?? nothing.bytes,
  resolves: options.resolves ?? (() => true),
})

/** Where a cluster's requests go: to none of these endpoints where it is absent or has none. */
export const endpointsAt = (state: EnvoyState, cluster: string): ReadonlyArray<EndpointAddress> =>
  endpointsOf(held(state), cluster, surroundingsOf(state)) ?? []

/**
 * Opens a connection that stays open, to a listener by its name or port; `undefined` where nobody
 * listens. It belongs to the listener as that is now, for as long as that runs or drains.
 */
export const openConnection = (
  state: EnvoyState,
  at: string | number,
): readonly [state: EnvoyState, connection: ConnectionId | undefined] => {
  const listener = listenerAt(state, at)
  if (listener === undefined) return [state, undefined]
  const [connections, connection] = connectTo(state.connections, listener)
  return [{ ...state, connections }, connection]
}

const listenerAt = (
  { listeners: { active, serving } }: EnvoyState,
  at: string | number,
): RunningListener | undefined => {
  if (!serving) return undefined
  return typeof at === 'string'
    ? active.get(at)
    : [...active.values()].find(({ bytes }) => inspect(listenerType, bytes).address?.port === at)
}

/**
 * What a form of a listener works with: of scopes those of its own sources. A table that is settled and has not come
 * works as if it were empty.
 */
export const running = (state: EnvoyState, listener: RunningListener): EncodedResources => {
  const resources = { ...held(state), [scopeType]: scopesFor(state, listener) }
  const { settled } = state.watches[routeType]
  const absent = [...settled].filter((name) => !resources[routeType].has(name))
  if (absent.length === 0) return resources
  const tables = new Map([
    ...resources[routeType],
    ...absent.map((name) => [name, nothing] as const),
  ])
  return { ...resources, [routeType]: tables }
}

const scopesFor = ({ scopes }: EnvoyState, listener: RunningListener): ScopeSource['held'] => {
  const [need] = scopesOf(listener)
  return (need && scopes.get(need.source)?.held) ?? none
}

const none: ScopeSource['held'] = new Map()

/** Zero bytes are an empty message. */
const nothing: HeldResource = { version: '', bytes: new Uint8Array() }
