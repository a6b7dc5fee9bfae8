import type { LaneLimits } from './lane.js'

/** How fast writes to an API server may go. */
export interface WriteLimits {
  /** Of our finalizer: what holds them up holds up what is served, and what may vanish. */
  readonly finalizers: LaneLimits
  /** Of the status: many, and only to be read. */
  readonly conditions: LaneLimits
}

/**
 * An API server on two cores takes some 600 patches each second: both lanes together leave half of that to others.
 * 10,000 routes at a start have their finalizers after 50 s, and 5,000 say that they are programmed after as long;
 * what a person changes is within the burst, and is written at once.
 */
export const defaultWriteLimits: WriteLimits = {
  finalizers: { perSecond: 200, burst: 100 },
  conditions: { perSecond: 100, burst: 100 },
}

/**
 * How long a write may wait for its turn, in milliseconds. What it says was decided before: it had better fail, and be
 * decided anew.
 */
export const maxTurnWaitMs = 10_000

/** How many writes may wait for their turn: what the slower lane gets through in `maxTurnWaitMs`. */
export const maxWaiting = 1_000

/** How long the reply to one request may take, in milliseconds: a busy API server needs some hundred. */
export const requestDeadlineMs = 10_000

/**
 * How long a write may take with all its requests and the wait for its turn, in milliseconds: less than the 30 s after
 * which a host no longer believes in an answer.
 */
export const writeDeadlineMs = 25_000

/** How long a server that says 429 without a word on when to return is left alone, in milliseconds. */
export const defaultPauseMs = 1_000

/** The longest that a lane stops because a server asks for it, in milliseconds: it must be asked again anyway. */
export const maxPauseMs = 60_000
