import { draw } from './chance.js'
import { initialEventsMs, maxExpiries, minWatchSeconds, silenceMs } from './limits.js'
import { listBegins } from './selection.js'
import type { Query, Reflector, ReflectorStep } from './state.js'

/**
 * Asks for everything. What is held stays until that is complete.
 *
 * The first page names no resource version, and so does a watch-list: the answer is as new as the server's own
 * storage, and never older than what was seen. (client-go begins with version 0, whatever the server has at hand,
 * to spare the storage; after a restart that may be a past in which a deleted object is still there.)
 */
export const beginList = <A>(before: Reflector<A>, nowMs: number): ReflectorStep<A> => {
  const selection = before.selection && listBegins(before.selection)
  const state = { ...before, selection, attempt: before.attempt + 1 }
  if (state.listsBy === 'WatchList') return beginWatchList(state, nowMs)
  const isWhole = state.expiries >= maxExpiries
  const phase = { _tag: 'Listing' as const, draft: undefined, resourceVersion: undefined }
  const query = isWhole ? {} : pageOf(state)
  return [{ ...state, phase }, [{ _tag: 'List', attempt: state.attempt, query }]]
}

/** Asks for the page that follows. It must not name a resource version: the token does. */
export const nextPage = <A>(state: Reflector<A>, next: string): ReflectorStep<A> => {
  const attempt = state.attempt + 1
  const query = { ...pageOf(state), continue: next }
  return [{ ...state, attempt }, [{ _tag: 'List', attempt, query }]]
}

const pageOf = ({ options }: Reflector<unknown>): Query => ({ limit: String(options.pageSize) })

const beginWatchList = <A>(before: Reflector<A>, nowMs: number): ReflectorStep<A> => {
  const [state, timeoutSeconds] = drawTimeout(before)
  const { attempt } = state
  const query = {
    ...watchQuery(timeoutSeconds),
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
  }
  const phase = { _tag: 'Collecting' as const, draft: undefined, heardMs: nowMs }
  return [{ ...state, phase }, [{ _tag: 'Watch', attempt, query, silenceMs }]]
}

/** Watches from a resource version. */
export const beginWatch = <A>(
  before: Reflector<A>,
  resourceVersion: string,
  nowMs: number,
): ReflectorStep<A> => {
  const [state, timeoutSeconds] = drawTimeout({ ...before, attempt: before.attempt + 1 })
  const { attempt } = state
  const query = { ...watchQuery(timeoutSeconds), resourceVersion }
  const phase = { _tag: 'Watching' as const, resourceVersion, sinceMs: nowMs }
  return [{ ...state, phase }, [{ _tag: 'Watch', attempt, query, silenceMs }]]
}

const watchQuery = (timeoutSeconds: number): Query => ({
  watch: 'true',
  allowWatchBookmarks: 'true',
  timeoutSeconds: String(timeoutSeconds),
})

/** Watches that began together should not end together. */
const drawTimeout = <A>(state: Reflector<A>): readonly [Reflector<A>, seconds: number] => {
  const [chance, seed] = draw(state.seed)
  return [{ ...state, seed }, Math.floor(minWatchSeconds * (1 + chance))]
}

/** When a watch-list that has stopped is given up. */
export const giveUpMs = (heardMs: number): number => heardMs + initialEventsMs
