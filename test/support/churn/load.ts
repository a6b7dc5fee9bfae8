import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, openClient } from './client.js'
import type { Answered } from './history.js'

/** Where the load goes. */
export interface Door {
  readonly envoy: string
  readonly port: number
}

export interface LoadOptions {
  readonly doors: ReadonlyArray<Door>
  readonly now: () => number
  readonly record: (answer: Answered) => void
  /** What to ask for next. */
  readonly aim: () => Shot
  /** Of all doors together. */
  readonly requestsPerSecond: number
}

export interface Shot {
  readonly prefix: string
  readonly delayed: boolean
}

export interface Load {
  /**
   * Asks every Envoy for these prefixes in turn, on one connection to each, as long as it is told; resolves
   * when the last answer is in.
   */
  readonly watch: (prefixes: ReadonlyArray<string>, durationMs: number) => Promise<void>
  /** Sends no more; resolves when every answer is in. */
  readonly stop: () => Promise<void>
}

/** Between two requests of a watch to one Envoy: how closely a flip is seen. */
const watchIntervalMs = 30

/** How often requests leave; each time as many as are due. */
const tickMs = 10

/**
 * More than are on their way at any time on a machine that keeps up. One that does not gets less load: a queue
 * that grows would tell of the machine, and no more of the Envoys.
 */
const maxInFlight = 100

/**
 * Sends requests at a constant rate, over as many connections as that takes; those that are due while too many
 * are without an answer are left out.
 */
export const startLoad = (options: LoadOptions): Load => {
  const { doors, now, record, aim, requestsPerSecond } = options
  const clients = doors.map(({ envoy, port }) => openClient(envoy, port, now))
  const pending = new Set<Promise<void>>()
  const track = (work: Promise<void>): Promise<void> => {
    const tracked = work.finally(() => pending.delete(tracked))
    pending.add(tracked)
    return tracked
  }
  const startMs = now()
  let count = 0
  const timer = setInterval(() => {
    const due = ((now() - startMs) * requestsPerSecond) / 1_000
    for (; count < due; count += 1) {
      const client = clients[count % clients.length]
      if (client === undefined || pending.size >= maxInFlight) continue
      const { prefix, delayed } = aim()
      void track(client.ask(prefix, delayed).then(record))
    }
  }, tickMs)
  const watch = async (door: Door, prefixes: ReadonlyArray<string>, untilMs: number) => {
    const client = openClient(door.envoy, door.port, now, 1)
    await askInTurn(client, prefixes, () => now() < untilMs, record)
    client.close()
  }
  return {
    watch: async (prefixes, durationMs) => {
      const untilMs = now() + durationMs
      await Promise.all(doors.map((door) => track(watch(door, prefixes, untilMs))))
    },
    stop: async () => {
      clearInterval(timer)
      await Promise.all(pending)
      for (const client of clients) client.close()
    },
  }
}

const askInTurn = async (
  client: Client,
  prefixes: ReadonlyArray<string>,
  goesOn: () => boolean,
  record: (answer: Answered) => void,
): Promise<void> => {
  for (let count = 0; goesOn(); count += 1) {
    const prefix = prefixes[count % prefixes.length]
    if (prefix === undefined) return
    record(await client.ask(prefix, false))
    await sleep(watchIntervalMs)
  }
}
