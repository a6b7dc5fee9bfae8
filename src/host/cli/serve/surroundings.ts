import type { Either } from 'fp-ts/lib/Either.js'
import type { HostPorts, RunningHost } from '../../start-host.js'
import type { XdsServer } from '../peers.js'

/** What `serve` works with that depends on where the routes come from. */
export interface Surroundings {
  readonly ports: Pick<
    HostPorts<XdsServer>,
    'source' | 'store' | 'roster' | 'onDeletion' | 'onRosterFact'
  >
  /** Resolves once Envoys may be served, or `signal` has aborted. */
  readonly ready: (signal: AbortSignal) => Promise<void>
  /** Aborts when this control plane must end for another one; its reason says why, for people. */
  readonly over: AbortSignal
  /** Does what there is to be done beside the host, until its signal aborts. */
  readonly begin: (host: RunningHost<XdsServer>, signal: AbortSignal) => Promise<void>
  /** Is called once everything else has ended, and resolves when nothing is left to do. */
  readonly close: () => Promise<void>
}

/** Left says why it cannot be had, for people. */
export type MakingSurroundings = Promise<Either<ReadonlyArray<string>, Surroundings>>
