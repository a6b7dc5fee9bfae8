import { namespace, nameOf } from './routes.js'
import type { Step } from './steps.js'
import { envoyAt, type World } from './world.js'

/** How many callbacks are due at one moment at most: what never ends at once never ends. */
const maxAtOnce = 5_000

/** Lets promises go on until none can, and whatever is due now happen. */
export const drain = async (world: World): Promise<void> => {
  const { clock, judge } = world
  for (let n = 0; n < maxAtOnce; n += 1) {
    await turn()
    if (judge.violation() !== undefined || !clock.runNext(clock.nowMs())) return
  }
  judge.accuse('NoFault', 'time stands still')
}

/** Every promise that can go on has done so when a macrotask comes. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Lets time pass, one callback after the other. */
export const pass = async (world: World, ms: number): Promise<void> => {
  const { clock, judge } = world
  const untilMs = clock.nowMs() + ms
  while (clock.runNext(untilMs)) {
    await turn()
    if (judge.violation() !== undefined) return
  }
  clock.moveTo(untilMs)
  await drain(world)
}

/** Does one step, and what comes of it at once. */
export const act = async (world: World, step: Step): Promise<void> => {
  world.traffic.beginStep()
  await perform(world, step)
  await drain(world)
}

const perform = async (world: World, step: Step): Promise<void> => {
  const { api, network, plane, disk, resolver } = world
  switch (step._tag) {
    case 'Create':
    case 'Update':
    case 'Delete':
    case 'Meddle':
      return api.person(step)
    case 'Deliver':
      return deliver(world, step.count, step.choice)
    case 'Attend':
      return deliver(world, step.count, 0, step.envoy)
    case 'Pass':
      return pass(world, step.ms)
    case 'Api':
      return api.change(step.weather, step.seed)
    case 'Watch':
      return api.server.disturb(step.fate)
    case 'ForgetHistory':
      return api.server.forget()
    case 'Disk':
      return disk.change(step.weather)
    case 'Resolver':
      resolver.works = step.works
      return network.envoys.forEach(network.nudge)
    case 'Crash':
      return plane.crash()
    case 'Stop':
      return plane.stop()
    case 'Start':
      return plane.start(step.context, step.shards)
    case 'BreakGlass':
      return plane.breakGlass({ namespace, name: nameOf(step.name) })
    case 'Break':
    case 'Cut':
    case 'Heal':
    case 'Kill':
    case 'Launch':
    case 'LoseVersions':
    case 'Dislike':
    case 'BusyPort':
    case 'ForgetNode':
      return toEnvoy(world, step)
  }
}

type EnvoyStep = Extract<
  Step,
  {
    readonly _tag:
      | 'Break'
      | 'Cut'
      | 'Heal'
      | 'Kill'
      | 'Launch'
      | 'LoseVersions'
      | 'Dislike'
      | 'BusyPort'
      | 'ForgetNode'
  }
>

const toEnvoy = (world: World, step: EnvoyStep): void => {
  const { network, plane, tastes, setup } = world
  const envoy = envoyAt(world, step.envoy)
  const taste = envoy && tastes[envoy.index]
  if (envoy === undefined || taste === undefined) return
  switch (step._tag) {
    case 'Break':
      return network.hangUp(envoy, step.isHalf)
    case 'Cut':
      return network.cut(envoy, true)
    case 'Heal':
      return network.cut(envoy, false)
    case 'Kill':
      return network.kill(envoy)
    case 'Launch':
      return network.launch(envoy)
    case 'LoseVersions':
      return network.loseVersions(envoy)
    case 'Dislike':
      taste.spice = step.spice
      taste.backend = step.spice === 0 ? 0 : (setup.envoys[envoy.index]?.dislikesBackend ?? 0)
      if (taste.spice > 0) taste.once.spices.add(taste.spice)
      if (taste.backend > 0) taste.once.backends.add(taste.backend)
      return
    case 'BusyPort':
      taste.isPortBusy = step.isBusy
      return
    case 'ForgetNode':
      return plane.forget(envoy.options.node.id)
  }
}

/** Each message is followed by what comes of it; which is next is chosen anew each time. */
const deliver = async (
  world: World,
  count: number,
  choice: number,
  index?: number,
): Promise<void> => {
  const envoy = index === undefined ? undefined : envoyAt(world, index)
  for (let n = 0; n < count; n += 1) {
    if (!world.network.deliver(choice * (n + 1), envoy)) return
    await drain(world)
    if (world.judge.violation() !== undefined) return
  }
}
