import { type ChannelOptions, Server, ServerCredentials } from '@grpc/grpc-js'
import { nextTimer, openFleet, step } from '../../core/xds/fleet.js'
import type { Variant } from '../../core/xds/messages.js'
import type { NodeMemory } from '../../core/xds/node-memory.js'
import { type RunningFleet, runFleet } from '../../core/xds/run-fleet.js'
import { defaultSessionOptions, type SessionOptions } from '../../core/xds/session.js'
import { type Clock, systemClock } from '../../ports/clock.js'
import { guardedLogger, logFault } from '../../ports/faults.js'
import type { HostPort } from '../../ports/host-port.js'
import { type Logger, silentLogger } from '../../ports/logger.js'
import type { DeletionProof } from '../../ports/deletion-proof.js'
import type { SnapshotSink } from '../../ports/snapshot-sink.js'
import type { XdsObserver } from '../../ports/xds-observer.js'
import { type Accept, accepter } from './accept.js'
import { defaultXdsLimits, type XdsLimits } from './limits.js'
import { listen } from './listen.js'
import {
  type AggregatedDiscoveryHandlers,
  aggregatedDiscoveryService,
  type RawCall,
} from './service.js'
import { endCall, type EndStatus, openStream } from './stream.js'

export interface XdsServerOptions {
  /** An IP address to listen on, or a name of which the first address counts. */
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Plaintext if absent: then only what reaches the port decides who reads the configuration. */
  readonly credentials?: ServerCredentials
  /** Is told of everything that happens between the server and its clients. */
  readonly observer?: XdsObserver
  readonly logger?: Logger
  /** In place of some of `defaultXdsLimits`. */
  readonly limits?: Partial<XdsLimits>
  /** How clients are understood; as Envoys are if absent. */
  readonly session?: SessionOptions
  /** What another server has remembered of the nodes; nothing if absent. */
  readonly memory?: ReadonlyMap<string, NodeMemory>
  /**
   * Whether there is a roster: then no node is sent route tables before `admit` was called with its id. False
   * if absent.
   */
  readonly keepsRoster?: boolean
  /** `systemClock` if absent. */
  readonly clock?: Clock
}

/** A running server. */
export interface XdsServer extends SnapshotSink, DeletionProof {
  /** Where it listens: an IP address, and the port that it got. */
  readonly address: HostPort
  /** Resolves when the server has stopped; never rejects. */
  readonly finished: Promise<void>
  /** How many streams are open. */
  readonly streams: () => number
  /** What is remembered of all nodes, those that are connected included. */
  readonly memory: () => ReadonlyMap<string, NodeMemory>
}

/**
 * Serves Envoy's aggregated discovery service over gRPC, in both variants, until `signal` aborts.
 *
 * Every stream is served as the protocol's machine in the core says; the server is a codec and a
 * socket. Requests that come before the first snapshot is published are answered with it. A client
 * that breaks the protocol, sends what is no message, does not read, or freezes loses its own
 * stream at most.
 *
 * On abort no connection is accepted any more, clients are told to go elsewhere (GOAWAY), all
 * streams end with OK, and what is left of the connections after `stopGraceMs` is cut. Rejects if
 * it cannot listen, and with the signal's reason if that has aborted before.
 */
export const serveXds = async (
  options: XdsServerOptions,
  signal: AbortSignal,
): Promise<XdsServer> => {
  signal.throwIfAborted()
  const limits = { ...defaultXdsLimits, ...options.limits }
  const logger = guardedLogger(options.logger ?? silentLogger)
  const { session = defaultSessionOptions, keepsRoster = false } = options
  const initial = openFleet({ ...session, keepsRoster }, options.memory)
  const machine = { initial, step, nextTimer }
  const fleet = runFleet(machine, options.clock ?? systemClock, {
    observe: options.observer ?? ((): void => undefined),
    onFault: logFault(logger),
  })
  const server = new Server(serverOptions(limits))
  server.addService(aggregatedDiscoveryService, handlers(accepter(fleet, logger), limits, signal))
  const credentials = options.credentials ?? ServerCredentials.createInsecure()
  const address = await listen(server, options, credentials)
  if (signal.aborted) await stop(server, fleet, limits.stopGraceMs)
  signal.throwIfAborted()
  const finished = stopOnAbort(server, fleet, limits.stopGraceMs, logger, signal)
  return {
    address,
    publish: fleet.publish,
    streams: fleet.streams,
    ledger: fleet.ledger,
    onLedgerChange: fleet.onLedgerChange,
    memory: fleet.memory,
    admit: fleet.admit,
    forget: fleet.forget,
    demandAcks: fleet.demandAcks,
    finished,
  }
}

const serverOptions = (limits: XdsLimits): ChannelOptions => ({
  'grpc.keepalive_time_ms': limits.keepaliveMs,
  'grpc.keepalive_timeout_ms': limits.keepaliveTimeoutMs,
  'grpc.max_receive_message_length': limits.maxRequestBytes,
  // No bound: a large configuration is the operator's wish, and Envoy takes any size.
  'grpc.max_send_message_length': -1,
  'grpc.max_concurrent_streams': limits.maxStreamsPerConnection,
  // Off: it keeps books of every message for an inspection service that is not served.
  'grpc.enable_channelz': 0,
})

const handlers = (
  accept: Accept,
  { maxQueuedResponses }: XdsLimits,
  signal: AbortSignal,
): AggregatedDiscoveryHandlers => {
  const serve =
    (variant: Variant) =>
    (call: RawCall): void => {
      if (signal.aborted) endCall(call, stopping)
      else openStream(call, maxQueuedResponses, (stream) => accept(variant, stream))
    }
  return { StreamAggregatedResources: serve('sotw'), DeltaAggregatedResources: serve('delta') }
}

/** For a stream that was on its way as the server began to stop. */
const stopping: EndStatus = { code: 'UNAVAILABLE', message: 'the server is stopping' }

/** Resolves when the server has stopped, which it does when `signal` aborts. */
const stopOnAbort = (
  server: Server,
  fleet: RunningFleet,
  graceMs: number,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve) => {
    const fail = (error: unknown): void => {
      logger.log('error', 'the server did not stop in order', { error: String(error) })
      resolve()
    }
    const onAbort = (): void => void stop(server, fleet, graceMs).then(resolve, fail)
    signal.addEventListener('abort', onAbort, { once: true })
  })

/**
 * Stops within `graceMs`.
 *
 * gRPC's own graceful stop closes the port and sends each connection a GOAWAY, but waits for
 * streams, and these never end by themselves; so they are ended here, and a timer bounds the rest.
 * (Its `drain` would do no more, and leave a timer behind.)
 */
const stop = (server: Server, fleet: RunningFleet, graceMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown()
      resolve()
    }, graceMs)
    timer.unref()
    server.tryShutdown(() => {
      clearTimeout(timer)
      resolve()
    })
    fleet.endAll('the server is stopping')
    fleet.stopTimers()
  })
