import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A server of the cluster, in a process of its own. */
export interface ServerProcess {
  readonly name: string
  /** Resolves when it has ended, with how, in words. */
  readonly exited: Promise<string>
  /** Ends it, if it still runs; resolves when it has ended. */
  readonly stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>
}

export interface ServerOptions {
  readonly name: string
  /** The program. */
  readonly path: string
  readonly args: ReadonlyArray<string>
  /** What it says is added to this file. */
  readonly logPath: string
  /** Whether it is ready for use; what this throws counts as "not yet". */
  readonly isReady: () => Promise<boolean>
  readonly signal: AbortSignal
}

/** 3 s on an idle machine; 21 s were seen beside three processes that compile. */
const readyWithinMs = 90_000
const pollMs = 50
/** One that was asked to end, and does not, is killed. */
const stopWithinMs = 10_000
/** Of its log, where it does not come up. */
const shownLines = 20

/** Starts a server, and waits until it is ready. Rejects, with the end of its log, where it is not in time. */
export const startServer = async (options: ServerOptions): Promise<ServerProcess> => {
  const { name, logPath, signal } = options
  const server = spawnServer(options)
  const ended: { how?: string } = {}
  void server.exited.then((how) => (ended.how = how))
  const end = Date.now() + readyWithinMs
  while (ended.how === undefined && Date.now() < end && !signal.aborted) {
    if (await options.isReady().catch(() => false)) return server
    await sleep(pollMs)
  }
  await server.stop()
  signal.throwIfAborted()
  const log = readFileSync(logPath, 'utf8').trim().split('\n').slice(-shownLines).join('\n')
  throw new Error(`${name} did not come up: ${ended.how ?? 'it is not ready in time'}\n${log}`)
}

const spawnServer = ({ name, path, args, logPath }: ServerOptions): ServerProcess => {
  const log = openSync(logPath, 'a')
  const child = spawn(path, args, { stdio: ['ignore', log, log] })
  closeSync(log)
  const killNow = (): void => void child.kill('SIGKILL')
  process.on('exit', killNow)
  const exited = new Promise<string>((resolve) => {
    child.on('error', (cause) => resolve(cause.message))
    child.on('exit', (code, by) => resolve(by === null ? `exit code ${code ?? 0}` : by))
  })
  void exited.then(() => process.off('exit', killNow))
  return {
    name,
    exited,
    stop: async (by = 'SIGKILL') => {
      child.kill(by)
      const timer = setTimeout(killNow, stopWithinMs)
      await exited
      clearTimeout(timer)
    },
  }
}
