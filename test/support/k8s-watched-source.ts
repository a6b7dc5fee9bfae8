import type * as E from 'fp-ts/lib/Either.js'
import { onTestFinished } from 'vitest'
import type { VirtualClock } from '../../src/adapters/memory/clock.js'
import { memoryLogger } from '../../src/adapters/memory/logger.js'
import type { Logger } from '../../src/ports/logger.js'
import type { RouteSource, SourceError, SourceState } from '../../src/ports/route-source.js'

/** What a source is made with. */
export interface SourcePorts {
  readonly clock: VirtualClock
  readonly logger: Logger
  readonly random: () => number
}

/** A source with the fake server behind it. */
export interface WatchableSource<Server> {
  readonly source: RouteSource
  readonly server: Server
  /** Tells the streams of the server what is new. */
  readonly flush: () => void
}

/** A source that is watched until the test ends. */
export interface WatchedSource<Server> {
  readonly clock: VirtualClock
  readonly states: ReadonlyArray<SourceState>
  readonly logged: () => ReadonlyArray<string>
  /** Changes the server, and lets it be seen. */
  readonly change: (change: (server: Server) => void) => Promise<void>
  readonly pass: (ms: number) => Promise<void>
  readonly stop: AbortController
  readonly ended: Promise<E.Either<SourceError, void>>
}

/** Watches a source on virtual time. */
export const watchSource = async <Server>(
  clock: VirtualClock,
  make: (ports: SourcePorts) => WatchableSource<Server>,
  onState?: (state: SourceState) => void,
): Promise<WatchedSource<Server>> => {
  const logger = memoryLogger()
  const { source, server, flush } = make({ clock, logger, random: () => 0.5 })
  const states: Array<SourceState> = []
  const stop = new AbortController()
  const ended = source.watch((state) => {
    states.push(state)
    onState?.(state)
  }, stop.signal)()
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
  await settled()
  return {
    clock,
    states,
    stop,
    ended,
    logged: () => logger.entries().map(({ message }) => message),
    change: async (change) => {
      change(server)
      flush()
      await settled()
    },
    pass: async (ms) => {
      clock.advance(ms)
      await settled()
    },
  }
}

/** Lists of some pages and watches of three kinds, one after the other, are some dozens of promises. */
const settled = async (): Promise<void> => {
  for (let i = 0; i < 30; i++) await new Promise(setImmediate)
}
