import * as E from 'fp-ts/lib/Either.js'
import type { RouteKey } from '../../../core/edge-route.js'
import type { Clock } from '../../../ports/clock.js'
import { type ApiError, expiredCode, timeout } from './api-error.js'
import type { ApiObject } from './api-object.js'
import type { ApiFaults, ApiRequest, RequestFate } from './faults.js'
import {
  type ApiList,
  changesSince,
  getObject,
  listObjects,
  type ServerState,
} from './server-state.js'
import { bookmarkOf, eventOf } from './watch-event.js'
import { type WatchHandlers, type WatchStream, watchStream } from './watch-stream.js'
import type { Write } from './write.js'

/**
 * The server as one client reaches it. Each answer comes once, within the call itself if nothing delays it.
 * Callbacks must not throw.
 */
export interface ApiConnection {
  readonly write: (write: Write, onAnswer: OnAnswer<ApiObject>) => void
  readonly get: (key: RouteKey, onAnswer: OnAnswer<ApiObject>) => void
  readonly list: (onAnswer: OnAnswer<ApiList>) => void
  /** Begins after a resource version, or, without one, with all that is there. Returns how to end it. */
  readonly watch: (resourceVersion: string | undefined, handlers: WatchHandlers) => () => void
}

export type OnAnswer<A> = (answer: E.Either<ApiError, A>) => void

/** The server as its connections need it. */
export interface Backend {
  readonly clock: Clock
  readonly faults: ApiFaults
  readonly bookmarkMs: number
  readonly state: () => ServerState
  readonly write: (write: Write) => E.Either<ApiError, ApiObject>
  /** The open watches, by the client's name. */
  readonly watches: Map<WatchStream, string>
}

/** Reaches a server as `client`. */
export const connection = (backend: Backend, client: string): ApiConnection => {
  const { clock, state } = backend
  const fateOf = (request: ApiRequest): RequestFate =>
    backend.faults.ofRequest?.(request, client) ?? {}
  const ask = <A>(
    request: ApiRequest,
    perform: (fate: RequestFate) => E.Either<ApiError, A>,
    onAnswer: OnAnswer<A>,
  ): void => {
    const fate = fateOf(request)
    wait(clock, fate.requestMs, () => {
      const performed = fate.fails === 'before' ? failureOf(fate) : perform(fate)
      wait(clock, fate.answerMs, () => {
        onAnswer(fate.fails === 'after' ? failureOf(fate) : performed)
      })
    })
  }
  return {
    write: (write, onAnswer) => {
      ask(write, () => backend.write(write), onAnswer)
    },
    get: (key, onAnswer) => {
      ask({ _tag: 'Get', key }, () => getObject(state(), key), onAnswer)
    },
    list: (onAnswer) => {
      ask({ _tag: 'List' }, ({ behind }) => E.right(listObjects(state(), behind)), onAnswer)
    },
    watch: (resourceVersion, handlers) =>
      openLater(clock, fateOf({ _tag: 'Watch', resourceVersion }), handlers.onEnd, () =>
        openWatch(backend, client, resourceVersion, handlers),
      ),
  }
}

const wait = (clock: Clock, ms: number | undefined, then: () => void): void => {
  if (ms === undefined || ms <= 0) then()
  else clock.after(ms, then)
}

/** Opens a watch when its request has come through, unless it fails, or is ended before that. */
const openLater = (
  clock: Clock,
  fate: RequestFate,
  onEnd: WatchHandlers['onEnd'],
  open: () => () => void,
): (() => void) => {
  let isStopped = false
  let stop = (): void => {
    isStopped = true
  }
  wait(clock, (fate.requestMs ?? 0) + (fate.answerMs ?? 0), () => {
    if (isStopped) return
    if (fate.fails !== undefined) onEnd(failureOf(fate))
    else stop = open()
  })
  return () => {
    stop()
  }
}

const failureOf = ({ error }: RequestFate): E.Either<ApiError, never> =>
  E.left(error ?? timeout('the server did not answer in time'))

/** A resource version that is too old is told within the stream, as Kubernetes does; any other failure before it. */
const openWatch = (
  { clock, faults, bookmarkMs, state, watches }: Backend,
  client: string,
  resourceVersion: string | undefined,
  handlers: WatchHandlers,
): (() => void) => {
  const changes = changesSince(state(), resourceVersion)
  if (E.isLeft(changes)) {
    if (changes.left.code === expiredCode) handlers.onEvent({ type: 'ERROR', error: changes.left })
    handlers.onEnd(changes.left.code === expiredCode ? E.right(undefined) : changes)
    return () => undefined
  }
  let cancelBookmark: () => void = () => undefined
  const stream = watchStream(
    clock,
    handlers,
    (event) => faults.ofEvent?.(event, client) ?? {},
    () => {
      watches.delete(stream)
      cancelBookmark()
    },
  )
  const bookmark = (): void => {
    cancelBookmark = clock.after(bookmarkMs, bookmark)
    stream.send(bookmarkOf(state().revision))
    stream.flush()
  }
  if (bookmarkMs > 0) cancelBookmark = clock.after(bookmarkMs, bookmark)
  watches.set(stream, client)
  changes.right.forEach((change) => {
    stream.send(eventOf(change))
  })
  stream.flush()
  return stream.stop
}
