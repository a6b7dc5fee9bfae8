import { memoryRoutes } from '../../src/adapters/memory/api-server/index.js'
import { nextTimer, openFleet, step } from '../../src/core/xds/fleet.js'
import { runFleet, type RunningFleet } from '../../src/core/xds/run-fleet.js'
import { defaultSessionOptions } from '../../src/core/xds/session.js'
import { type EnvoyFleet, type RunningHost, startHost } from '../../src/host/start-host.js'
import type { Logger } from '../../src/ports/logger.js'
import type { Clock } from '../../src/ports/clock.js'
import type { RouteSource, SourceState } from '../../src/ports/route-source.js'
import type { Random } from './random.js'
import type { RouteKey } from '../../src/core/edge-route.js'
import { mortalServer } from './api.js'
import type { Judge, Scene } from './judge.js'
import type { Network } from './network.js'
import { contextOf } from './routes.js'

/** The control plane of a run: one process after the other. */
export interface Plane {
  readonly isUp: () => boolean
  readonly isStopping: () => boolean
  readonly start: (context: number, shards?: number) => void
  /** It ends at once: nothing that it was about to do is done. */
  readonly crash: () => void
  /** It is asked to end, and takes its time. */
  readonly stop: () => void
  readonly host: () => RunningHost<Fleet> | undefined
  readonly context: () => number
  readonly shards: () => number
  readonly forget: (id: string) => void
  readonly breakGlass: (key: RouteKey) => void
}

export type Fleet = EnvoyFleet &
  Pick<RunningFleet, 'open' | 'receive' | 'close' | 'endAll' | 'stopTimers'>

interface Process {
  readonly context: number
  readonly shards: number
  readonly die: () => void
  readonly stop: () => void
  readonly isStopping: () => boolean
  host: RunningHost<Fleet> | undefined
}

export const makePlane = (scene: Scene, network: Network, judge: Judge): Plane => {
  let current: Process | undefined
  let processes = 0

  const start = (context: number, shards = 0): void => {
    if (current !== undefined) return
    processes += 1
    judge.onPlaneStart()
    const client = `process-${processes}`
    current = launch(scene, { network, judge, context, shards, client }, () => {
      current = undefined
    })
  }
  const crash = (): void => {
    current?.die()
    current = undefined
    network.serve(undefined)
  }
  return {
    isUp: () => current !== undefined,
    isStopping: () => current?.isStopping() === true,
    start,
    crash,
    stop: () => {
      current?.stop()
    },
    host: () => current?.host,
    context: () => current?.context ?? 0,
    shards: () => current?.shards ?? 0,
    forget: (id) => {
      void current?.host?.operator.forget(id)
    },
    breakGlass: (key) => {
      const host = current?.host
      if (host === undefined) return
      const { records } = host.controller.state().deletions
      for (const { uid, key: of } of records.values())
        if (of.namespace === key.namespace && of.name === key.name) judge.excuse(uid)
      void host.operator.breakGlass(key)
    },
  }
}

interface Launch {
  readonly network: Network
  readonly judge: Judge
  readonly context: number
  readonly shards: number
  readonly client: string
}

const launch = (
  { clock: world, random, api, disk, formLimits }: Scene,
  { network, judge, context, shards, client }: Launch,
  onEnd: () => void,
): Process => {
  const clock = world.mortal()
  const mount = disk.mount()
  const own = random.fork()
  const stopping = new AbortController()
  let isDead = false
  const server = mortalServer(api.server, () => isDead, {
    onAsked: judge.onAsked,
    onNoChange: ({ _tag }) =>
      judge.accuse('NoIdleWrite', `a ${_tag} of the control plane has changed nothing`),
  })
  const routes = memoryRoutes(server, { clock, client, relistMs })
  const logger = strictLogger(judge)
  const process: Process = {
    context,
    shards,
    host: undefined,
    die: () => {
      isDead = true
      clock.die()
      mount.die()
    },
    isStopping: () => stopping.signal.aborted,
    stop: () => {
      if (stopping.signal.aborted) return
      stopping.abort()
      process.host?.fleet.endAll('the control plane ends')
      process.host?.fleet.stopTimers()
      network.serve(undefined)
    },
  }
  const started = startHost<Fleet>(
    {
      source: watched(routes.source, { judge, clock, random: own, isLossy: api.isLossy }),
      store: routes.store,
      roster: mount.store,
      clock,
      context: contextOf(context, shards),
      ...(formLimits !== undefined && { formLimits }),
      logger,
      random: own.next,
      serve: ({ memory, observer }) => {
        const options = { ...defaultSessionOptions, keepsRoster: true }
        const fleet = runFleet({ initial: openFleet(options, memory), step, nextTimer }, clock, {
          observe: observer,
          onFault: (fault) => judge.accuse('NoFault', `${fault._tag}: ${String(fault.error)}`),
        })
        network.serve(fleet)
        return {
          ...fleet,
          publish: (snapshot) => {
            judge.onPublish(snapshot)
            fleet.publish(snapshot)
          },
          forget: (id) => {
            const result = fleet.forget(id)
            const isKnown = result === 'Forgotten' || (result === 'Unknown' && disk.ids().has(id))
            if (isKnown) judge.onForgotten(id)
            return result
          },
          demandAcks: (isOn) => {
            judge.onAcksDemanded(isOn)
            fleet.demandAcks(isOn)
          },
        }
      },
    },
    stopping.signal,
  )
  const run = async (): Promise<void> => {
    const host = await started
    process.host = host
    await host?.finished
    if (!stopping.signal.aborted) judge.accuse('NoFault', 'the control plane has ended by itself')
    if (isDead) return
    process.die()
    network.serve(undefined)
    onEnd()
  }
  run().catch((error: unknown) => judge.accuse('NoFault', String(error)))
  return process
}

/** How often everything is listed anew, in milliseconds: an event that was lost is missed for that long. */
export const relistMs = 60_000

/**
 * A source says what there is, and what there was a moment ago once more, where that is about the same objects: what
 * a controller is shown may be old.
 */
const watched = (
  { watch }: RouteSource,
  { judge, clock, random, isLossy }: Watching,
): RouteSource => ({
  watch: (onState, signal) => {
    let latest: SourceState | undefined
    const show = (state: SourceState): void => {
      if (signal.aborted) return
      judge.onSourceState(state)
      onState(state)
    }
    return watch((state) => {
      const before = latest
      latest = state
      show(state)
      if (before === undefined || !isLossy() || !random.chance(0.3)) return
      clock.after(random.below(200), () => {
        if (latest !== state || !hasSameObjects(before, state)) return
        show(before)
        clock.after(1 + random.below(50), () => {
          if (latest === state) show(state)
        })
      })
    }, signal)
  },
})

interface Watching {
  readonly judge: Judge
  readonly clock: Clock
  readonly random: Random
  readonly isLossy: () => boolean
}

const hasSameObjects = (a: SourceState, b: SourceState): boolean =>
  uidsOf(a).join() === uidsOf(b).join()

const uidsOf = ({ objects = [] }: SourceState): ReadonlyArray<string> =>
  objects.map(({ uid }) => uid)

/** What nobody has foreseen is a bug; all else that is logged is what the world has done. */
const strictLogger = (judge: Judge): Logger => ({
  log: (_, message, fields) => {
    if (message.includes('in an unknown way'))
      judge.accuse('NoFault', `${message} ${JSON.stringify(fields)}`)
  },
})
