import { type Clock, pause } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import { aborted } from '../../aborted.js'
import { systemClock } from '../../clock.js'
import type { LeaseFact } from '../peers.js'

/**
 * How long a Lease that can be neither read nor written is waited for, in milliseconds: longer than that of one who has
 * crashed lasts. A cluster that takes no writes for hours is no reason to leave new Envoys without routes.
 */
export const unknownLeaseMs = 30_000

/** The time in which a control plane is the one that counts. */
export interface Tenure {
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
 */
export const openTenure = (logger: Logger, clock: Clock = systemClock): Tenure => {
  const over = new AbortController()
  const begun = new AbortController()
  const known = new AbortController()
  const end = (why: string): void => over.abort(why)
  const beginUnknown = async (): Promise<void> => {
    await pause(clock, unknownLeaseMs, known.signal)
    if (known.signal.aborted || begun.signal.aborted) return
    logger.log('warn', 'whose the lease is cannot be told: serving Envoys, and writing nothing')
    begun.abort()
  }
  let isUnknown = false
  const hear = (fact: LeaseFact): void => {
    switch (fact._tag) {
      case 'Acquired':
      case 'Recovered':
        known.abort()
        return begun.abort()
      case 'Waiting':
        known.abort()
        return begun.signal.aborted ? end(takenBy(fact.holder)) : undefined
      case 'Lost':
        return end(takenBy(fact.holder))
      case 'Failing':
        if (!isUnknown) void beginUnknown()
        isUnknown = true
    }
  }
  return {
    hear,
    begun: (signal) => aborted(AbortSignal.any([begun.signal, signal])),
    end,
    over: over.signal,
  }
}

const takenBy = (holder: string): string =>
  holder === ''
    ? 'another control plane had the Lease meanwhile: this one has to start again, and to read what that has written'
    : `another control plane, ${holder}, has the Lease: this one has to start again, and waits for it`
