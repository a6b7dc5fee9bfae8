import type { NotYet } from '../core/deletion.js'
import { listeners } from '../core/listeners.js'
import { memoryOf, type Roster } from '../core/roster.js'
import { startWaitMs } from '../core/start-gate.js'
import type { NodeMemory } from '../core/xds/node-memory.js'
import type { Clock } from '../ports/clock.js'
import { guardedLogger } from '../ports/faults.js'
import { type Logger, silentLogger } from '../ports/logger.js'
import { type Metrics, noMetrics } from '../ports/metrics.js'
import type { RosterStore } from '../ports/roster-store.js'
import type { XdsObserver } from '../ports/xds-observer.js'
import { aborted } from './aborted.js'
import { keepGate, type RunningGate, type StandingSource } from './keep-gate.js'
import { type KeptRoster, keptRoster } from './kept-roster.js'
import { loadRoster } from './load-roster.js'
import type { ForgetResult } from './operator.js'
import { type ForgottenBy, reportRoster, type RosterFact } from './report-roster.js'
import type { RosterFleet } from './roster-fleet.js'

export type { ForgottenBy, RosterFact, RosterFleet }

export interface KeepRosterPorts {
  readonly store: RosterStore
  readonly clock: Clock
  readonly logger?: Logger
  readonly metrics?: Metrics
  /** Is told what is logged too. What it throws is logged. */
  readonly onFact?: (fact: RosterFact) => void
  /**
   * After how long a lost node is forgotten, in milliseconds; never if absent. One that was lost before the
   * start counts as lost since then. Of an id that several share, those that were lost are forgotten so long after
   * the last of them: no one that is connected speaks for them, and nobody knows which of them has come back.
   */
  readonly forgetNodeAfterMs?: number
  /** How long Envoys are waited for after the start, in milliseconds; a minute if absent. */
  readonly startWaitMs?: number
  /**
   * What is known of other processes that keep the same roster. If absent there are none: nobody else serves any
   * Envoy from the time on when the roster is read, and whoever did before has written each of them down. So it is with
   * a list in memory, and in a file that one process at a time is given. Where several may run at once, say so here, or
   * the gate opens as soon as all Envoys have come that are on the list, while another takes in one that is not.
   */
  readonly standing?: StandingSource
  /** Spreads the pauses between tries, in [0, 1); `Math.random` if absent. */
  readonly random?: () => number
}

export interface RosterKeeper {
  /** What the fleet is to start with, once it is read; `undefined` if the signal has aborted before. */
  readonly loaded: Promise<ReadonlyMap<string, NodeMemory> | undefined>
  /** Is to hear all that happens in that fleet. */
  readonly observer: XdsObserver
  /** Names that fleet. Ids that had to wait for this are admitted now. */
  readonly attach: (fleet: RosterFleet) => void
  /** To be called once every source has given its first complete state. */
  readonly sourcesRead: () => void
  /** Why nothing may be released at the moment, whatever the ledger says; `undefined` if something may. */
  readonly gate: () => NotYet | undefined
  /**
   * Since when Envoys may come back, in milliseconds: since the roster was read. `undefined` before that, and once all
   * have come or were waited for.
   */
  readonly waitingSince: () => number | undefined
  /**
   * Calls a listener when the gate may have changed, until the returned function is called. It must not throw,
   * and should note that and no more.
   */
  readonly onChange: (listener: () => void) => () => void
  /** The roster as it is to be. Costs O(nodes). */
  readonly roster: () => Roster
  /**
   * Forgets a lost node, of an id that is shared the lost ones; resolves when that is written down, or
   * cannot be. By a person if nothing else is said. Never rejects.
   */
  readonly forget: (id: string, by?: ForgottenBy) => Promise<ForgetResult>
  /** Resolves when `signal` has aborted and all is written, or `closeWaitMs` have passed. Never rejects. */
  readonly finished: Promise<void>
}

/**
 * Keeps the list of Envoys that may serve something, in memory and in a store, until `signal` aborts.
 *
 * Reads it first, for as long as that takes. An id that comes is admitted once it is written down; where it
 * cannot be, it is admitted all the same, and the gate stays closed until it is. What Envoys have refused, or
 * had not answered when their stream ended, is written within a second or so.
 */
export const keepRoster = (given: KeepRosterPorts, signal: AbortSignal): RosterKeeper => {
  const { store, clock, random = Math.random, metrics = noMetrics } = given
  const logger = guardedLogger(given.logger ?? silentLogger)
  const { ring, listen } = listeners()
  const start = keepGate(clock, given.startWaitMs ?? startWaitMs, ring, given.standing)
  const tell = teller(logger, metrics, given.onFact)
  let kept: KeptRoster | undefined
  const begin = (roster: Roster): ReadonlyMap<string, NodeMemory> => {
    const { forgetNodeAfterMs } = given
    const ports = { store, clock, random, metrics, start, tell, forgetNodeAfterMs, onChange: ring }
    kept = keptRoster(roster, ports)
    start.step({ _tag: 'RosterRead', roster })
    return memoryOf(roster)
  }
  const onFailure = readingFailures(tell, start)
  const loaded = loadRoster({ store, clock, random, onFailure }, signal).then(
    (roster) => roster && begin(roster),
  )
  return {
    loaded,
    observer: (event) => kept?.hear(event),
    attach: (fleet) => kept?.attach(fleet),
    sourcesRead: () => start.step({ _tag: 'SourcesRead' }),
    gate: () => {
      const closed = start.gate()
      const message = kept?.failure()
      // Who is not the one that counts writes nothing: nothing ails the roster then.
      return message === undefined || closed?._tag === 'NotHolding'
        ? closed
        : { _tag: 'RosterUnsaved', message }
    },
    waitingSince: start.waitingSince,
    onChange: listen,
    roster: () => kept?.roster() ?? new Map(),
    forget: (id, by = 'Person') =>
      kept?.forget(id, by) ?? Promise.resolve({ failure: 'the roster is not read yet' }),
    finished: finish(loaded, () => kept, start, logger, signal),
  }
}

/** Whoever listens must not stop the keeper. */
const teller =
  (logger: Logger, metrics: Metrics, onFact: KeepRosterPorts['onFact']) =>
  (fact: RosterFact): void => {
    try {
      reportRoster(logger, metrics, fact)
      onFact?.(fact)
    } catch (cause) {
      logger.log('error', 'a listener of the roster threw', {
        fact: fact._tag,
        error: String(cause),
      })
    }
  }

/** Why the roster cannot be read is told when it is another reason than the last time. */
const readingFailures = (
  tell: (fact: RosterFact) => void,
  start: RunningGate,
): ((message: string) => void) => {
  let unreadable: string | undefined
  return (message) => {
    if (message !== unreadable) tell({ _tag: 'LoadFailed', message })
    unreadable = message
    start.step({ _tag: 'RosterFailed', message })
  }
}

/** Waits for the end, and for the last write. */
const finish = async (
  loaded: Promise<unknown>,
  kept: () => KeptRoster | undefined,
  start: RunningGate,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await loaded
    await aborted(signal)
    await kept()?.close()
  } catch (bug) {
    logger.log('error', 'the roster is not kept any more', { error: String(bug) })
  }
  start.close()
}
