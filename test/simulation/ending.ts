import { servedTables } from '../../src/adapters/memory/envoy/client/index.js'
import {
  viewOf as readObjects,
  emptyView,
} from '../../src/adapters/memory/api-server/source-view.js'
import { defaultDataPlane, showKey } from '../../src/core/edge-route.js'
import * as PM from '../../src/core/persistent-map.js'
import { encodeContent, type Resource } from '../../src/core/resource.js'
import { viewOf } from '../../src/core/snapshot.js'
import { formLimits as defaultLimits } from '../../src/core/form-choice.js'
import { type TableForm, wholeForm } from '../../src/core/table-form.js'
import { finalizer } from '../../src/core/stored-object.js'
import { translate, type Translation } from '../../src/core/translate.js'
import { routeType } from '../../src/core/type-url.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import type { Route } from '../../src/gen/envoy/config/route/v3/route_components.js'
import { drain, pass } from './act.js'
import type { Envoy } from './network.js'
import { contextOf, hostOf } from './routes.js'
import { markOfRoute, routesIn } from './serving.js'
import { isPicky, type Taste, type World } from './world.js'

/** How many times time passes, and how much each time, in milliseconds, until all must be well. */
const rounds = 160
const roundMs = 5_000
/** After so many of them somebody forgets the Envoys that are still missing. */
const patience = 30
/** How many messages one round may take at most. */
const maxMessages = 3_000
/** How long nothing at all is said once all is well, in milliseconds. */
const quietMs = 120_000

/** The faults end: what is wrong after a while is a violation. */
export const end = async (world: World): Promise<void> => {
  const { judge } = world
  await heal(world)
  let wrong: ReadonlyArray<string> = ['nothing was looked at']
  for (let round = 0; round < rounds && judge.violation() === undefined; round += 1) {
    world.traffic.beginStep()
    await deliverAll(world)
    await pass(world, roundMs)
    wrong = faultsOf(world)
    if (wrong.length === 0 && world.network.pending() === 0) return beQuiet(world)
    if (round === patience) forgetTheMissing(world)
  }
  judge.accuse('Convergence', wrong.slice(0, 6).join('; '))
}

const heal = async (world: World): Promise<void> => {
  const { api, disk, network, plane, tastes, resolver, setup } = world
  api.change({ failing: 0, slow: 0, slowMs: 0, lossy: 0 }, 0)
  disk.change('Fine')
  resolver.works = true
  for (const taste of tastes) {
    taste.isPortBusy = false
    if (setup.refusesToTheEnd) continue
    taste.spice = 0
    taste.backend = 0
  }
  api.letAllGo()
  // One that was asked to end takes its time.
  for (let n = 0; n < 60 && plane.isStopping(); n += 1) await pass(world, 1_000)
  plane.start(0, setup.shards)
  await drain(world)
  for (const envoy of network.envoys) {
    network.cut(envoy, false)
    network.nudge(envoy)
    const isDead = envoy.state === undefined
    // What a delta client keeps to itself cannot be taken away, a listener on a port that is wanted for one.
    const isMute = envoy.hasLostVersions && envoy.options.variant === 'delta'
    if (isDead ? !setup.forgetsTheDead : isMute) network.launch(envoy)
  }
}

const deliverAll = async (world: World): Promise<void> => {
  const { network, judge } = world
  for (let n = 0; network.deliver(n); n += 1) {
    await drain(world)
    if (judge.violation() !== undefined) return
    if (n > maxMessages) return judge.accuse('NothingSentAgain', 'the messages never end')
  }
}

/** What nobody will ever settle: processes that are gone, and those that others were taken for. */
const forgetTheMissing = ({ plane }: World): void => {
  const nodes = plane.host()?.operator.nodes() ?? []
  for (const { id } of nodes.filter(({ connected }) => !connected)) plane.forget(id)
}

const beQuiet = async (world: World): Promise<void> => {
  const { traffic, judge, api, tastes } = world
  const isRefusing = tastes.some(isPicky)
  // What is taken away lingers, a while for each thing that depends on another.
  for (let n = 0; n < 4; n += 1) {
    await deliverAll(world)
    await pass(world, 12_000)
  }
  const sent = traffic.sent()
  const { resourceVersion } = api.server.list()
  await pass(world, quietMs)
  // What was refused is tried again from time to time.
  if (traffic.sent() !== sent && !isRefusing)
    judge.accuse('NothingSentAgain', `${traffic.sent() - sent} messages where nothing happens`)
  if (api.server.list().resourceVersion !== resourceVersion)
    judge.accuse('NoIdleWrite', 'objects are written to where nothing happens')
}

