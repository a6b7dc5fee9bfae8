import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import type { HostPort } from '../../../src/host/bootstrap.js'
import { type CliProcess, spawnCli } from '../../support/cli.js'
import { eventually } from '../../support/envoy.js'
import { freePorts } from '../cluster/ports.js'

export interface ProgramOptions {
  /** What follows `serve`, without `--xds` and `--admin`. */
  readonly args: ReadonlyArray<string>
  /** Its `KUBECONFIG`. */
  readonly kubeconfig?: string
  /** Beside the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>
  readonly nodeOptions?: ReadonlyArray<string>
  /** It is ready once its log has this; `listening for Envoys` if absent. */
  readonly readyWhen?: string
}

/** The built program as a process of its own, which may die and come back at the same addresses. */
export interface Program {
  /** Where Envoys find it, in every life. */
  readonly xds: HostPort
  /** Where operators find it, in every life; as `--admin` takes it. */
  readonly admin: string
  /** What it has logged, in all of its lives. */
  readonly log: () => string
  /** Ends it without a word (SIGKILL). */
  readonly kill: () => Promise<void>
  /** Asks it to end (SIGTERM), and returns its exit code. */
  readonly stop: () => Promise<number | undefined>
  /** Sends it any other signal, such as SIGSTOP and SIGCONT. */
  readonly signal: (signal: NodeJS.Signals) => void
  /** Starts it anew, and waits until it is ready. */
  readonly start: () => Promise<void>
  /** What this life has used so far. */
  readonly usage: () => Promise<Usage>
  /** Kills it, if it still runs, and rejects where something was wrong in any of its lives: see `complaintsIn`. */
  readonly end: () => Promise<void>
}

export interface Usage {
  readonly cpuSeconds: number
  readonly rssBytes: number
}

/** The first list of 10,000 objects takes 2 s; beside other processes that compute, many times that. */
const readyWithinMs = 60_000

/** Starts `edgewright serve`, and waits until it is ready. Whoever starts it calls `end`. */
export const startProgram = async (options: ProgramOptions): Promise<Program> => {
  const [xdsPort = 0, adminPort = 0] = await freePorts(2)
  const xds = { host: '127.0.0.1', port: xdsPort }
  const admin = `127.0.0.1:${adminPort}`
  const lives: Array<Life> = []
  // Its lives are those of a container, whose Pod stays the same.
  const podUid = randomUUID()
  const start = async (): Promise<void> => {
    if (lives.at(-1)?.isOver() === false) throw new Error('the program runs already')
    const env = { POD_UID: podUid, ...options.env }
    const life = spawnLife({ ...options, env }, [
      '--xds',
      `${xds.host}:${xds.port}`,
      '--admin',
      admin,
    ])
    lives.push(life)
    await untilReady(life, options.readyWhen ?? 'listening for Envoys')
  }
  const end = async (): Promise<void> => {
    await lives.at(-1)?.end('SIGKILL')
    const complaints = lives.flatMap(complaintsOf)
    if (complaints.length > 0) throw new Error(complaints.join('\n\n'))
  }
  try {
    await start()
  } catch (cause) {
    await lives.at(-1)?.end('SIGKILL')
    throw cause
  }
  return {
    xds,
    admin,
    log: () => lives.map(({ cli }) => cli.err()).join(''),
    kill: async () => {
      await lives.at(-1)?.end('SIGKILL')
    },
    stop: async () => lives.at(-1)?.end('SIGTERM'),
    signal: (signal) => void lives.at(-1)?.cli.child.kill(signal),
    start,
    usage: () => usageOf(lives.at(-1)?.cli.child.pid ?? 0),
    end,
  }
}

/** Starts one for the test that runs, which fails where something is wrong with the program. */
export const startTestProgram = async (options: ProgramOptions): Promise<Program> => {
  const program = await startProgram(options)
  onTestFinished(program.end)
  return program
}

interface Life {
  readonly cli: CliProcess
  readonly isOver: () => boolean
  /** Whether it ended because we wanted it to. */
  readonly wasEnded: () => boolean
  /** Returns the exit code. */
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<number | undefined>
}

const spawnLife = (options: ProgramOptions, addresses: ReadonlyArray<string>): Life => {
  const { args, kubeconfig, env } = options
  const cli = spawnCli(['serve', ...args, ...addresses], {
    env: { ...env, ...(kubeconfig !== undefined && { KUBECONFIG: kubeconfig }) },
    nodeOptions: ['--trace-warnings', ...(options.nodeOptions ?? [])],
  })
  const { child, finished } = cli
  const state = { isOver: false, wasTold: false }
  // Whether it could be started at all is for `end` to say.
  finished.catch(() => undefined).finally(() => (state.isOver = true))
  return {
    cli,
    isOver: () => state.isOver,
    // It may have died just before: what killed it tells.
    wasEnded: () => child.signalCode === 'SIGKILL' || state.wasTold,
    end: async (signal) => {
      child.kill('SIGCONT')
      if (child.kill(signal)) state.wasTold ||= signal === 'SIGTERM'
      return (await finished).code
    },
  }
}

const untilReady = async (life: Life, readyWhen: string): Promise<void> => {
  await eventually(
    () => life.isOver() || life.cli.err().includes(readyWhen),
    (isDecided) => isDecided,
    readyWithinMs,
  ).catch(() => undefined)
  if (!life.isOver() && life.cli.err().includes(readyWhen)) return
  throw new Error(`the program did not get ready:\n${life.cli.err()}`)
}

/** What Node and its libraries write where a promise was dropped, an error was not caught, or listeners pile up. */
const complaint =
  /UnhandledPromiseRejection|ERR_UNHANDLED_REJECTION|triggerUncaughtException|^Uncaught|\(node:\d+\) .*Warning/m

/** How much of the log is shown on either side of what is wrong in it. */
const shownChars = 2_000

/** What a program that is well never writes, in words; `undefined` where it has not. */
export const complaintIn = (log: string): string | undefined => {
  const at = log.search(complaint)
  return at < 0 ? undefined : log.slice(Math.max(0, at - shownChars), at + shownChars)
}

/** What a log has only where something failed that should not have: see `complaintIn`, errors, and what is forbidden. */
export const wrongIn = (log: string): ReadonlyArray<string> => [
  ...log.split('\n').filter((line) => /^\S+ error |HTTP 403|forbidden/i.test(line)),
  ...[complaintIn(log)].filter((found) => found !== undefined),
]

const complaintsOf = (life: Life): ReadonlyArray<string> => {
  const log = life.cli.err()
  const found = complaintIn(log)
  if (found !== undefined) return [`the program complains:\n${found}`]
  return life.wasEnded() ? [] : [`the program ended by itself:\n${log.slice(-shownChars)}`]
}

/** Linux counts CPU time in these, on every machine. */
const ticksPerSecond = 100

const usageOf = async (pid: number): Promise<Usage> => {
  const [stat, status] = await Promise.all(
    ['stat', 'status'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
  )
  // The name of the program, in parentheses, may hold spaces.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  const rssKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1])
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    rssBytes: rssKib * 1024,
  }
}
