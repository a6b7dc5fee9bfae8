import { nextTimer, openFleet, step, type StreamId } from '../../../core/xds/fleet.js'
import type { NodeMemory } from '../../../core/xds/node-memory.js'
import type { FleetStream } from '../../../core/xds/open-streams.js'
import { type RunningFleet, runFleet } from '../../../core/xds/run-fleet.js'
import { defaultSessionOptions, type SessionOptions } from '../../../core/xds/session.js'
import type { Clock } from '../../../ports/clock.js'
import { guardedLogger, logFault } from '../../../ports/faults.js'
import { type Logger, silentLogger } from '../../../ports/logger.js'
import type { DeletionProof } from '../../../ports/deletion-proof.js'
import type { SnapshotSink } from '../../../ports/snapshot-sink.js'
import type { XdsObserver } from '../../../ports/xds-observer.js'
import type { ReceivedResponse } from '../envoy/client/messages.js'
import type { EnvoyOptions } from '../envoy/client/state.js'
import { virtualClock } from '../clock.js'
import { type Clients, makeClients } from './clients.js'
import { type EnvoyCell, envoyCell, type MemoryEnvoy, toEnvoy } from './envoy.js'
import { encodeResponse } from './encode.js'
import { type Delivery, makeQueues, type Queues } from './queues.js'

export interface MemoryControlPlaneOptions {
  /** Is told what an xDS server over gRPC would tell. */
  readonly observer?: XdsObserver
  /** Is told what fails on the control plane's side, an observer that throws included. */
  readonly logger?: Logger
  /** How clients are understood; as Envoys are if absent. */
  readonly session?: SessionOptions
  /** What another control plane has remembered of the nodes; nothing if absent. */
  readonly memory?: ReadonlyMap<string, NodeMemory>
  /**
   * Whether there is a roster: then no node is sent route tables before `admit` was called with its id. False
   * if absent.
   */
  readonly keepsRoster?: boolean
  /** The time of the control plane and its Envoys. If absent it passes by `pass` alone. */
  readonly clock?: Clock
}

/** A control plane whose Envoys are in memory, and whose messages wait until they are delivered. */
export interface MemoryControlPlane extends SnapshotSink, DeletionProof {
  /** Starts an Envoy and opens its stream; its first request is on its way then. */
  readonly connect: (options: EnvoyOptions) => MemoryEnvoy
  /** What could be delivered next: the head of each direction of each stream. */
  readonly pending: () => ReadonlyArray<Delivery>
  /**
   * Delivers one pending message, number `choice` modulo their count, the first if absent. Returns it,
   * or `undefined` where there is none.
   */
  readonly deliverNext: (choice?: number) => Delivery | undefined
  /**
   * Delivers until nothing is pending, and returns how many messages that took. Throws after
   * `maxMessages`: then the two ends keep each other busy for ever.
   */
  readonly settle: () => number
  /**
   * Lets time pass, for the control plane and its Envoys; what that brings forth is pending then. Does
   * nothing where the clock was given.
   */
  readonly pass: (ms: number) => void
  /** What is remembered of all nodes. */
  readonly memory: () => ReadonlyMap<string, NodeMemory>
}

/** How many messages one `settle` delivers. A change costs an Envoy a handful, so this is a loop. */
export const maxMessages = 10_000

/**
 * Runs the core's machine of all streams against Envoys in memory, without timers and promises.
 *
 * A message is handled when it is delivered and at no other time, so that a test can bring about any
 * order that real connections could. Before the first `publish` requests are kept.
 */
export const memoryControlPlane = (options: MemoryControlPlaneOptions = {}): MemoryControlPlane => {
  const queues = makeQueues()
  const ownClock = virtualClock()
  const clock = options.clock ?? ownClock
  const fleet = startFleet(options, clock)
  const clients = makeClients(queues, clock)
  let streams = 0
  const open = (envoy: EnvoyCell): StreamId => {
    const stream = String((streams += 1))
    clients.take(stream, envoy)
    fleet.open(stream, serverEnd(stream, envoy.state().options, queues))
    clients.tell(stream, { _tag: 'Connected' })
    return stream
  }
  const close = (stream: StreamId): void => {
    clients.leave(stream)
    fleet.close(stream, 'the client ended it')
  }
  const deliverNext = (choice = 0): Delivery | undefined => {
    const delivery = queues.take(choice)
    if (delivery !== undefined) deliver(delivery, fleet, clients)
    return delivery
  }
  return {
    publish: fleet.publish,
    connect: (envoyOptions) => connected(envoyCell(envoyOptions), open, close),
    pending: queues.heads,
    deliverNext,
    settle: () => settle(deliverNext, queues.heads),
    pass: ownClock.advance,
    ledger: fleet.ledger,
    onLedgerChange: fleet.onLedgerChange,
    memory: fleet.memory,
    admit: fleet.admit,
    forget: fleet.forget,
    demandAcks: fleet.demandAcks,
  }
}

const startFleet = (options: MemoryControlPlaneOptions, clock: Clock): RunningFleet => {
  const { session = defaultSessionOptions, keepsRoster = false } = options
  const initial = openFleet({ ...session, keepsRoster }, options.memory)
  return runFleet({ initial, step, nextTimer }, clock, {
    observe: options.observer ?? ((): void => undefined),
    onFault: logFault(guardedLogger(options.logger ?? silentLogger)),
  })
}

/** Connects an Envoy, and lets people break that, and connect it again. */
const connected = (
  envoy: EnvoyCell,
  open: (envoy: EnvoyCell) => StreamId,
  close: (stream: StreamId) => void,
): MemoryEnvoy => {
  let stream = open(envoy)
  const disconnect = (): void => close(stream)
  const reconnect = (): void => {
    disconnect()
    stream = open(envoy)
  }
  const restart = (): void => {
    disconnect()
    envoy.restart()
    stream = open(envoy)
  }
  return toEnvoy(envoy, { disconnect, reconnect, restart })
}

const deliver = (delivery: Delivery, fleet: RunningFleet, clients: Clients): void => {
  switch (delivery._tag) {
    case 'Request':
      return fleet.receive(delivery.stream, delivery.request)
    case 'Response':
      return clients.tell(delivery.stream, { ...delivery, _tag: 'ResponseReceived' })
    case 'End':
      return clients.leave(delivery.stream)
  }
}

/** The server's end of a stream: what it says waits in a queue. */
const serverEnd = (
  stream: StreamId,
  { node, variant }: EnvoyOptions,
  queues: Queues,
): FleetStream => ({
  variant,
  peer: `memory:${node.id}`,
  send: (response) => {
    const received = encodeResponse(variant, response)
    queues.put({ _tag: 'Response', stream, response: received })
    return bytesOf(received)
  },
  end: (reason, status) => queues.put({ _tag: 'End', stream, message: status?.message ?? reason }),
})

/** Those of the contents alone: there is no envelope here. */
const bytesOf = ({ resources }: ReceivedResponse): number =>
  resources.reduce((sum, { bytes }) => sum + bytes.length, 0)

const settle = (
  deliverNext: () => Delivery | undefined,
  pending: () => ReadonlyArray<Delivery>,
): number => {
  for (let delivered = 0; delivered <= maxMessages; delivered += 1)
    if (deliverNext() === undefined) return delivered
  const [next] = pending()
  const waiting = next === undefined ? 'nothing' : `a ${next._tag} on stream ${next.stream}`
  throw new Error(`no rest after ${maxMessages} messages; ${waiting} would be next`)
}
