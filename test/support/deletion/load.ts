import { requestHeader } from './backends.js'
import { openRawConnection, type RawConnection } from './raw-http.js'

/** A connection that was kept open from the beginning of the load, or one that was opened for the request. */
export type ConnectionKind = 'kept' | 'new'

/** One request, and what came of it. */
export interface Shot {
  /** By which the backends know it. */
  readonly request: string
  /** Which Envoy was asked. */
  readonly door: string
  readonly connection: ConnectionKind
  readonly path: string
  /** When it was written to its connection, by `performance.now()`. */
  readonly sentMs: number
  /** `200 body`, the status alone of what is no 200, or what has failed. */
  readonly answer: string
}

/** Where the load goes. */
export interface Door {
  readonly name: string
  readonly port: number
}

export interface LoadOptions {
  readonly doors: ReadonlyArray<Door>
  /** What is asked for; each caller begins with another one, and goes round. */
  readonly paths: ReadonlyArray<string>
  /** Of requests; `test` if absent. */
  readonly host?: string
  /** Connections to each door that stay open; 2 if absent. */
  readonly kept?: number
  /** Callers to each door that open a connection for each request; 1 if absent. */
  readonly fresh?: number
  /** Between two requests of one caller, in milliseconds; 10 if absent. */
  readonly pauseMs?: number
}

export interface Load {
  /** All that were answered so far. */
  readonly shots: ReadonlyArray<Shot>
  /** Asks every door for this path at once, on all kept connections that are idle, and on new ones if any are made. */
  readonly burst: (path: string) => void
  /** Sends no more; resolves when every answer is in. */
  readonly stop: () => Promise<ReadonlyArray<Shot>>
}

/** How many new connections a burst opens to each door. */
const burstSize = 2

let count = 0

/** Sends requests without a pause until it is stopped. Each kept connection is one and the same to the end. */
export const startLoad = (options: LoadOptions): Load => {
  const { doors, paths, host = 'test', kept = 2, fresh = 1, pauseMs = 10 } = options
  const shots: Array<Shot> = []
  const running = new Set<Promise<void>>()
  const pauses = new Set<(path?: string) => void>()
  let isStopping = false
  const track = (work: Promise<void>): void => {
    const tracked = work.finally(() => running.delete(tracked))
    running.add(tracked)
  }
  const shoot = async (
    door: Door,
    connection: ConnectionKind,
    on: RawConnection,
    path: string,
  ): Promise<void> => {
    const request = `${door.name}-${(count += 1)}`
    const sentMs = performance.now()
    const answer = await on.ask(path, { host, [requestHeader]: request }).then(
      ({ status, body }) => (status === 200 ? `200 ${body}` : `${status}`),
      (cause: unknown) => String(cause),
    )
    shots.push({ request, door: door.name, connection, path, sentMs, answer })
  }
  const shootOnce = async (door: Door, path: string): Promise<void> => {
    try {
      const connection = await openRawConnection(door.port)
      await shoot(door, 'new', connection, path)
      connection.close()
    } catch (cause) {
      const shot = { request: '', door: door.name, connection: 'new', path } as const
      shots.push({ ...shot, sentMs: performance.now(), answer: String(cause) })
    }
  }
  const pathAt = (index: number): string => paths[index % paths.length] ?? '/'
  /** Resolves after a moment, or with a path that is to be asked for at once. */
  const pause = (): Promise<string | undefined> =>
    new Promise((resolve) => {
      const end = (path?: string): void => {
        clearTimeout(timer)
        pauses.delete(end)
        resolve(path)
      }
      const timer = setTimeout(end, pauseMs)
      pauses.add(end)
    })
  const keepOn = async (door: Door, offset: number): Promise<void> => {
    const connection = await openRawConnection(door.port)
    let urgent: string | undefined
    for (let index = offset; !isStopping && connection.isOpen(); index += 1) {
      await shoot(door, 'kept', connection, urgent ?? pathAt(index))
      urgent = await pause()
    }
    connection.close()
  }
  const renew = async (door: Door, offset: number): Promise<void> => {
    for (let index = offset; !isStopping; index += 1) {
      const urgent = await pause()
      await shootOnce(door, urgent ?? pathAt(index))
    }
  }
  for (const door of doors) {
    for (let index = 0; index < kept; index += 1) track(keepOn(door, index))
    for (let index = 0; index < fresh; index += 1) track(renew(door, index))
  }
  return {
    shots,
    burst: (path) => {
      for (const end of [...pauses]) end(path)
      if (fresh === 0) return
      for (const door of doors)
        for (let index = 0; index < burstSize; index += 1) track(shootOnce(door, path))
    },
    stop: async () => {
      isStopping = true
      while (running.size > 0) await Promise.all(running)
      return shots
    },
  }
}