const faultsOf = (world: World): ReadonlyArray<string> => {
  const { api, plane, network } = world
  const objects = api.server.list().items
  const ending = objects.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
  if (ending.length > 0) return ending.map(({ metadata }) => `${showKey(metadata)} is still there`)
  const bare = objects.filter(({ metadata }) => metadata.finalizers?.includes(finalizer) !== true)
  if (bare.length > 0) return bare.map(({ metadata }) => `${showKey(metadata)} is not guarded`)
  const seen = plane.host()?.controller.state().seen
  const { state } = readObjects(emptyView, objects)
  if (JSON.stringify(seen?.objects) !== JSON.stringify(state.objects))
    return ['the control plane does not see what is there']
  // One with a fault in it may be served in an earlier form that only the process knows.
  const form = plane.host()?.controller.state().choices.forms.get(defaultDataPlane)
  const goal = translate(seen?.routes ?? [], contextOf(plane.context(), plane.shards(), form))
  const running = network.envoys.filter((envoy) => envoy.state !== undefined)
  return [
    ...formFaults(world, goal, form),
    ...running.flatMap((envoy) => lacksOf(world, envoy, goal)),
    ...conditionFaults(world, goal),
  ]
}

const formFaults = (
  { plane, setup: { formLimits = defaultLimits } }: World,
  goal: Translation,
  form: TableForm = wholeForm,
): ReadonlyArray<string> => {
  const hosts = goal.hosts.get(defaultDataPlane) ?? 0
  const isWrong =
    plane.shards() === 0 || hosts < formLimits.down
      ? form._tag === 'Sharded'
      : hosts >= formLimits.up && form._tag === 'Whole'
  return isWrong ? [`the tables of ${hosts} hosts are ${form._tag}`] : []
}

const conditionFaults = (
  { plane, tastes, network }: World,
  goal: Translation,
): ReadonlyArray<string> => {
  const seen = plane.host()?.controller.state().seen
  const problems = new Set((seen?.problems ?? []).map(({ where }) => where))
  const isRefusing = tastes.some(isPicky)
  const isAlone = network.envoys.every(({ state }) => state === undefined)
  return (seen?.objects ?? []).flatMap(({ key, uid, conditions, generation }) => {
    const name = showKey(key)
    if (problems.has(name)) return []
    const of = (type: string) => conditions.find((each) => each.type === type)
    const accepted = goal.verdicts.get(uid)?.accepted._tag === 'Accepted'
    if (of('Accepted')?.status !== (accepted ? 'True' : 'False'))
      return [`${name} is not said to be ${accepted ? 'accepted' : 'in conflict'}`]
    if (!accepted || isRefusing || isAlone) return []
    const programmed = of('Programmed')
    return programmed?.status === 'True' && programmed.observedGeneration === generation
      ? []
      : [
          `${name} is not said to be programmed: ${programmed?.reason ?? ''} ${programmed?.message ?? ''}`,
        ]
  })
}

/** What an Envoy does not serve as it is to, its refusals aside. */
const lacksOf = (
  { tastes, network }: World,
  envoy: Envoy,
  goal: Translation,
): ReadonlyArray<string> => {
  const { state } = envoy
  if (state === undefined) return []
  // What one of several with an id has refused none of them is sent again.
  const twins = network.envoys.filter(({ options }) => options.node.id === envoy.options.node.id)
  const refusing = twins.flatMap(({ index }) => tastes[index] ?? [])
  const who = `${envoy.options.node.id} (${envoy.index})`
  if (envoy.link === undefined) return [`${who} is not connected`]
  const tables = servedTables(state)
  const goals = [...PM.entries(viewOf(goal.snapshot, defaultDataPlane)[routeType])]
  const owners = new Set(goals.flatMap((table) => routesOf(table)).map(markOfRoute))
  const strays = tables
    .flatMap(({ table }) => routesIn(table))
    .filter((route) => markOfRoute(route) !== undefined && !owners.has(markOfRoute(route)))
  return [
    ...strays.map((route) => `${who} still serves ${markOfRoute(route) ?? ''}`),
    ...goals.flatMap((table) => {
      const served = tables.find(
        ({ reach, table: of }) => reach === 'New' && of.name === table.name,
      )
      if (served === undefined) return [`${who} does not serve ${table.name}`]
      const have = new Set(routesIn(served.table).map(show))
      const wanted = routesOf(table).filter(
        (route) => !refusing.some((taste) => isRefused(route, taste)),
      )
      return wanted
        .filter((route) => !have.has(show(route)))
        .map((route) => `${who} lacks ${markOfRoute(route) ?? ''} in ${table.name}`)
    }),
  ]
}

const routesOf = ({ content }: Resource): ReadonlyArray<Route> =>
  routesIn(RouteConfiguration.decode(encodeContent(content)))

const show = (route: Route): string =>
  JSON.stringify(route, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))

/** The form that it does not take, or did not; a route that it has in an older form is not looked at. */
const isRefused = (route: Route, { once }: Taste): boolean => {
  const content = show(route)
  return (
    [...once.spices].some((spice) => content.includes(`hot${spice}`)) ||
    [...once.backends].some((backend) => content.includes(hostOf(backend)))
  )
}
