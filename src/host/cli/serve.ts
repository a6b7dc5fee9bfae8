import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Context } from '../../core/context.js'
import { showKey } from '../../core/edge-route.js'
import { type Logger, type LogLevel, logLevels } from '../../ports/logger.js'
import { noMetrics } from '../../ports/metrics.js'
import type { RouteSource, SourceState } from '../../ports/route-source.js'
import { type HostPort, showHostPort } from '../bootstrap.js'
import { systemClock } from '../clock.js'
import type { Controller } from '../controller.js'
import { type ObserveOptions, observeXds } from '../observe-xds.js'
import { type HostPorts, type RunningHost, startHost } from '../start-host.js'
import { serveOperators } from './admin/serve-operators.js'
import { type Arguments, type Command, type Option, valueOf } from './command.js'
import { type LogFormat, logFormatOption, logFormats, loggerOf, logLevelOption } from './logging.js'
import {
  adminListenOption,
  contextFrom,
  dataPlaneOption,
  forgetNodeAfterOption,
  listenerOption,
  required,
  rosterOption,
  xdsOption,
} from './options.js'
import {
  type FilesAdapter,
  loadFiles,
  loadMemory,
  loadXds,
  type MemoryAdapter,
  type XdsAdapter,
  type XdsServer,
} from './peers.js'
import { parseChoice, parseForgetAfter, parseHostPort } from './values.js'
import { exitCodes, type ExitCode, type World } from './world.js'

const routesOption: Option = {
  name: 'routes',
  value: 'DIR',
  help: 'the directory of YAML EdgeRoutes; it is watched',
}

/** Serves a directory of routes to Envoys until it is asked to end. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'serve a directory of routes to Envoys',
  description: `Serves a directory of YAML EdgeRoutes to Envoys, and follows its changes, until
SIGINT, SIGTERM or SIGHUP. Logs go to the standard error.`,
  operands: [],
  options: [
    routesOption,
    xdsOption,
    adminListenOption,
    listenerOption,
    dataPlaneOption,
    rosterOption,
    forgetNodeAfterOption,
    logLevelOption,
    logFormatOption,
  ],
  prepare: (args) =>
    pipe(
      optionsOf(args),
      E.map((options) => (world) => serve(options, world)),
    ),
}

interface ServeOptions {
  readonly routes: string
  readonly xds: HostPort
  /** `undefined` for none. */
  readonly admin: HostPort | undefined
  /** The file where the roster is kept; in memory only if `undefined`. */
  readonly roster: string | undefined
  /** `undefined` for never. */
  readonly forgetNodeAfterMs: number | undefined
  readonly context: Context
  readonly level: LogLevel
  readonly format: LogFormat
}

const optionsOf = (args: Arguments): E.Either<string, ServeOptions> => {
  const text = (name: string): string => valueOf(serveCommand, args, name) ?? ''
  return pipe(
    E.Do,
    E.bind('routes', () => required(args, routesOption)),
    E.bind('xds', () => parseHostPort('--xds', text('xds'), 0)),
    E.bind('admin', () =>
      text('admin') === 'off' ? E.right(undefined) : parseHostPort('--admin', text('admin'), 0),
    ),
    E.let('roster', () => valueOf(serveCommand, args, rosterOption.name)),
    E.bind('forgetNodeAfterMs', () =>
      parseForgetAfter('--forget-node-after', text('forget-node-after')),
    ),
    E.bind('context', () => contextFrom(serveCommand, args)),
    E.bind('level', () => parseChoice('--log-level', text('log-level'), logLevels)),
    E.bind('format', () => parseChoice('--log-format', text('log-format'), logFormats)),
  )
}

const serve = async (options: ServeOptions, world: World): Promise<ExitCode> => {
  const [xds, files] = await Promise.all([loadXds(), loadFiles()])
  if (E.isLeft(xds) || E.isLeft(files))
    return failed(world, ...[xds, files].flatMap((each) => (E.isLeft(each) ? [each.left] : [])))
  const logger = loggerOf(world, options.level, options.format)
  const stop = new AbortController()
  const signal = AbortSignal.any([world.signal, stop.signal])
  let operating: RunningHost<XdsServer> | undefined = undefined
  const admin = await serveOperators(
    { admin: options.admin, logger },
    () => operating?.operator,
    signal,
  )
  if (E.isLeft(admin)) return world.signal.aborted ? exitCodes.ok : failed(world, admin.left)
  let unreadable: string | undefined
  const source = beginning(
    files.right.filesRouteSource({ directory: options.routes }),
    (reason) => {
      unreadable = reason
      stop.abort()
    },
  )
  const adapters = { xds: xds.right, files: files.right, memory: await loadMemory() }
  const nameOf = (uid: string): string | undefined => nameIn(operating?.controller, uid)
  const ports = { ...portsOf(options, adapters, { logger, nameOf }, signal), source }
  const host = await startHost(ports, signal).catch((cause: unknown) =>
    cause instanceof Error ? cause : new Error(String(cause)),
  )
  if (host === undefined || host instanceof Error) {
    stop.abort()
    await admin.right.finished
    return host === undefined || world.signal.aborted ? exitCodes.ok : failed(world, host.message)
  }
  operating = host
  logger.log('info', 'listening for Envoys', {
    xds: showHostPort(host.fleet.address),
    admin: admin.right.address && showHostPort(admin.right.address),
  })
  try {
    await host.finished
  } finally {
    stop.abort()
    await Promise.all([host.fleet.finished, admin.right.finished])
  }
  if (unreadable !== undefined) return failed(world, unreadable)
  logger.log('info', 'stopped')
  return exitCodes.ok
}

interface Adapters {
  readonly xds: XdsAdapter
  readonly files: FilesAdapter
  readonly memory: MemoryAdapter
}

const portsOf = (
  { roster: path, forgetNodeAfterMs, context, xds }: ServeOptions,
  adapters: Adapters,
  { logger, nameOf }: { readonly logger: Logger } & ObserveOptions,
  signal: AbortSignal,
): Omit<HostPorts<XdsServer>, 'source'> => ({
  roster:
    path === undefined
      ? adapters.memory.memoryRosterStore()
      : adapters.files.filesRosterStore({ path }),
  serve: (start) => adapters.xds.serveXds({ ...xds, ...start, logger }, signal),
  observer: observeXds(logger, noMetrics, nameOf === undefined ? {} : { nameOf }),
  clock: systemClock,
  context,
  logger,
  ...(forgetNodeAfterMs !== undefined && { forgetNodeAfterMs }),
})

const nameIn = (controller: Controller | undefined, uid: string): string | undefined => {
  const record = controller?.state().deletions.records.get(uid)
  return record && showKey(record.key)
}

/**
 * A source that must begin: an end before its first state is told to `onFailure`, for a directory
 * whose name is wrong would be tried again for ever. What was there once may come back.
 */
const beginning = (source: RouteSource, onFailure: (reason: string) => void): RouteSource => {
  let begun = false
  return {
    watch: (onState, signal) => async () => {
      const hear = (state: SourceState): void => {
        begun = true
        onState(state)
      }
      const end = await source.watch(hear, signal)()
      if (E.isLeft(end) && !begun) onFailure(end.left.message)
      return end
    },
  }
}

const failed = (world: World, ...reasons: ReadonlyArray<string>): ExitCode => {
  for (const reason of reasons) world.err(`edgewright serve: ${reason}\n`)
  return exitCodes.failed
}
