import * as E from 'fp-ts/lib/Either.js'
import {
  type ApiObject,
  type EnvoyOptions,
  memoryApiServer,
  type MemoryApiServer,
  type MemoryApiServerOptions,
  memoryControlPlane,
  type MemoryControlPlane,
  type MemoryEnvoy,
  memoryLogger,
  type MemoryLogger,
  memoryRosterStore,
  type MemoryRosterStore,
  memoryRoutes,
  type Write,
} from '../adapters/memory/index.js'
import {
  defaultDataPlane,
  type EdgeRoute,
  type EdgeRouteSpec,
  type RouteKey,
} from '../core/edge-route.js'
import type { Uid } from '../core/resource.js'
import type { Operator } from '../host/operator.js'
import { type HostPorts, type RunningHost, startHost } from '../host/start-host.js'
import type { Clock } from '../ports/clock.js'
import { drive } from './drive.js'
import { type HostJudge, hostJudge } from './host-judge.js'
import type { Violation } from './invariants/violation.js'
import { steppingClock } from '../adapters/memory/stepping-clock.js'

type Ports = HostPorts<MemoryControlPlane>

export interface SimulatedHostOptions {
  /**
   * Starts the host under test with these ports; `startHost` if absent. One of your own adds what it has, and
   * calls `startHost`.
   */
  readonly start?: (
    ports: Ports,
    signal: AbortSignal,
  ) => Promise<RunningHost<MemoryControlPlane> | undefined>
  /** In the place of some ports: a `source` of your own (then without a `store`), a `context`, `onDeletion`. */
  readonly ports?: Partial<Omit<Ports, 'clock' | 'logger' | 'roster' | 'serve'>>
  /** How the API server is set up, its faults among others. */
  readonly api?: Omit<MemoryApiServerOptions, 'clock'>
  /** Chooses which message is delivered next, as a whole number; the first if absent. */
  readonly choose?: () => number
  /** When it begins, in milliseconds since the Unix epoch; the beginning of 2030 if absent. */
  readonly startMs?: number
}

/** An object as a person applies it. */
export interface RouteInput {
  readonly metadata: RouteKey
  readonly spec: EdgeRouteSpec
}

/** A control plane at work, with everything around it in memory. */
export interface SimulatedHost {
  readonly api: MemoryApiServer
  readonly clock: Clock
  readonly roster: MemoryRosterStore
  readonly logger: MemoryLogger
  readonly operator: Operator
  /** What `start` has given; its fleet's `pending` and `deliverNext` are for those who choose every message. */
  readonly host: RunningHost<MemoryControlPlane>
  /** Creates an object, or gives it this spec, and lets everything come to rest. Throws if the server refuses. */
  readonly apply: (route: RouteInput | EdgeRoute) => Promise<ApiObject>
  /** Asks for the deletion of an object, and lets everything come to rest. Throws if it is not there. */
  readonly delete: (key: RouteKey) => Promise<void>
  /** Starts an Envoy, delta and of the data plane `edge-envoy` unless it is said otherwise. */
  readonly connect: (options?: Partial<EnvoyOptions>) => Promise<MemoryEnvoy>
  /** Delivers messages, and lets promises go on and what is due now happen, until nothing is left to do. */
  readonly settle: () => Promise<void>
  /** Lets time pass, one callback after the other, and everything come to rest after each. */
  readonly pass: (ms: number) => Promise<void>
  /** The uids of the objects that an Envoy may serve, by its own state. */
  readonly servedAt: (envoy: MemoryEnvoy) => ReadonlyArray<Uid>
  /**
   * The laws that were broken so far. After each message and each callback: every cluster that a route of an Envoy
   * names is there; no Envoy serves what never had the finalizer, or what was released; the finalizer stays as long
   * as any Envoy may serve the object, save where `operator` was told otherwise; snapshots are closed.
   */
  readonly violations: () => ReadonlyArray<Violation>
  /** Stops the host. Throws what it failed with, if it did. */
  readonly stop: () => Promise<void>
}

