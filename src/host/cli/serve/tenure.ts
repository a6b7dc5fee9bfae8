import { listeners } from '../../../core/listeners.js'
import type { Standing } from '../../../core/start-gate.js'
import { type Clock, pause } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import { aborted } from '../../aborted.js'
import { systemClock } from '../../clock.js'
import type { StandingSource } from '../../keep-gate.js'
import type { LeaseFact, LeaseFound } from '../peers.js'

/**
 * How long a Lease that can be neither read nor written is waited for, in milliseconds: longer than that of one who has
 * crashed lasts. A cluster that takes no writes for hours is no reason to leave new Envoys without routes.
 */
export const unknownLeaseMs = 30_000

/**
 * The time in which a control plane is the one that counts. Its standing is how it has come by the Lease, and holds as
 * long as that does: see `standingWhile`.
 */
export interface Tenure extends StandingSource {
  /** Takes what becomes of the Lease. */
  readonly hear: (fact: LeaseFact) => void
  /** Resolves once it may serve Envoys, or `signal` has aborted. */
  readonly begun: (signal: AbortSignal) => Promise<void>
  /** Ends it; `why` is for people. */
  readonly end: (why: string) => void
  /** Aborts when it must serve nobody any more: another one does. The reason says why. */
  readonly over: AbortSignal
}

/**
 * Of two control planes one serves, and the other waits: an Envoy that came to the second would be unknown to
 * the first, which would let go of routes that it serves.
 *
 * | what is known of the Lease                        | what follows                              |
 * | ------------------------------------------------- | ----------------------------------------- |
 * | it is ours                                        | it serves                                 |
 * | it is another's, and never was ours               | it waits                                  |
 * | it was ours, or it serves, and it is another's    | it is over                                |
 * | nothing for `unknownLeaseMs`, nor ever anything   | it serves; nothing is written as long     |
 * | nothing any more: the API server is away          | it goes on; nothing is written as long    |
 *
 * Its start may be short where nobody else can be serving, nor has served Envoys that are not on the roster: the Lease
 * was given back, which whoever held it does last of all, or was that of an earlier life of this one; and that holder
 * said that it knew all Envoys. One that does not renew its Lease any more, or whose Lease was deleted, may go on until
 * it can read that it is another's, and whoever takes its place waits for the Envoys of that time.
 */
export const openTenure = (logger: Logger, clock: Clock = systemClock): Tenure => {
  const over = new AbortController()
  const begun = new AbortController()
  const known = new AbortController()
  const end = (why: string): void => over.abort(why)
  let isUnknown = false
  let standing: Standing = notHeld
  const { ring, listen } = listeners()
  const hear = (fact: LeaseFact): void => {
    switch (fact._tag) {
      case 'Acquired':
        standing = standingAfter(fact, clock.nowMs())
        known.abort()
        begun.abort()
        return ring()
      case 'Recovered':
        known.abort()
        begun.abort()
        return ring()
      case 'Waiting':
        known.abort()
        return begun.signal.aborted ? end(takenBy(fact.holder)) : undefined
      case 'Lost':
        return end(takenBy(fact.holder))
      case 'Failing':
        if (!isUnknown) void beginUnknown(logger, clock, known.signal, begun)
        isUnknown = true
    }
  }
  return {
    hear,
    begun: (signal) => aborted(AbortSignal.any([begun.signal, signal])),
    end,
    over: over.signal,
    standing: () => standing,
    onStandingChange: listen,
  }
}

/** Begins where nothing becomes known for long. */
const beginUnknown = async (
  logger: Logger,
  clock: Clock,
  known: AbortSignal,
  begun: AbortController,
): Promise<void> => {
  await pause(clock, unknownLeaseMs, known)
  if (known.aborted || begun.signal.aborted) return
  logger.log('warn', 'whose the lease is cannot be told: serving Envoys, and writing nothing')
  begun.abort()
}

const notHeld = {
  _tag: 'Unknown',
  message: 'this control plane does not hold the Lease, and another may serve Envoys unknown to it',
} as const

const standingAfter = ({ how, knewAll }: LeaseFound, nowMs: number): Standing => {
  switch (how) {
    case 'GivenBack':
    case 'Own':
      return knewAll ? { _tag: 'Alone' } : { _tag: 'Successor', sinceMs: nowMs }
    case 'Fresh':
    case 'Expired':
      return { _tag: 'Successor', sinceMs: nowMs }
  }
}

/** The standing of a tenure as long as its Lease is held: while it is not, another may be at work. */
export const standingWhile = (
  isHeld: () => boolean,
  { standing, onStandingChange }: StandingSource,
): StandingSource => ({ standing: () => (isHeld() ? standing() : notHeld), onStandingChange })

const takenBy = (holder: string): string =>
  holder === ''
    ? 'another control plane had the Lease meanwhile: this one has to start again, and to read what that has written'
    : `another control plane, ${holder}, has the Lease: this one has to start again, and waits for it`
