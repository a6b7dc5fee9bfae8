import { listeners } from '../../../core/listeners.js'
import type { Standing } from '../../../core/start-gate.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import { aborted } from '../../aborted.js'
import { systemClock } from '../../clock.js'
import type { StandingSource } from '../../keep-gate.js'
import type { LeaseFact } from '../peers.js'

/**
 * How long a Lease that can be neither read nor written is waited for, in milliseconds: longer than that of one who has
 * crashed lasts. A cluster that takes no writes for hours is no reason to leave new Envoys without routes.
 */
export const unknownLeaseMs = 30_000

/**
 * How long the Lease may be denied to one that serves, in milliseconds: as long as it lasts without a renewal, so that
 * others may have it. An API server that starts denies things for some seconds.
 */
export const deniedLeaseMs = 15_000

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
 * | nothing: it is denied, and it serves nobody       | it waits                                  |
 * | nothing for `deniedLeaseMs`: it is denied         | it is over                                |
 *
 * Whom the Lease is denied cannot see that another has it, who is not denied it: unlike an API server that is away,
 * that says nothing of what others can do, and it does not pass before somebody mends it.
 *
 * Its start may be short where nobody else can be serving, nor has served Envoys that are not on the roster: the Lease
 * was given back a moment ago, which whoever held it does last of all, and that one said that it knew all Envoys. One
 * that has crashed may have taken in an Envoy in its last moment. One that does not renew its Lease any more, or whose
 * Lease was deleted, may go on until it can read that it is another's. Where nobody could renew it for
 * `unknownLeaseMs` others may have begun without it. Whoever comes after these waits for the Envoys of that time, even
 * if it has held the Lease before.
 */
export const openTenure = (logger: Logger, clock: Clock = systemClock): Tenure => {
  const over = new AbortController()
  const begun = new AbortController()
  const end = (why: string): void => over.abort(why)
  const trouble = openTrouble(clock)
  let isKnown = false
  let standing: Standing = notHeld
  const { ring, listen } = listeners()
  const onFailing = ({ isDenied, message }: Failing): void => {
    const serves = begun.signal.aborted
    if (isDenied) return trouble.lasts(deniedLeaseMs, () => serves && end(deniedFor(message)))
    trouble.lasts(unknownLeaseMs, () => {
      if (isKnown || serves) return
      logger.log('warn', 'whose the lease is cannot be told: serving Envoys, and writing nothing')
      begun.abort()
    })
  }
  const hear = (fact: LeaseFact): void => {
    if (fact._tag === 'Failing') return onFailing(fact)
    const lastedMs = trouble.ends()
    isKnown = true
    switch (fact._tag) {
      case 'Acquired':
      case 'Recovered':
        standing = standingAfter(fact, standing, lastedMs, clock.nowMs())
        begun.abort()
        return ring()
      case 'Waiting':
        return begun.signal.aborted ? end(takenBy(fact.holder)) : undefined
      case 'Lost':
        return end(takenBy(fact.holder))
    }
  }
  return {
    ...{ hear, end, over: over.signal },
    begun: (signal) => aborted(AbortSignal.any([begun.signal, signal])),
    ...{ standing: () => standing, onStandingChange: listen },
  }
}

type Failing = Extract<LeaseFact, { readonly _tag: 'Failing' }>
type Held = Extract<LeaseFact, { readonly _tag: 'Acquired' | 'Recovered' }>

interface Trouble {
  /** There is one, perhaps another one than before; `act` is called once this one has lasted for `ms`. */
  readonly lasts: (ms: number, act: () => void) => void
  /** There is none any more. Returns for how long there was any, in milliseconds. */
  readonly ends: () => number
}

const openTrouble = (clock: Clock): Trouble => {
  let sinceMs: number | undefined
  let cancel = (): void => undefined
  return {
    lasts: (ms, act) => {
      sinceMs ??= clock.nowMs()
      cancel()
      cancel = clock.after(ms, act)
    },
    ends: () => {
      cancel()
      const lastedMs = sinceMs === undefined ? 0 : clock.nowMs() - sinceMs
      sinceMs = undefined
      return lastedMs
    },
  }
}

const notHeld = {
  _tag: 'Unknown',
  message: 'this control plane does not hold the Lease, and another may serve Envoys unknown to it',
} as const

/** What it is once the Lease is held, after a trouble of `lastedMs`, or none. */
const standingAfter = (fact: Held, before: Standing, lastedMs: number, nowMs: number): Standing => {
  const successor = { _tag: 'Successor', sinceMs: nowMs } as const
  switch (fact._tag) {
    case 'Acquired':
      return fact.knewAll && lastedMs < unknownLeaseMs ? { _tag: 'Alone' } : successor
    case 'Recovered':
      // What others can see of a trouble begins with the last renewal, which is before the first that failed.
      return Math.max(fact.afterMs, lastedMs) < unknownLeaseMs ? before : successor
  }
}

/** The standing of a tenure as long as its Lease is held: while it is not, another may be at work. */
export const standingWhile = (
  isHeld: () => boolean,
  { standing, onStandingChange }: StandingSource,
): StandingSource => ({ standing: () => (isHeld() ? standing() : notHeld), onStandingChange })

const deniedFor = (message: string): string =>
  `the Lease is denied, so that another control plane may have it unseen: ${message}`

const takenBy = (holder: string): string =>
  holder === ''
    ? 'another control plane had the Lease meanwhile: this one has to start again, and to read what that has written'
    : `another control plane, ${holder}, has the Lease: this one has to start again, and waits for it`
