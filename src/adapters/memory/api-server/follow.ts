import * as E from 'fp-ts/lib/Either.js'
import { inTurn } from '../../../core/in-turn.js'
import { entries } from '../../../core/persistent-map.js'
import type { Clock } from '../../../ports/clock.js'
import { type ApiError, expiredCode } from './api-error.js'
import type { ApiObject } from './api-object.js'
import type { ApiConnection } from './connection.js'
import {
  beginReflecting,
  type Reflector,
  type ReflectorEffect,
  type ReflectorEvent,
  type ReflectorStep,
  step,
} from './reflector.js'
import { throwLater } from './throw-later.js'
import type { WatchEvent } from './watch-event.js'

type Event = ReflectorEvent<ApiObject>

/** What a reflector is run with. */
export interface Following {
  readonly connection: ApiConnection
  readonly clock: Clock
  /** How often everything is listed again, in milliseconds; never if 0. */
  readonly relistMs: number
  /** Ends it. */
  readonly signal: AbortSignal
}

/**
 * Runs a reflector against a server: does what it asks for, one event after the other.
 *
 * Calls back with all objects in the order of their names, first when they were listed, then after each change.
 * The callback must not throw.
 */
export const follow = (
  { connection, clock, relistMs, signal }: Following,
  onObjects: (objects: ReadonlyArray<ApiObject>) => void,
): void => {
  const begin = beginReflecting<ApiObject>()
  let reflector: Reflector<ApiObject> = begin[0]
  let isTold = false
  const run = inTurn<() => ReflectorStep<ApiObject>>((take) => {
    if (signal.aborted) return
    const before = reflector
    const [next, effects] = take()
    reflector = next
    effects.forEach(reach.perform)
    if (next.resourceVersion === undefined || (isTold && next.objects === before.objects)) return
    isTold = true
    onObjects([...entries(next.objects)].map(({ object }) => object))
  }, throwLater(clock))
  const receive = (event: Event): void => {
    run(() => step(reflector, event))
  }
  const reach = reaching(connection, clock, receive, (isOpen, event) => {
    run(() => (isOpen() ? step(reflector, event) : [reflector, []]))
  })
  const relists =
    relistMs > 0 ? every(clock, relistMs, () => receive({ _tag: 'RelistDue' })) : nothing
  signal.addEventListener('abort', () => {
    reach.stop()
    relists()
  })
  run(() => begin)
}

/** How a reflector reaches its server. */
interface Reach {
  readonly perform: (effect: ReflectorEffect) => void
  readonly stop: () => void
}

const reaching = (
  connection: ApiConnection,
  clock: Clock,
  receive: (event: Event) => void,
  onWatch: (isOpen: () => boolean, event: Event) => void,
): Reach => {
  let stopWatch: () => void = nothing
  let stopPause: () => void = nothing
  const perform = (effect: ReflectorEffect): void => {
    switch (effect._tag) {
      case 'List':
        stopPause()
        connection.list((answer) => {
          receive(E.isRight(answer) ? { _tag: 'Listed', ...answer.right } : { _tag: 'ListFailed' })
        })
        return
      case 'Watch':
        stopPause()
        stopWatch = openWatch(connection, effect.resourceVersion, onWatch)
        return
      case 'StopWatch':
        stopWatch()
        return
      case 'Pause':
        stopPause = clock.after(effect.ms, () => {
          receive({ _tag: 'PauseOver' })
        })
    }
  }
  const stop = (): void => {
    stopWatch()
    stopPause()
  }
  return { perform, stop }
}

/** Calls back again and again, until the returned function is called. */
const every = (clock: Clock, ms: number, callback: () => void): (() => void) => {
  let stop: () => void = nothing
  const again = (): void => {
    stop = clock.after(ms, () => {
      again()
      callback()
    })
  }
  again()
  return () => {
    stop()
  }
}

const nothing = (): void => undefined

/**
 * Watches, and tells what comes of it, up to the first thing that says that it has ended. An event may wait for
 * its turn: it counts only if the watch was not stopped until then.
 */
const openWatch = (
  connection: ApiConnection,
  resourceVersion: string,
  onEvent: (isOpen: () => boolean, event: Event) => void,
): (() => void) => {
  let isOpen = true
  let hasEnded = false
  const tell = (event: Event): void => {
    if (hasEnded) return
    hasEnded = event._tag === 'Closed' || event._tag === 'Gone'
    onEvent(() => isOpen, event)
  }
  const stop = connection.watch(resourceVersion, {
    onEvent: (event) => {
      tell(newsOf(event))
    },
    onEnd: (end) => {
      tell(E.isLeft(end) ? troubleOf(end.left) : { _tag: 'Closed' })
    },
  })
  return () => {
    isOpen = false
    stop()
  }
}

const newsOf = (event: WatchEvent): Event => {
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
      return { _tag: 'Applied', object: event.object }
    case 'DELETED':
      return { _tag: 'Deleted', object: event.object }
    case 'BOOKMARK':
      return { _tag: 'Bookmarked', resourceVersion: event.resourceVersion }
    case 'ERROR':
      return troubleOf(event.error)
  }
}

const troubleOf = ({ code }: ApiError): Event => ({
  _tag: code === expiredCode ? 'Gone' : 'Closed',
})
