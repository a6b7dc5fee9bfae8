import { spawn } from 'node:child_process'
import { clearTimeout, setTimeout } from 'node:timers'
import { createInterface } from 'node:readline'

/** No command of a benchmark takes as long, in milliseconds. */
const patienceMs = 300_000

/**
 * Starts a process that takes commands as `answerLines` does. What it writes to stderr is ours to read.
 *
 * `ask` resolves with its answer, and rejects when that names an error, when the process has ended, or after five minutes.
 */
export const startChild = (command, args) => {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = []
  let ended
  const end = (why) => {
    ended ??= new Error(`${[command, ...args].join(' ')} ${why}`)
    for (const { reject } of waiting.splice(0)) reject(ended)
  }
  const exited = new Promise((resolve) => {
    child.on('error', ({ message }) => resolve(`did not start: ${message}`))
    child.on('exit', (code, signal) => resolve(`has ended with ${code ?? signal}`))
  })
  void exited.then(end)
  child.stdin.on('error', () => undefined) // it has ended, which is told above
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { error, ...answer } = JSON.parse(line)
    const { resolve, reject } = waiting.shift() ?? {}
    if (error === undefined) resolve?.(answer)
    else reject?.(new Error(error))
  })
  const next = () => {
    if (ended !== undefined) return Promise.reject(ended)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(`has not answered for ${patienceMs} ms`), patienceMs)
      const done = (settle) => (value) => {
        clearTimeout(timer)
        settle(value)
      }
      waiting.push({ resolve: done(resolve), reject: done(reject) })
    })
  }
  return {
    /** What it says by itself, when it has begun. */
    next,
    ask: (message) => {
      child.stdin.write(`${JSON.stringify(message)}\n`)
      return next()
    },
    /** Resolves once it has ended. */
    stop: () => {
      end('was stopped')
      child.kill()
      return exited
    },
  }
}
