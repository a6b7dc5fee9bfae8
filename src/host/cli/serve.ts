import { readdir } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Context } from '../../core/context.js'
import { showKey } from '../../core/edge-route.js'
import { type Logger, type LogLevel, logLevels } from '../../ports/logger.js'
import { noMetrics } from '../../ports/metrics.js'
import { type HostPort, showHostPort } from '../bootstrap.js'
import { systemClock } from '../clock.js'
import type { Controller } from '../controller.js'
import { type ObserveOptions, observeXds } from '../observe-xds.js'
import { reportRecoveries } from '../report-recoveries.js'
import { type HostPorts, type RunningHost, startHost } from '../start-host.js'
import { serveOperators } from './admin/serve-operators.js'
import { type Arguments, type Command, type Option, valueOf } from './command.js'
import { type LogFormat, logFormatOption, logFormats, loggerOf, logLevelOption } from './logging.js'
import {
  adminExample,
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
  isOperand: true,
  help: 'the directory of YAML EdgeRoutes; it is watched',
}

/** Serves a directory of routes to Envoys until it is asked to end. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'serve a directory of routes to Envoys',
  description: `Serves a directory of YAML EdgeRoutes to one fleet of Envoys, and follows its
changes, until SIGINT, SIGTERM or SIGHUP. Logs go to the standard error.`,
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
      text('admin') === 'off'
        ? E.right(undefined)
        : parseHostPort('--admin', text('admin'), 0, `${adminExample}, or off`),
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
  const missing = await whyUnreadable(files.right, options.routes)
  if (missing !== undefined) return failed(world, missing)
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
  const adapters = { xds: xds.right, files: files.right, memory: await loadMemory() }
  const nameOf = (uid: string): string | undefined => nameIn(operating?.controller, uid)
  const ports = portsOf(options, adapters, { logger, nameOf })
  const host = await startHost(ports, signal).catch((cause: unknown) =>
    cause instanceof Error ? cause : new Error(String(cause)),
  )
  if (host === undefined || host instanceof Error) {
    stop.abort()
    await admin.right.finished
    return host === undefined || world.signal.aborted ? exitCodes.ok : failed(world, host.message)
  }
  operating = host
  const stopReporting = reportRecoveries(host.fleet, { clock: systemClock, logger, nameOf })
  logger.log('info', 'listening for Envoys', {
    xds: showHostPort(host.fleet.address),
    admin: admin.right.address && showHostPort(admin.right.address),
  })
  try {
    await host.finished
  } finally {
    stopReporting()
    stop.abort()
    await Promise.all([host.fleet.finished, admin.right.finished])
  }
  logger.log('info', 'stopped')
  return exitCodes.ok
}

interface Adapters {
  readonly xds: XdsAdapter
  readonly files: FilesAdapter
  readonly memory: MemoryAdapter
}

const portsOf = (
  { routes: directory, roster: path, forgetNodeAfterMs, context, xds }: ServeOptions,
  adapters: Adapters,
  { logger, nameOf }: { readonly logger: Logger } & ObserveOptions,
): HostPorts<XdsServer> => ({
  source: adapters.files.filesRouteSource({ directory }),
  roster:
    path === undefined
      ? adapters.memory.memoryRosterStore()
      : adapters.files.filesRosterStore({ path }),
  serve: (start) => adapters.xds.serveXds({ ...xds, ...start, logger }, start.signal),
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
 * Why a directory cannot be served, in the words of whoever reads it; `undefined` if it can be. Is asked before
 * anybody can connect: a name that is wrong would be tried again for ever. What was there once may come back.
 */
const whyUnreadable = async (
  { readRoutesOnce }: FilesAdapter,
  directory: string,
): Promise<string | undefined> => {
  const isThere = await readdir(directory).then(
    () => true,
    () => false,
  )
  const state = isThere ? undefined : await readRoutesOnce(directory)()
  return state !== undefined && E.isLeft(state) ? state.left.message : undefined
}

const failed = (world: World, ...reasons: ReadonlyArray<string>): ExitCode => {
  for (const reason of reasons) world.err(`edgewright serve: ${reason}\n`)
  return exitCodes.failed
}
