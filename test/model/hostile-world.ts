import { clusterType, defaultDataPlane, endpointType, listenerType } from 'edgewright'
import type { ReceivedResponse } from '../../src/adapters/memory/envoy/client/messages.js'
import { type HostileFleet, hostileFleet } from './hostile-fleet.js'
import { type Innocents, watchInnocents } from './hostile-innocents.js'
import {
  broken,
  checkClusters,
  checkConverged,
  checkLedger,
  checkReleases,
  checkVerdicts,
} from './hostile-laws.js'
import {
  type Action,
  isSameSpec,
  type Plan,
  refuseOf,
  slowHost,
  snapshotOf,
  type World,
} from './hostile-plan.js'

/** How many messages it may take until nobody has anything to say any more. */
const maxMessages = 3_000

/** How long old connections of a listener go on in these Envoys, in milliseconds. */
const drainMs = 30_000

/** When the name that resolves late does, after faults end, in milliseconds. */
const resolvesAfterMs = 60_000

const second = 1_000
const minute = 60_000

/** What a run knows besides its machines. */
interface Run {
  readonly plan: Plan
  readonly fleet: HostileFleet
  readonly innocents: Innocents
  readonly world: () => World
  readonly put: (next: World) => void
  /** Delivers all messages, and those that come of them. */
  readonly settle: () => void
  readonly check: () => void
  /** From now on the late name resolves some day. */
  readonly resolve: () => void
  /** Memory was lost once: of Envoys that have not come back since, and of clusters, less can be known. */
  readonly isForgetful: () => boolean
  readonly forget: () => void
  /** What was sent since this was last asked. */
  readonly takeSent: () => ReadonlyArray<ReceivedResponse>
}

const startRun = (plan: Plan): Run => {
  let world: World = { specs: [], http: 1, alt: 0, epoch: 0 }
  let resolvesAt = Infinity
  let isForgetful = false
  let sent: Array<ReceivedResponse> = []
  const innocents = watchInnocents(plan)
  const check = (): void => {
    // A state-of-the-world client loses at once what a control plane without memory does not know.
    if (!isForgetful || plan.variant === 'delta') checkClusters(fleet)
    checkLedger(fleet, world, (cell) => !isForgetful || cell.isKnown())
    innocents.check(fleet, world)
  }
  const fleet: HostileFleet = hostileFleet(
    plan.envoys.map((each, index) => ({
      node: {
        id: `envoy-${index}`,
        cluster: defaultDataPlane,
        buildVersion: { major: 1, minor: 40, patch: 0 },
      },
      variant: plan.variant,
      seed: each.seed,
      refuse: refuseOf(each),
      resolves: (host) =>
        plan.traits.slow !== true || host !== slowHost || fleet.now() >= resolvesAt,
      drainMs,
    })),
    () => check(),
    (response) => void sent.push(response),
  )
  return {
    plan,
    fleet,
    innocents,
    check,
    world: () => world,
    put: (next) => {
      innocents.onChange(world, next)
      world = next
      fleet.publish(snapshotOf(next, plan.traits))
      check()
    },
    settle: () => {
      const start = fleet.delivered()
      while (fleet.deliver())
        if (fleet.delivered() - start > maxMessages) broken('something is sent endlessly')
    },
    resolve: () => {
      resolvesAt = fleet.now() + resolvesAfterMs
    },
    isForgetful: () => isForgetful,
    forget: () => {
      isForgetful = true
    },
    takeSent: () => {
      const taken = sent
      sent = []
      return taken
    },
  }
}

/** Plays the actions, lets everything come to rest, and throws where a law is broken. */
export const play = (plan: Plan, actions: ReadonlyArray<Action>): void => {
  const run = startRun(plan)
  run.put(run.world())
  for (const cell of run.fleet.cells) run.fleet.connect(cell)
  for (const action of actions) {
    act(run, action)
    run.check()
  }
  comeToRest(run)
  checkAtRest(run)
  checkSilence(run)
}

const act = ({ fleet, innocents, world, put, settle, forget }: Run, action: Action): void => {
  const cell = 'envoy' in action ? fleet.cells[action.envoy % fleet.cells.length] : undefined
  if (cell !== undefined) innocents.onBreak(cell.index)
  switch (action._tag) {
    case 'Publish':
      return put(action.world)
    case 'Edit': {
      const others = world().specs.filter(({ id }) => id !== action.spec.id)
      const same = world().specs.find((spec) => isSameSpec(spec, action.spec))
      const specs = action.remove
        ? others
        : [...others, same?.id === action.spec.id ? same : action.spec]
      return put({ ...world(), specs })
    }
    case 'Deliver':
      return action.choices.forEach((choice) => void fleet.deliver(choice))
    case 'Settle':
      return settle()
    case 'Pass':
      return fleet.pass(action.ms)
    case 'Crash':
      fleet.cells.forEach(({ index }) => innocents.onBreak(index))
      if (action.mode === 'nothing') forget()
      fleet.crash(action.mode, action.publishFirst)
      if (action.publishFirst) return
      for (const choice of [0, 1]) fleet.deliver(choice)
      return put(world())
    case 'Break':
    case 'Lose':
    case 'Return':
    case 'Restart': {
      if (cell === undefined) return
      if (action._tag === 'Restart') {
        fleet.restart(cell)
        return innocents.onRestart(cell.index)
      }
      if (action._tag !== 'Return') fleet.disconnect(cell)
      if (action._tag !== 'Lose') fleet.connect(cell)
    }
  }
}

/** Faults end: everybody comes back, and time passes, longer than anything takes. */
const comeToRest = ({ plan, fleet, put, world, settle, resolve }: Run): void => {
  for (const cell of fleet.cells) fleet.connect(cell)
  resolve()
  const pass = (ms: number): void => {
    settle()
    fleet.pass(ms, settle)
  }
  for (let n = 0; n < 20; n++) pass(3 * second)
  put(world())
  for (let n = 0; n < 25; n++) pass(3 * second)
  if (plan.traits.slow === true) for (let n = 0; n < 60; n++) pass(minute)
  settle()
}

const checkAtRest = ({ plan, fleet, world, isForgetful }: Run): void => {
  for (const cell of fleet.cells) {
    const of = plan.envoys[cell.index]
    // What was applied of a refused response is in no Envoy's own list.
    if (of !== undefined) checkConverged(fleet, cell, of, world(), isForgetful())
  }
  checkVerdicts(fleet, plan, world())
  checkReleases(fleet, world())
}

/** For an hour nothing is sent, save what is tried again: a listener whose port is not to be had. */
const checkSilence = ({ plan, fleet, settle, takeSent }: Run): void => {
  takeSent()
  for (let n = 0; n < 60; n++) {
    fleet.pass(minute, settle)
    settle()
  }
  const mayRetry = plan.envoys.some(({ dislikesPort }) => dislikesPort)
  const retried: ReadonlyArray<string> = [listenerType, clusterType, endpointType]
  for (const { typeUrl } of takeSent())
    if (!(mayRetry && retried.includes(typeUrl))) broken(`${typeUrl} is sent at rest`)
}
