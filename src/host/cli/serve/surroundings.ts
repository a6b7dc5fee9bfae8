import type { Either } from 'fp-ts/lib/Either.js'
import type { Logger } from '../../../ports/logger.js'
import type { HostPort } from '../../bootstrap.js'
import type { HostPorts, RunningHost } from '../../start-host.js'
import type { XdsServer } from '../peers.js'
import type { World } from '../world.js'

/** What whoever brings the routes has to know. */
export interface WorldOfSource {
  readonly logger: Logger
  readonly world: World
  /**
   * Where this process listens for operators, and goes on to until `Surroundings.close` has resolved; `undefined` if
   * nowhere.
   */
  readonly admin: HostPort | undefined
}

/** What `serve` works with that depends on where the routes come from. */
export interface Surroundings {
  readonly ports: Pick<
    HostPorts<XdsServer>,
    'source' | 'store' | 'roster' | 'standing' | 'onDeletion' | 'onRosterFact'
  >
  /** Resolves once Envoys may be served, or `signal` has aborted. */
  readonly ready: (signal: AbortSignal) => Promise<void>
  /** Why that is not so yet, for people, and what to do; `undefined` where nobody knows. */
  readonly whyNotReady: () => string | undefined
  /** Aborts when this control plane must end for another one; its reason says why, for people. */
  readonly over: AbortSignal
  /** Does what there is to be done beside the host, until its signal aborts. */
  readonly begin: (host: RunningHost<XdsServer>, signal: AbortSignal) => Promise<void>
  /** Is called once everything else has ended, and resolves when nothing is left to do. */
  readonly close: () => Promise<void>
}

/** Left says why it cannot be had, for people. */
export type MakingSurroundings = Promise<Either<ReadonlyArray<string>, Surroundings>>
