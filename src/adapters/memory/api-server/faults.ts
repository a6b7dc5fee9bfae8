import type { ApiError } from './api-error.js'
import type { WatchEvent } from './watch-event.js'
import type { Write } from './write.js'
import type { RouteKey } from '../../../core/edge-route.js'

/** What a client asks of the server. */
export type ApiRequest =
  | Write
  | { readonly _tag: 'Get'; readonly key: RouteKey }
  | { readonly _tag: 'List' }
  /** From a resource version; without one, from what is there. */
  | { readonly _tag: 'Watch'; readonly resourceVersion: string | undefined }

/**
 * Decides what goes wrong. Asked of each request and each event when it is sent, in that order; what it does not
 * speak of goes well, and at once. Must answer the same to the same for a run to be repeatable.
 */
export interface ApiFaults {
  readonly ofRequest?: (request: ApiRequest, client: string) => RequestFate | undefined
  readonly ofEvent?: (event: WatchEvent, client: string) => EventFate | undefined
}

/** What becomes of a request. */
export interface RequestFate {
  /** How long it is on its way to the server, in milliseconds. */
  readonly requestMs?: number
  /** How long the answer is on its way back, in milliseconds. */
  readonly answerMs?: number
  /** Whether it fails before it takes effect, or takes effect and is answered as if it had not. */
  readonly fails?: 'before' | 'after'
  /** What the client is told of the failure; a time-out if absent. A watch is answered 410 with `expired`. */
  readonly error?: ApiError
  /** A list shows what was there so many changes ago. */
  readonly behind?: number
}

/** What becomes of an event on its way to one watch. Events never overtake each other. */
export interface EventFate {
  /** How long it is on its way at least, in milliseconds. */
  readonly delayMs?: number
  /** How often it arrives: 0 if it is lost. */
  readonly copies?: number
  /** What becomes of the watch afterwards. */
  readonly then?: WatchFate
}

export type WatchFate =
  /** The server ends the stream. */
  | 'Close'
  /** An ERROR event says 410, and the stream ends. */
  | 'Gone'
  /** An ERROR event says 500, and the stream ends. */
  | 'Fail'
  /** Nothing more arrives, not even an end. */
  | 'Freeze'
