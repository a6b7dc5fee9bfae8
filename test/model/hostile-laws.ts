import {
  clusterType,
  defaultDataPlane,
  entries,
  listenerType,
  mayStillServe,
  progressOf,
  refusalsOf,
  routeType,
  viewOf,
} from 'edgewright'
import { inspect } from '../../src/adapters/memory/envoy/client/inspect.js'
import { held } from '../../src/adapters/memory/envoy/client/index.js'
import type { EnvoyState } from '../../src/adapters/memory/envoy/client/state.js'
import { encodeContent } from '../../src/core/resource.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { Route } from '../../src/gen/envoy/config/route/v3/route_components.js'
import type { Cell, HostileFleet } from './hostile-fleet.js'
import {
  allIds,
  type EnvoyPlan,
  isGuilty,
  latin,
  type Plan,
  routeOf,
  type Spec,
  tagOf,
  uidOf,
  type World,
} from './hostile-plan.js'

/** A law is broken. */
export const broken = (law: string): never => {
  throw new Error(`broken: ${law}`)
}

/** What a table says: its routes by their names, and the clusters that they name. */
interface Table {
  readonly routes: ReadonlyMap<string, string>
  readonly clusters: ReadonlySet<string>
}

const read = new WeakMap<Uint8Array, Table>()

export const readTable = (bytes: Uint8Array): Table => {
  const known = read.get(bytes)
  if (known !== undefined) return known
  const all = (RouteConfiguration.decode(bytes).virtualHosts ?? []).flatMap(
    ({ routes }) => routes ?? [],
  )
  const made: Table = {
    routes: new Map(
      all.map((each) => [each.name ?? '', latin.decode(Route.encode(each).finish())]),
    ),
    clusters: new Set(
      all.flatMap(({ action }) =>
        action?.$case === 'route' && action.value.clusterSpecifier?.$case === 'cluster'
          ? [action.value.clusterSpecifier.value]
          : [],
      ),
    ),
  }
  read.set(bytes, made)
  return made
}

/** The tables that requests can reach: those of listeners at work, and of those that are drained. */
export const reachable = ({ listeners }: EnvoyState): ReadonlySet<string> => {
  const { active, draining, serving } = listeners
  const all = [...(serving ? active.values() : []), ...draining]
  return new Set(
    all.flatMap(({ bytes }) => inspect(listenerType, bytes).needs.map(({ name }) => name)),
  )
}

/** No client's route names a cluster that it lacks. */
export const checkClusters = ({ cells }: HostileFleet): void => {
  for (const { id, state } of cells) {
    const holds = held(state())
    for (const [name, { bytes }] of holds[routeType])
      for (const cluster of readTable(bytes).clusters)
        if (!holds[clusterType].has(cluster))
          broken(`${name} of ${id} names ${cluster}, which is not there`)
  }
}

/** What the ledger says to be gone is gone: where an Envoy of the run serves it, it is named. */
export const checkLedger = (
  fleet: HostileFleet,
  world: World,
  isAsked: (of: Cell) => boolean,
): void => {
  const ledger = fleet.ledger()
  const gone = allIds.filter((id) => !world.specs.some((spec) => spec.id === id))
  for (const cell of fleet.cells.filter(isAsked)) {
    const tables = held(cell.state())[routeType]
    const served = [...reachable(cell.state())].flatMap((name) => {
      const bytes = tables.get(name)?.bytes
      return bytes === undefined ? [] : [readTable(bytes).routes]
    })
    for (const id of gone.filter((each) => served.some((routes) => routes.has(routeOf(each)))))
      if (!mayStillServe(ledger, uidOf(id)).some((node) => node.id === cell.id))
        broken(`the ledger says that ${uidOf(id)} is gone, and ${cell.id} serves it`)
  }
}

/** At rest an object that was deleted is held up by no Envoy, whatever else that refuses. */
export const checkReleases = (fleet: HostileFleet, world: World): void => {
  const ledger = fleet.ledger()
  const ready = new Set(
    fleet.cells.filter(({ state }) => state().clusters.initialized).map(({ id }) => id),
  )
  for (const id of allIds.filter((each) => !world.specs.some((spec) => spec.id === each)))
    if (mayStillServe(ledger, uidOf(id)).some((node) => ready.has(node.id)))
      broken(`${uidOf(id)} is held up for ever`)
}

