import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import * as E from 'fp-ts/lib/Either.js'
import { type Clock, systemClock } from '../../ports/clock.js'
import { guardedLogger } from '../../ports/faults.js'
import { type Logger, silentLogger } from '../../ports/logger.js'
import type { ApiClient } from './api.js'
import { contend } from './lease/contend.js'
import { observe } from './lease/observe.js'
import { namespacesOfLeases } from './lease/find.js'
import { giveBack } from './lease/release.js'
import type { LeaseFact, LeaseFound } from './lease/state.js'
import type { ApiProblem } from './objects/api-problem.js'
import { leaseAt } from './objects/places.js'

export interface LeaseOptions {
  /** That of the control plane. */
  readonly namespace: string
  /** Of the Lease; `defaultLeaseName` if absent. */
  readonly name?: string | undefined
}

export interface KeepLeaseOptions extends LeaseOptions {
  /**
   * Names this control plane, for people too. Whoever comes back with the same name has the lease at once; two that are
   * at work must not share one: the second takes the lease of the first, which loses it at its next renewal.
   */
  readonly identity: string
  readonly clock?: Clock | undefined
  readonly logger?: Logger | undefined
  /** Is told what is logged too. What it throws is logged. */
  readonly onFact?: ((fact: LeaseFact) => void) | undefined
  /**
   * Whether this control plane knows all Envoys that may serve something, and has written them down: asked at each
   * renewal, and when the lease is given back. Whoever takes it next is told so in `Acquired`, and may trust the list
   * of Envoys then. Never if absent. Must not throw.
   */
  readonly knowsAll?: (() => boolean) | undefined
}

export type { LeaseFact, LeaseFound }

/** What the Lease of a control plane is called if nothing else is said. */
export const defaultLeaseName = 'edgewright'

/** A lease that is being kept, or waited for. */
export interface KeptLease {
  /** Resolves once the signal has aborted and the lease is given back, or that has taken too long. Never rejects. */
  readonly finished: Promise<void>
  /**
   * Whether it is ours. While it is, nobody else's is, however wrong clocks are, unless somebody edits or deletes the
   * Lease, two have one identity, or the machine was suspended a moment ago: that time is not counted.
   */
  readonly isHeld: () => boolean
  /** For how many milliseconds that surely holds still, whatever happens; 0 if it is not ours. */
  readonly leftMs: () => number
}

/**
 * Takes a lease as soon as nobody has it, and renews it every few seconds until `signal` aborts; then gives it back.
 *
 * It tells others that a control plane is live, and which of several counts. Whoever is second waits, and says so
 * in the log. That of one that has crashed is taken once it was seen unchanged for as long as it lasts.
 *
 * Needs the permissions to get, create and update Leases in the namespace.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const keepLease = (
  client: ApiClient,
  options: KeepLeaseOptions,
  signal: AbortSignal,
): KeptLease => {
  const { namespace, name = defaultLeaseName, identity, clock = systemClock } = options
  const { knowsAll = () => false } = options
  const logger = guardedLogger(options.logger ?? silentLogger)
  const place = leaseAt(namespace, name)
  const onFact = guardedListener(options.onFact, logger)
  const ports = { client, place, clock, logger, identity, knowsAll, onFact }
  const { isOwn, ...contest } = contend(ports, signal)
  const finish = async (): Promise<void> => {
    try {
      await contest.finished
      await giveBack({ ...ports, isOwn })
    } catch (bug) {
      logger.log('error', 'the lease is not kept any more', { error: String(bug) })
    }
  }
  return { ...contest, finished: finish() }
}

/** Whoever listens must not end the contest. */
const guardedListener =
  (listener: KeepLeaseOptions['onFact'], logger: Logger) =>
  (fact: LeaseFact): void => {
    try {
      listener?.(fact)
    } catch (cause) {
      logger.log('error', 'a listener of the lease threw', { error: String(cause) })
    }
  }

/** Whether a control plane is at work. */
export type LeaseState =
  /** Nobody has the lease, or there is none. */
  | { readonly _tag: 'Absent' }
  /** Its holder is at work, or was a few seconds ago. */
  | LeaseHolder<'Live'>
  /** Its holder has ended without giving it back. */
  | LeaseHolder<'Expired'>

export interface LeaseHolder<Tag> {
  readonly _tag: Tag
  readonly holder: string
  /** When it was last renewed, by the clock of its holder; RFC 3339, empty if it does not say. */
  readonly renewedAt: string
}

/**
 * Looks whether a control plane holds a lease. Where the times in it say that it has ended, or make no sense, it is
 * looked at for as long as it lasts, 15 s as a rule: it is expired only if it did not change.
 *
 * Needs the permission to get Leases in the namespace.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const readLease =
  (
    client: ApiClient,
    {
      namespace,
      name = defaultLeaseName,
      clock = systemClock,
    }: LeaseOptions & { readonly clock?: Clock },
    signal: AbortSignal,
  ): TaskEither<ApiProblem, LeaseState> =>
  async () => {
    const observed = await observe({ client, place: leaseAt(namespace, name), clock }, signal)
    if (E.isLeft(observed) || observed.right === undefined)
      return E.isLeft(observed) ? observed : E.right({ _tag: 'Absent' })
    const { record, isLive } = observed.right
    const { holder, renewedAt } = record
    return E.right({ _tag: isLive ? 'Live' : 'Expired', holder, renewedAt })
  }

/**
 * The namespaces in which control planes keep a Lease, or have kept one; of the whole cluster, since nobody knows
 * beforehand where one was installed.
 *
 * Needs the permission to list Leases in all namespaces.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const findLeases =
  (client: ApiClient, signal: AbortSignal): TaskEither<ApiProblem, ReadonlyArray<string>> =>
  () =>
    namespacesOfLeases(client, signal)
