import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BootstrapConfig } from '../../bootstrap.js'
import { get } from './http.js'

/** An Envoy that runs. */
export interface EnvoyProcess {
  readonly pid: number
  /** The admin interface, as in `http://127.0.0.1:9901`. */
  readonly adminUrl: string
  /** What the admin interface answers to a GET of this path. */
  readonly admin: (path: string) => Promise<string>
  /** The end of its log, `maxLogChars` at most. */
  readonly log: () => string
  /** Resolves when it has ended, with how, in words. */
  readonly exited: Promise<string>
  /** Ends it; resolves when it has ended. May be called again. */
  readonly stop: () => Promise<void>
}

export interface EnvoyOptions {
  /** The binary. */
  readonly path: string
  /** Has an admin interface, best on port 0: the port is read back. */
  readonly bootstrap: BootstrapConfig
  /** A folder for its files; made and removed by the caller. */
  readonly directory: string
  /** Worker threads; 2 if absent. */
  readonly concurrency?: number
  /** `warning` if absent. */
  readonly logLevel?: string
  /** Its environment, in which a binary without a folder in its name is looked for. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /**
   * What to wait for: `live`, with all configuration, or `admin`, the admin interface; `live` if
   * absent.
   */
  readonly until?: 'live' | 'admin'
  readonly signal?: AbortSignal
}

/**
 * Envoy is live in 0.2 s, but it waits 15 s for a control plane that does not answer, twice at
 * worst.
 */
const startTimeoutMs = 40_000
const pollMs = 25
/** Envoy ends within 100 ms of SIGTERM; one that does not is killed. */
const stopTimeoutMs = 3_000
/** Of the log; one refused table of 10,000 routes alone writes 3 MB. */
const maxLogChars = 256 * 1024

/**
 * Starts an Envoy, and waits until it is live.
 *
 * Rejects, with the end of its log, where it ends or is not live in time. The process never
 * outlives this one, save a SIGKILL.
 */
export const startEnvoy = async (options: EnvoyOptions): Promise<EnvoyProcess> => {
  const configPath = join(options.directory, 'bootstrap.json')
  const adminPath = join(options.directory, 'admin-address.txt')
  await writeFile(configPath, JSON.stringify(options.bootstrap, undefined, 2))
  const child = spawn(options.path, envoyArguments(options, configPath, adminPath), {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(options.env === undefined ? {} : { env: options.env }),
  })
  const log = collectLog(child)
  const exited = exitOf(child)
  const stop = stopper(child, exited)
  try {
    const adminUrl = await untilReady(adminPath, exited, options)
    const admin = async (path: string): Promise<string> => (await get(adminUrl + path)).body
    return { pid: child.pid ?? 0, adminUrl, admin, log, exited, stop }
  } catch (cause) {
    await stop()
    throw new Error(`Envoy did not come up: ${messageOf(cause)}\n${log()}`, { cause })
  }
}

const envoyArguments = (
  { concurrency = 2, logLevel = 'warning' }: EnvoyOptions,
  configPath: string,
  adminPath: string,
): ReadonlyArray<string> => [
  '--config-path',
  configPath,
  '--admin-address-path',
  adminPath,
  // Without it each Envoy needs a base id of its own, and leaves a file in shared memory.
  '--disable-hot-restart',
  '--concurrency',
  `${concurrency}`,
  '--log-level',
  logLevel,
]

const collectLog = (child: ChildProcess): (() => string) => {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-maxLogChars)
  })
  return () => text
}

const exitOf = (child: ChildProcess): Promise<string> => {
  const kill = (): void => void child.kill('SIGKILL')
  process.on('exit', kill)
  return new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(`it could not be started: ${error.message}`))
    child.on('close', (code, by) => resolve(by === null ? `exit code ${code ?? 0}` : by))
  }).finally(() => process.off('exit', kill))
}

const stopper =
  (child: ChildProcess, exited: Promise<string>): (() => Promise<void>) =>
  async () => {
    child.kill('SIGTERM')
    const force = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    await exited
    clearTimeout(force)
  }

const untilReady = async (
  adminPath: string,
  exited: Promise<string>,
  { until = 'live', signal }: EnvoyOptions,
): Promise<string> => {
  const deadline = AbortSignal.timeout(startTimeoutMs)
  const ended = exited.then((how) => `it ended: ${how}`)
  for (;;) {
    signal?.throwIfAborted()
    const adminUrl = await adminUrlOf(adminPath)
    if (adminUrl !== undefined && (until === 'admin' || (await isLive(adminUrl)))) return adminUrl
    const end = await Promise.race([ended, sleep(pollMs)])
    if (end !== undefined) throw new Error(end)
    if (deadline.aborted) throw new Error(`it was not live after ${startTimeoutMs / 1000} s`)
  }
}

const adminUrlOf = async (adminPath: string): Promise<string | undefined> => {
  const address = await readFile(adminPath, 'utf8').catch(() => '')
  return /:\d+$/.test(address) ? `http://${address}` : undefined
}

const isLive = (adminUrl: string): Promise<boolean> =>
  get(`${adminUrl}/ready`).then(
    ({ status }) => status === 200,
    () => false,
  )

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)
