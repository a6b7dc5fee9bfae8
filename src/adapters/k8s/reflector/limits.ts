import type { Failure } from './failure.js'

/** How many objects one page brings: as kubectl and client-go ask, and parsed within some 10 ms. */
export const defaultPageSize = 500

/** How long a page may take, in milliseconds: API servers end a request after as long. */
export const pageDeadlineMs = 60_000

/** After how many lists in a row that expired between two pages everything is asked for in one: that cannot expire. */
export const maxExpiries = 2

/** How long a watch lasts before the server ends it, in seconds: between this and twice as long, as in client-go. */
export const minWatchSeconds = 300

/**
 * How long nothing may come on a watch before it counts as dead, in milliseconds. API servers send bookmarks each
 * minute; from one that does not, a quiet watch is begun anew from where it was, which costs one request.
 */
export const silenceMs = 90_000

/** After how many watches in a row on which nothing came the server is asked for a list. */
export const maxSilences = 2

/**
 * How long a watch-list may stop before it is complete, in milliseconds: a server that does not know it sends what
 * there is, and never says that this was all.
 */
export const initialEventsMs = 15_000

/** A watch that has lasted this long, in milliseconds, was a good one: what went wrong before is forgotten. */
export const healthyWatchMs = 5_000

/** After how many failures in a row the server is asked for a list in place of a watch. */
export const maxTroubledWatches = 3

/** The longest that the second attempt after a failure waits, in milliseconds; the next ones twice as long each. */
export const firstPauseMs = 800

/** The longest wait between two attempts, in milliseconds. */
export const maxPauseMs = 30_000

/** The longest wait that a server may ask for, in milliseconds: beyond, it must be asked again anyway. */
export const maxRetryAfterMs = 120_000

/** How often everything is listed again, in milliseconds: for that long at most an event that was lost is missed. */
export const defaultRelistMs = 1_800_000

/** How many groups are fetched one by one; for more, everything is listed. */
export const maxFetches = 32

/** How many of these are under way at once: each takes a server some milliseconds, and others ask it, too. */
export const maxFetchesAtOnce = 8

/** After how many failures in a row groups are no more fetched one by one: everything is listed. */
export const maxFetchFailures = 3

/**
 * How long to wait after so many failures in a row, in milliseconds: between half and the whole of what doubles each
 * time, so that those who failed together do not return together; no less than the server asks for.
 */
export const pauseMs = (failures: number, chance: number, failure: Failure): number => {
  const ceilingMs = Math.min(
    maxPauseMs,
    firstPauseMs * 2 ** Math.min(Math.max(failures - 2, 0), 30),
  )
  const backoffMs = failures <= 1 ? 0 : (ceilingMs * (1 + chance)) / 2
  const askedMs = failure._tag === 'Refused' ? (failure.retryAfterMs ?? 0) : 0
  return Math.max(backoffMs, Math.min(askedMs, maxRetryAfterMs))
}
