import { servedTables } from '../../src/adapters/memory/envoy/client/index.js'
import type { EnvoyState } from '../../src/adapters/memory/envoy/client/state.js'
import { clustersOf } from '../../src/adapters/memory/envoy/routing/clusters-of.js'
import { routesOf } from '../../src/adapters/memory/envoy/routing/host-routes.js'
import { routeType } from '../../src/core/type-url.js'
import type { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import type { Route } from '../../src/gen/envoy/config/route/v3/route_components.js'
import { formHeader, markHeader } from './routes.js'

/** What an Envoy may answer requests with, on new connections or on kept ones, as its own state says. */
export interface Serving {
  /** The marks of the objects whose routes stand in a table that is served. */
  readonly marks: ReadonlySet<string>
  /** Of clusters that the Envoy lacks, and that a table names. */
  readonly dangling: ReadonlyArray<Dangling>
}

export interface Dangling {
  readonly table: string
  readonly cluster: string
}

export const nothingServed: Serving = {
  marks: new Set(),
  dangling: [],
}

export const routesIn = ({ virtualHosts }: RouteConfiguration): ReadonlyArray<Route> =>
  (virtualHosts ?? []).flatMap(routesOf)

export const markOfRoute = (route: Route): string | undefined => headerOf(route, markHeader)

export const formOfRoute = (route: Route): string => headerOf(route, formHeader) ?? ''

const headerOf = ({ responseHeadersToAdd }: Route, name: string): string | undefined =>
  responseHeadersToAdd?.find(({ header }) => header?.key === name)?.header?.value

export const servingOf = (state: EnvoyState): Serving => {
  const marks = new Set<string>()
  const dangling: Array<Dangling> = []
  for (const { table } of servedTables(state)) {
    const of = readTable(table)
    for (const mark of of.marks) marks.add(mark)
    for (const cluster of of.clusters)
      if (!state.clusters.active.has(cluster)) dangling.push({ table: table.name ?? '', cluster })
  }
  return { marks, dangling }
}

/** What `servingOf` depends on. */
export const partsOf = ({
  listeners,
  watches,
  clusters,
  scopes,
}: EnvoyState): ReadonlyArray<unknown> => [
  listeners,
  watches[routeType].held,
  watches[routeType].settled,
  clusters.active,
  scopes,
]

interface TableParts {
  readonly marks: ReadonlySet<string>
  readonly clusters: ReadonlySet<string>
}

const known = new WeakMap<RouteConfiguration, TableParts>()

/** Tables that are the same bytes are the same object: each is read once. */
const readTable = (table: RouteConfiguration): TableParts => {
  const hit = known.get(table)
  if (hit !== undefined) return hit
  const routes = routesIn(table)
  const parts = {
    marks: new Set(routes.flatMap((route) => markOfRoute(route) ?? [])),
    clusters: new Set(routes.flatMap((route) => clustersOf(route) ?? [])),
  }
  known.set(table, parts)
  return parts
}