/**
 * Runs a whole control plane in memory, on time that passes only when it is told to: for tests of controllers,
 * hosts and configurations, from the object to what an Envoy answers.
 *
 * The same calls give the same run, as long as nothing in the host waits for anything but the clock and promises
 * (files and sockets do). The host waits for Envoys of before for a minute after its start, as any does: before it
 * is over no finalizer comes off.
 *
 * ```ts
 * import assert from 'node:assert/strict'
 * import { simulatedHost } from 'edgewright/testing'
 *
 * const key = { namespace: 'shop', name: 'old' }
 * const edge = await simulatedHost()
 * const envoy = await edge.connect()
 * const ask = () => envoy.request({ listener: 'http', host: 'shop.test', path: '/old' })._tag
 *
 * await edge.apply({ metadata: key, spec: { respond: { code: 410 } } })
 * assert.equal(ask(), 'Responded')
 *
 * envoy.disconnect() // it goes on with what it has
 * await edge.delete(key)
 * await edge.pass(3_600_000)
 * assert.equal(ask(), 'Responded')
 * assert(edge.api.get(key)?.metadata.deletionTimestamp) // Terminating, for as long as it takes
 *
 * envoy.reconnect()
 * await edge.pass(1_000)
 * assert.equal(ask(), 'NotFound')
 * assert.equal(edge.api.get(key), undefined)
 *
 * await edge.stop()
 * assert.deepEqual(edge.violations(), []) // never, not even between two messages
 * ```
 */
export const simulatedHost = async (options: SimulatedHostOptions = {}): Promise<SimulatedHost> => {
  const clock = steppingClock(options.startMs ?? Date.UTC(2030, 0, 1))
  const api = memoryApiServer({ ...options.api, clock })
  const judge = hostJudge(api)
  const given = { roster: memoryRosterStore(), logger: memoryLogger(), clock }
  const stopping = new AbortController()
  const { start = startHost, choose = () => 0 } = options
  const ports = { ...portsOf(options, api, clock), ...given, serve: judgedPlane(judge, given) }
  const host = await start(ports, stopping.signal)
  if (host === undefined) throw new Error('the host has stopped before it began')
  const { settle, pass, stop } = drive({ host, clock, stopping, choose, look: judge.look })
  const write = async (each: Write): Promise<ApiObject> => {
    const object = writtenTo(api, each)
    await settle()
    return object
  }
  let envoys = 0
  await settle()
  return {
    ...given,
    api,
    host,
    operator: judgedOperator(judge, host.operator),
    apply: (route) => write(applied(route, api)),
    delete: async (key) => {
      await write({ _tag: 'Delete', key })
    },
    connect: async (wanted = {}) => {
      const envoy = host.fleet.connect({ ...envoyNumber((envoys += 1)), ...wanted })
      judge.onConnect(envoy)
      await settle()
      return envoy
    },
    settle,
    pass,
    servedAt: (envoy) => judge.servedAt(envoy.state()),
    violations: judge.violations,
    stop,
  }
}

/** Nothing is left to chance; objects are those of the API server, unless there is a source of one's own. */
const portsOf = (
  { ports = {} }: SimulatedHostOptions,
  api: MemoryApiServer,
  clock: Clock,
): Omit<Ports, 'clock' | 'roster' | 'serve'> => {
  const { source, ...others } = ports
  const random = (): number => 0.5
  return source === undefined
    ? { random, ...memoryRoutes(api, { clock }), ...others }
    : { random, source, ...others }
}

const judgedPlane =
  (judge: HostJudge, given: Pick<SimulatedHost, 'clock' | 'logger'>): Ports['serve'] =>
  (start) => {
    const plane = memoryControlPlane({ ...start, ...given })
    return {
      ...plane,
      publish: (snapshot) => {
        judge.onPublish(snapshot)
        plane.publish(snapshot)
      },
      forget: (id) => {
        const result = plane.forget(id)
        if (result === 'Forgotten') judge.onForgotten(id)
        return result
      },
    }
  }

const judgedOperator = (judge: HostJudge, operator: Operator): Operator => ({
  ...operator,
  breakGlass: (key) => {
    judge.excuse(operator.explain(key).map(({ uid }) => uid))
    return operator.breakGlass(key)
  },
})

const writtenTo = (api: MemoryApiServer, write: Write): ApiObject => {
  const written = api.write(write)
  if (E.isLeft(written)) throw new Error(`the API server refuses it: ${written.left.message}`)
  return written.right
}

/** The Envoys of a simulation are told apart by their number. */
const envoyNumber = (number: number): EnvoyOptions => ({
  node: { id: `envoy-${number}`, cluster: defaultDataPlane },
  variant: 'delta',
})

/** As `kubectl apply` does: what is there keeps its metadata. */
const applied = (
  { metadata: { namespace, name }, spec }: RouteInput,
  api: MemoryApiServer,
): Write => {
  const before = api.get({ namespace, name })
  return before === undefined
    ? { _tag: 'Create', object: { metadata: { namespace, name }, spec } }
    : { _tag: 'Update', object: { ...before, spec } }
}
