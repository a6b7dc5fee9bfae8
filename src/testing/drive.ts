import { setImmediate } from 'node:timers'
import type { MemoryControlPlane } from '../adapters/memory/index.js'
import type { RunningHost } from '../host/start-host.js'
import type { SteppingClock } from '../adapters/memory/stepping-clock.js'

/** Lets a host in memory go on, in an order that is always the same. */
export interface Drive {
  readonly settle: () => Promise<void>
  readonly pass: (ms: number) => Promise<void>
  readonly stop: () => Promise<void>
}

export interface Driven {
  readonly host: RunningHost<MemoryControlPlane>
  readonly clock: SteppingClock
  readonly stopping: AbortController
  /** Chooses which message is delivered next. */
  readonly choose: () => number
  /** Is called before each message and each callback, when no promise can go on any more. */
  readonly look: () => void
}

/** How much happens at most until everything is at rest: more is a loop. */
const maxSteps = 100_000
/** For how long, in milliseconds, a host may take to stop: longer than it waits for writes that hang. */
const maxStopMs = 120_000

export const drive = ({ host, clock, stopping, choose, look }: Driven): Drive => {
  const ending = watchEnd(host.finished)
  const isAtRest = async (): Promise<boolean> => {
    await turn()
    look()
    ending.throwFailure()
    return host.fleet.deliverNext(choose()) === undefined && !clock.runNext(clock.nowMs())
  }
  const settle = async (): Promise<void> => {
    for (let steps = 0; steps < maxSteps; steps += 1) if (await isAtRest()) return
    throw new Error(`no rest after ${maxSteps} steps; it is ${clock.nowMs()} ms`)
  }
  const pass = async (ms: number): Promise<void> => {
    const untilMs = clock.nowMs() + ms
    await settle()
    while (clock.runNext(untilMs)) await settle()
    clock.moveTo(untilMs)
    await settle()
  }
  const stop = async (): Promise<void> => {
    stopping.abort()
    const untilMs = clock.nowMs() + maxStopMs
    do await turn()
    while (!ending.isOver() && clock.runNext(untilMs))
    ending.throwFailure()
    if (!ending.isOver()) throw new Error(`the host has not stopped within ${maxStopMs} ms`)
  }
  return { settle, pass, stop }
}

/** Every promise that can go on has done so when a macrotask comes. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Ending {
  readonly isOver: () => boolean
  readonly throwFailure: () => void
}

const watchEnd = (finished: Promise<void>): Ending => {
  let isOver = false
  let failure: { readonly cause: unknown } | undefined
  const end = (): void => {
    isOver = true
  }
  finished.then(end, (cause: unknown) => {
    failure = { cause }
    end()
  })
  return {
    isOver: () => isOver,
    throwFailure: () => {
      if (failure !== undefined) throw failure.cause
    },
  }
}
