#!/usr/bin/env node
import { constants } from 'node:os'
import { edgewright } from './edgewright.js'
import { readLine } from './read-line.js'
import { exitCodes, type World } from './world.js'

/**
 * A second signal forces the end. One that follows this soon is the same Ctrl-C: the terminal sends
 * it to the whole process group, and npm then sends it to its child once more.
 */
const sameSignalMs = 500

/** After a command has ended, what still keeps the process alive has this long to end too. */
const lingerMs = 2_000

/** The longest time that a timer takes, in milliseconds. */
const longestMs = 2 ** 31 - 1

const stopping = new AbortController()
let firstSignalAtMs: number | undefined

/** SIGHUP comes when the terminal is closed. (Node takes it even where its parent has it ignored, as nohup does.) */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const onSignal = (signal: (typeof stopSignals)[number]): void => {
  const nowMs = performance.now()
  if (firstSignalAtMs !== undefined && nowMs - firstSignalAtMs > sameSignalMs)
    process.exit(128 + constants.signals[signal])
  firstSignalAtMs ??= nowMs
  stopping.abort()
}
for (const signal of stopSignals) process.on(signal, onSignal)

/**
 * Whoever read our output has gone, a program (EPIPE) or a terminal (EIO): nobody misses the rest.
 * Any other failure to write is one.
 */
const onWriteError =
  (stream: NodeJS.WriteStream) =>
  (error: NodeJS.ErrnoException): void => {
    if (error.code !== (stream.isTTY ? 'EIO' : 'EPIPE')) process.exitCode = exitCodes.failed
  }
for (const stream of [process.stdout, process.stderr]) stream.on('error', onWriteError(stream))

const world: World = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  color: process.stderr.isTTY && process.stderr.hasColors(),
  readLine: () => readLine(process.stdin, stopping.signal),
  env: process.env,
  signal: stopping.signal,
}

/** An error of the system says all that there is to know; of any other the stack is wanted. */
const explain = (cause: unknown): string => {
  if (!(cause instanceof Error) || 'syscall' in cause) return String(cause)
  return cause.stack ?? cause.message
}

/**
 * A command that waits for its next try has nothing open: its timers keep no process alive, and neither do connections
 * that nobody uses.
 */
const alive = setInterval(() => undefined, longestMs)

try {
  const code = await edgewright(process.argv.slice(2), world)
  process.exitCode = process.exitCode === undefined ? code : Math.max(code, exitCodes.failed)
} catch (cause) {
  world.err(`edgewright: ${explain(cause)}\n`)
  process.exitCode = exitCodes.failed
}
clearInterval(alive)
setTimeout(() => process.exit(), lingerMs).unref()
