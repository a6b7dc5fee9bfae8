import * as E from 'fp-ts/lib/Either.js'
import type { Clock } from '../../../ports/clock.js'
import { type ApiError, expired, internalError } from './api-error.js'
import type { EventFate, WatchFate } from './faults.js'
import type { WatchEvent } from './watch-event.js'

/** What a client does with a watch. Neither may throw. */
export interface WatchHandlers {
  readonly onEvent: (event: WatchEvent) => void
  /** The last call: on the left, the watch was refused; else the server has ended it. */
  readonly onEnd: (end: E.Either<ApiError, void>) => void
}

/** One watch: a queue in which events keep their order, whatever delays them. */
export interface WatchStream {
  /** Puts an event on its way. Nobody is called back before `flush`. */
  readonly send: (event: WatchEvent) => void
  /** What is done to the watch from outside, after everything that was sent before. */
  readonly suffer: (fate: WatchFate) => void
  /** Delivers what is due, now and later. */
  readonly flush: () => void
  /** The client's end: it hears nothing more. */
  readonly stop: () => void
}

interface Parcel {
  readonly dueMs: number
  readonly events: ReadonlyArray<WatchEvent>
  readonly then: WatchFate | undefined
}

/** What is said last in a stream, if anything is. */
const lastErrors: Readonly<Record<WatchFate, ApiError | undefined>> = {
  Close: undefined,
  Gone: expired('the resource version is too old'),
  Fail: internalError('the server cannot go on with the watch'),
  Freeze: undefined,
}

/** Opens a watch; `onLeft` is called once, when nothing more can come of it. */
export const watchStream = (
  clock: Clock,
  handlers: WatchHandlers,
  fateOf: (event: WatchEvent) => EventFate,
  onLeft: () => void,
): WatchStream => {
  let isOpen = true
  const leave = (): void => {
    if (!isOpen) return
    isOpen = false
    queue.clear()
    onLeft()
  }
  const end = (isHeard: boolean): void => {
    const wasOpen = isOpen
    leave()
    if (wasOpen && isHeard) handlers.onEnd(E.right(undefined))
  }
  const queue = parcelQueue(clock, ({ events, then }) => {
    const error = then && lastErrors[then]
    for (const event of events) if (isOpen) handlers.onEvent(event)
    if (isOpen && error !== undefined) handlers.onEvent({ type: 'ERROR', error })
    if (then !== undefined) end(then !== 'Freeze')
  })
  return {
    send: (event) => {
      if (!isOpen) return
      const { delayMs = 0, copies = 1, then } = fateOf(event)
      const events = Array.from({ length: copies }, () => event)
      queue.put({ dueMs: clock.nowMs() + delayMs, events, then })
    },
    suffer: (fate) => {
      if (isOpen) queue.put({ dueMs: clock.nowMs(), events: [], then: fate })
      queue.flush()
    },
    flush: queue.flush,
    stop: leave,
  }
}

/** What is on its way, in its order: nothing overtakes what is late. */
interface ParcelQueue {
  readonly put: (parcel: Parcel) => void
  /** Delivers what is due, and the rest when its time comes. */
  readonly flush: () => void
  readonly clear: () => void
}

const parcelQueue = (clock: Clock, deliver: (parcel: Parcel) => void): ParcelQueue => {
  const queue: Array<Parcel> = []
  let isBusy = false
  let cancelTimer: () => void = () => undefined
  const deliverDue = (): void => {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const waitMs = next.dueMs - clock.nowMs()
      cancelTimer()
      if (waitMs > 0) {
        cancelTimer = clock.after(waitMs, flush)
        return
      }
      queue.shift()
      deliver(next)
    }
  }
  const flush = (): void => {
    if (isBusy) return
    isBusy = true
    try {
      deliverDue()
    } finally {
      isBusy = false
    }
  }
  return {
    put: (parcel) => void queue.push(parcel),
    flush,
    clear: () => {
      queue.length = 0
      cancelTimer()
    },
  }
}
