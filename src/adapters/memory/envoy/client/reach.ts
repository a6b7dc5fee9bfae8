import type { RouteConfiguration } from '../../../../gen/envoy/config/route/v3/route.js'
import type { Route } from '../../../../gen/envoy/config/route/v3/route_components.js'
import { listenerType } from '../../../../core/type-url.js'
import { memoize } from '../memo.js'
import { tablesBehind } from '../routing/answer.js'
import { clustersOf } from '../routing/clusters-of.js'
import { routesOf } from '../routing/host-routes.js'
import { notModelled } from '../routing/modelled.js'
import type { Answer, Request } from '../routing/request.js'
import { inspect } from './inspect.js'
import type { RunningListener } from './listeners.js'
import { answerAt, endpointsAt, running } from './serve.js'
import type { EnvoyState } from './state.js'

/**
 * Which connections meet a form of a listener: whoever connects now, and those that it took before;
 * or, while it drains, only the latter.
 */
export type Reach = 'New' | 'Kept'

/** What a request may be answered, on connections of this kind. */
export interface PossibleAnswer {
  readonly reach: Reach
  readonly answer: Answer
}

/** A route table that requests may meet. */
export interface ServedTable {
  readonly reach: Reach
  /** The name of the listener, or of what it was. */
  readonly listener: string
  readonly table: RouteConfiguration
}

/**
 * Every answer that this Envoy may give to a request at the moment, on a new connection or on any that
 * somebody may have kept open: none where nobody listens and nothing drains. Which connections were
 * opened in fact does not matter, and neither does `connection`; `pick` does.
 *
 * Throws as `request` does.
 */
export const possibleAnswers = (state: EnvoyState, of: Request): ReadonlyArray<PossibleAnswer> =>
  forms(state)
    .filter(([, { bytes }]) => isAt(bytes, of.listener))
    .map(([reach, listener]) => ({ reach, answer: answerAt(state, listener, of) }))

/**
 * Every route table that requests may meet at the moment, once for each form of a listener: its own one, or those that
 * its scopes name.
 */
export const servedTables = (state: EnvoyState): ReadonlyArray<ServedTable> =>
  forms(state).flatMap(([reach, form]) => {
    const listener = inspect(listenerType, form.bytes).name
    return tablesBehind(running(state, form), form.bytes).map((table) => ({
      reach,
      listener,
      table,
    }))
  })

/**
 * Whether some request on some connection may be sent on to this cluster: a table that is served leads
 * to it, and it has an endpoint. A route that stands behind another which takes all its requests counts
 * too, so `false` is proof, and `true` may be a possibility without a request. Mirrors do not count.
 */
export const mayReach = (state: EnvoyState, cluster: string): boolean =>
  endpointsAt(state, cluster).length > 0 &&
  servedTables(state).some(({ table }) => clustersIn(table).has(cluster))

const clustersIn = memoize(
  ({ virtualHosts }: RouteConfiguration): ReadonlySet<string> =>
    new Set((virtualHosts ?? []).flatMap(routesOf).flatMap(clustersIfKnown)),
)

const clustersIfKnown = (route: Route): ReadonlyArray<string> =>
  clustersOf(route) ?? notModelled('a route whose cluster is chosen elsewhere')

const forms = ({
  listeners: { active, draining, serving },
}: EnvoyState): ReadonlyArray<readonly [reach: Reach, listener: RunningListener]> =>
  serving
    ? [
        ...[...active.values()].map((listener) => ['New', listener] as const),
        ...draining.map((listener) => ['Kept', listener] as const),
      ]
    : []

const isAt = (listener: Uint8Array, at: string | number): boolean => {
  const { name, address } = inspect(listenerType, listener)
  return typeof at === 'string' ? name === at : address?.port === at
}
