import type * as E from 'fp-ts/lib/Either.js'
import type { RouteKey } from '../../../core/edge-route.js'
import { inTurn } from '../../../core/in-turn.js'
import type { Clock } from '../../../ports/clock.js'
import type { ApiError } from './api-error.js'
import type { ApiObject } from './api-object.js'
import { type ApiConnection, connection } from './connection.js'
import type { ApiFaults, WatchFate } from './faults.js'
import {
  type ApiList,
  type Change,
  emptyServer,
  findObject,
  listObjects,
  type ServerState,
  shorten,
} from './server-state.js'
import { throwLater } from './throw-later.js'
import { bookmarkOf, eventOf, type WatchEvent } from './watch-event.js'
import type { WatchStream } from './watch-stream.js'
import { type Rules, step, type Write } from './write.js'

/** How many changes a watch can look back: more than a client misses in any gap but a long one. */
export const defaultHistoryLimit = 1_000

/** How often each watch is told how far it is, in milliseconds: about as often as Kubernetes does. */
export const defaultBookmarkMs = 60_000

export interface MemoryApiServerOptions {
  readonly clock: Clock
  readonly historyLimit?: number
  /** The resource version of the empty server; 1 if absent. The first object has the next one. */
  readonly firstResourceVersion?: number
  /** How often a watch is told how far it is; never if 0. */
  readonly bookmarkMs?: number
  /** What is wrong with an object whose metadata or spec is written: such a write is refused. */
  readonly validate?: Rules['validate']
  readonly faults?: ApiFaults
}

/** An API server for EdgeRoutes, in memory. */
export interface MemoryApiServer {
  /** Carries out a write at once, by somebody for whom nothing goes wrong. */
  readonly write: (write: Write) => E.Either<ApiError, ApiObject>
  readonly get: (key: RouteKey) => ApiObject | undefined
  readonly list: () => ApiList
  /**
   * Calls back at each change, in their order, before the write returns; a change that is made within a
   * callback is told after it. Returns how to end that.
   */
  readonly observe: (onChange: (change: Change) => void) => () => void
  /** What a client sees of the server, through all the faults. */
  readonly connect: (client: string) => ApiConnection
  /** Does something to each watch of a client, or of every one. */
  readonly disturb: (fate: WatchFate, client?: string) => void
  /** Tells every watch how far it is. */
  readonly bookmark: () => void
  /** Forgets the history: a watch from before now is answered 410. */
  readonly forget: () => void
}

/**
 * Makes an API server that keeps EdgeRoutes as Kubernetes does: `step` has the rules.
 *
 * What goes in is copied, what comes out is frozen. Everything waits through `clock` alone, and nothing is left
 * to chance: the same calls and the same faults give the same objects, uids and versions.
 *
 * A write costs O(log n) in the number of objects, and O(historyLimit).
 *
 * @category memory
 * @since 0.2.0
 */
export const memoryApiServer = (options: MemoryApiServerOptions): MemoryApiServer => {
  const { clock, faults = {}, historyLimit = defaultHistoryLimit } = options
  const { bookmarkMs = defaultBookmarkMs, validate = () => undefined } = options
  const watches = new Map<WatchStream, string>()
  const { observe, tell } = observersOf(clock)
  let state: ServerState = emptyServer(options.firstResourceVersion ?? 1)

  const write = (each: Write): E.Either<ApiError, ApiObject> => {
    const written = step(state, each, clock.nowMs(), { historyLimit, validate })
    const { change } = written
    state = written.state
    if (change !== undefined)
      broadcast(watches, eventOf(change), () => {
        tell(change)
      })
    return written.answer
  }
  const backend = { clock, faults, bookmarkMs, state: () => state, write, watches }
  return {
    write,
    get: (key) => findObject(state, key),
    list: () => listObjects(state),
    observe,
    connect: (client) => connection(backend, client),
    disturb: (fate, client) => {
      for (const [stream, name] of [...watches])
        if (client === undefined || client === name) stream.suffer(fate)
    },
    bookmark: () => {
      broadcast(watches, bookmarkOf(state.revision))
    },
    forget: () => {
      state = shorten(state, 0)
    },
  }
}

/** Everybody is sent an event before anybody gets it: who writes on getting one does not mix up the others. */
const broadcast = (
  watches: ReadonlyMap<WatchStream, string>,
  event: WatchEvent,
  meanwhile = (): void => undefined,
): void => {
  const streams = [...watches.keys()]
  for (const stream of streams) stream.send(event)
  meanwhile()
  for (const stream of streams) stream.flush()
}

interface Observers {
  readonly observe: MemoryApiServer['observe']
  readonly tell: (change: Change) => void
}

/** Tells changes in their order. What an observer throws of a change that waited reaches the clock. */
const observersOf = (clock: Clock): Observers => {
  const observers = new Set<(change: Change) => void>()
  const tell = inTurn<Change>((change) => {
    for (const observer of [...observers]) if (observers.has(observer)) observer(change)
  }, throwLater(clock))
  const observe = (observer: (change: Change) => void): (() => void) => {
    observers.add(observer)
    return () => {
      observers.delete(observer)
    }
  }
  return { observe, tell }
}
