import * as E from 'fp-ts/lib/Either.js'
import { showKey } from '../../../core/edge-route.js'
import type { Logger } from '../../../ports/logger.js'
import { noMetrics } from '../../../ports/metrics.js'
import { type HostPort, showHostPort } from '../../bootstrap.js'
import { systemClock } from '../../clock.js'
import type { Controller } from '../../controller.js'
import { observeXds } from '../../observe-xds.js'
import { reportRecoveries } from '../../report-recoveries.js'
import { type HostPorts, type RunningHost, startHost } from '../../start-host.js'
import type { Operator } from '../../operator.js'
import { serveOperators } from '../admin/serve-operators.js'
import { loggerOf } from '../logging.js'
import { loadXds, type XdsAdapter, type XdsServer } from '../peers.js'
import { exitCodes, type ExitCode, type World } from '../world.js'
import { filesWorld } from './files-world.js'
import { kubernetesWorld } from './kubernetes-world.js'
import type { ServeOptions } from './options.js'
import type { MakingSurroundings, Surroundings, WorldOfSource } from './surroundings.js'

/**
 * Serves until it is asked to end, or cannot begin.
 *
 * It listens for operators first of all, and until all else has ended. Where that is is part of how a control plane is
 * called in a cluster, and only one process at a time can be there.
 */
export const serve = async (options: ServeOptions, world: World): Promise<ExitCode> => {
  const logger = loggerOf(world, options.level, options.format)
  const done = new AbortController()
  let operator: FindOperator = () => undefined
  let whyNone = (): string | undefined => undefined
  const admin = await serveOperators(
    { admin: options.admin, logger, whyNone: () => whyNone() },
    () => operator(),
    done.signal,
  )
  if (E.isLeft(admin)) return world.signal.aborted ? exitCodes.ok : failed(world, admin.left)
  const { address, finished } = admin.right
  try {
    const prepared = await prepare(options, { logger, world, admin: address })
    if (E.isLeft(prepared)) return failed(world, ...prepared.left)
    whyNone = prepared.right.around.whyNotReady
    return await work(prepared.right, { options, logger, world, admin: address }, (find) => {
      operator = find
    })
  } finally {
    done.abort()
    await finished
  }
}

/** `undefined` as long as there is none. */
type FindOperator = () => Operator | undefined

interface Working extends WorldOfSource {
  readonly options: ServeOptions
}

/** Serves Envoys once it may; `onOperator` is told who answers to people then. */
const work = async (
  { xds, around }: Prepared,
  { options, logger, world, admin }: Working,
  onOperator: (find: FindOperator) => void,
): Promise<ExitCode> => {
  const stop = new AbortController()
  const signal = AbortSignal.any([world.signal, stop.signal, around.over])
  let controller: Controller | undefined
  const nameOf = (uid: string): string | undefined => nameIn(controller, uid)
  try {
    await around.ready(signal)
    const ports = portsOf(options, xds, around, { logger, nameOf })
    const host = await startHost(ports, signal).catch(toError)
    if (host instanceof Error && !signal.aborted) return failed(world, host.message)
    if (host === undefined || host instanceof Error) return ended(world, around)
    controller = host.controller
    onOperator(() => (signal.aborted ? undefined : host.operator))
    const stopReporting = reportRecoveries(host.fleet, { clock: systemClock, logger, nameOf })
    logListening(logger, host, admin)
    const beside = around.begin(host, signal)
    try {
      await host.finished
    } finally {
      stopReporting()
      stop.abort()
      await Promise.all([host.fleet.finished, beside])
    }
    logger.log('info', 'stopped')
    return ended(world, around)
  } finally {
    stop.abort()
    await around.close()
  }
}

/** What the host is made of. */
interface Prepared {
  readonly xds: XdsAdapter
  readonly around: Surroundings
}

/** On the left is all that is missing. */
const prepare = async (
  { source }: ServeOptions,
  at: WorldOfSource,
): Promise<E.Either<ReadonlyArray<string>, Prepared>> => {
  const [xds, around] = await Promise.all([loadXds(), surroundingsOf(source, at)])
  if (E.isRight(xds) && E.isRight(around)) return E.right({ xds: xds.right, around: around.right })
  if (E.isRight(around)) await around.right.close()
  return E.left([...(E.isLeft(xds) ? [xds.left] : []), ...(E.isLeft(around) ? around.left : [])])
}

const surroundingsOf = (source: ServeOptions['source'], at: WorldOfSource): MakingSurroundings => {
  switch (source._tag) {
    case 'Files':
      return filesWorld(source)
    case 'Kubernetes':
      return kubernetesWorld(source, at)
  }
}

interface Telling {
  readonly logger: Logger
  /** The name of an object, by its uid. */
  readonly nameOf: (uid: string) => string | undefined
}

const portsOf = (
  { forgetNodeAfterMs, context, xds }: ServeOptions,
  { serveXds }: XdsAdapter,
  { ports }: Surroundings,
  { logger, nameOf }: Telling,
): HostPorts<XdsServer> => ({
  ...ports,
  serve: (start) => serveXds({ ...xds, ...start, logger }, start.signal),
  observer: observeXds(logger, noMetrics, { nameOf }),
  clock: systemClock,
  context,
  logger,
  ...(forgetNodeAfterMs !== undefined && { forgetNodeAfterMs }),
})

const logListening = (
  logger: Logger,
  { fleet }: RunningHost<XdsServer>,
  admin: HostPort | undefined,
): void =>
  logger.log('info', 'listening for Envoys', {
    xds: showHostPort(fleet.address),
    admin: admin && showHostPort(admin),
  })

const toError = (cause: unknown): Error =>
  cause instanceof Error ? cause : new Error(String(cause))

const nameIn = (controller: Controller | undefined, uid: string): string | undefined => {
  const record = controller?.state().deletions.records.get(uid)
  return record && showKey(record.key)
}

/** Asked to end is well; where it had to, whoever starts it again should know. */
const ended = (world: World, { over }: Surroundings): ExitCode =>
  over.aborted && !world.signal.aborted ? failed(world, String(over.reason)) : exitCodes.ok

const failed = (world: World, ...reasons: ReadonlyArray<string>): ExitCode => {
  for (const reason of reasons) world.err(`edgewright serve: ${reason}\n`)
  return exitCodes.failed
}