/** At rest each Envoy has what is published, save what it refuses. */
export const checkConverged = (
  fleet: HostileFleet,
  cell: Cell,
  of: EnvoyPlan,
  world: World,
  mayKeepClusters: boolean,
): void => {
  const snapshot = fleet.snapshot()
  if (snapshot === undefined || !cell.state().clusters.initialized) return
  const view = viewOf(snapshot, defaultDataPlane)
  const holds = held(cell.state())
  for (const table of entries(view[routeType])) {
    const bytes = holds[routeType].get(table.name)?.bytes
    const isRefused = of.dislikesPort && (table.name === 'http' ? world.http : world.alt) === 2
    if (bytes === undefined && isRefused) continue
    if (bytes === undefined) return broken(`${cell.id} lacks table ${table.name}`)
    checkTable(cell, of, world, readTable(encodeContent(table.content)), readTable(bytes))
  }
  const named = [...holds[routeType].values()].map(({ bytes }) => readTable(bytes).clusters)
  const wanted = new Set([...entries(view[clusterType])].map(({ name }) => name))
  for (const name of holds[clusterType].keys())
    if (!mayKeepClusters && !wanted.has(name) && !named.some((names) => names.has(name)))
      broken(`${cell.id} still has cluster ${name}`)
}

const checkTable = (cell: Cell, of: EnvoyPlan, { specs }: World, goal: Table, has: Table): void => {
  for (const spec of specs) {
    const wanted = goal.routes.get(routeOf(spec.id))
    if (wanted === undefined) continue
    const isThere = has.routes.get(routeOf(spec.id)) === wanted
    if (!isGuilty(of, spec) && !isThere && !spec.shared)
      broken(`${cell.id} lacks ${JSON.stringify(spec)}`)
    if (isGuilty(of, spec) && isThere) broken(`${cell.id} has taken ${JSON.stringify(spec)}`)
  }
  for (const name of has.routes.keys())
    if (!goal.routes.has(name) && name !== 'unavailable' && !specs.some(({ shared }) => shared))
      broken(`${cell.id} still has ${name}`)
}

/** At rest nobody is held to be refused but what is, and nothing else is behind. */
export const checkVerdicts = (fleet: HostileFleet, { envoys }: Plan, world: World): void => {
  const ledger = fleet.ledger()
  for (const refusal of refusalsOf(ledger)) {
    const of = envoys[Number(refusal.node.slice('envoy-'.length))]
    const owners = world.specs.filter(({ id }) => refusal.owners.includes(uidOf(id)))
    const isRight =
      of !== undefined &&
      (refusal.typeUrl === listenerType
        ? of.dislikesPort
        : owners.some((spec) => isGuilty(of, spec)))
    if (!isRight) broken(`an innocent is held to be refused: ${JSON.stringify(refusal)}`)
  }
  const hasOverlaps = world.specs.some(({ shared }) => shared)
  for (const [index, of] of envoys.entries()) {
    const node = ledger.nodes.find(({ id }) => id === `envoy-${index}`)
    const isStuck = of.dislikesPort || fleet.cells[index]?.state().clusters.initialized !== true
    if (node === undefined || isStuck || hasOverlaps || world.http + world.alt === 0) continue
    const guilty = world.specs.filter((spec) => isGuilty(of, spec)).map(({ id }) => uidOf(id))
    const { behind, isSynced } = progressOf(ledger, node)
    if ([...behind].sort().join() !== guilty.sort().join())
      broken(`behind of ${node.id} is ${[...behind].join()}, not ${guilty.join()}`)
    if (isSynced !== (guilty.length === 0)) broken(`isSynced of ${node.id} is ${isSynced}`)
  }
}

/** The form in which a table serves an object: `undefined` if not at all, or with its claims alone. */
export const servedForm = (table: Table | undefined, id: number): string | undefined => {
  const found = table?.routes.get(routeOf(id))
  return found !== undefined && /[^m]\/r\d/.test(found) ? found : undefined
}

export const isInForm = (served: string | undefined, spec: Spec): boolean =>
  served?.includes(tagOf(spec)) === true
