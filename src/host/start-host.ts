import type { NotYet } from '../core/deletion.js'
import type { NodeMemory } from '../core/xds/node-memory.js'
import type { DeletionProof } from '../ports/deletion-proof.js'
import type { RosterStore } from '../ports/roster-store.js'
import type { RouteStore } from '../ports/route-store.js'
import type { SnapshotSink } from '../ports/snapshot-sink.js'
import type { XdsObserver } from '../ports/xds-observer.js'
import { watchActivity } from './activity.js'
import { type Controller, type ControllerPorts, startController } from './controller.js'
import {
  keepRoster,
  type KeepRosterPorts,
  type RosterFact,
  type RosterKeeper,
} from './keep-roster.js'
import { makeOperator } from './make-operator.js'
import type { Operator } from './operator.js'

/** Whoever brings snapshots to Envoys, and can prove what they hold. */
export interface EnvoyFleet extends SnapshotSink, DeletionProof {
  /** What is remembered of all nodes, those that are connected included. */
  readonly memory: () => ReadonlyMap<string, NodeMemory>
  /** Resolves once it has stopped, which it does with the signal that it was started with. */
  readonly finished?: Promise<void>
}

/** What a fleet is to be started with. */
export interface FleetStart {
  /** What is known of the nodes from before. */
  readonly memory: ReadonlyMap<string, NodeMemory>
  /** Must hear all that happens. */
  readonly observer: XdsObserver
  /** Route tables wait until a node is admitted. */
  readonly keepsRoster: true
  /** Ends the fleet: with the host, also where a bug is what ends it. The second argument of `serveXds`. */
  readonly signal: AbortSignal
}

export interface HostPorts<Fleet extends EnvoyFleet>
  extends
    Omit<ControllerPorts, 'sink' | 'ledger' | 'deletion'>,
    Pick<KeepRosterPorts, 'forgetNodeAfterMs' | 'startWaitMs' | 'standing'> {
  /** Where the list of Envoys outlives the process. */
  readonly roster: RosterStore
  /** Where finalizers and conditions are written; absent for a source without finalizers. */
  readonly store?: RouteStore
  /** Starts serving Envoys until `start.signal` aborts; `serveXds(…, start.signal)` as a rule. */
  readonly serve: (start: FleetStart) => Fleet | Promise<Fleet>
  /** Is told what becomes of the list of Envoys, which is logged too. What it throws is logged. */
  readonly onRosterFact?: (fact: RosterFact) => void
  /** Is told of everything that happens between the fleet and its Envoys. */
  readonly observer?: XdsObserver
}

/** A control plane at work. */
export interface RunningHost<Fleet extends EnvoyFleet> {
  readonly fleet: Fleet
  readonly controller: Controller
  readonly operator: Operator
  /** Why nothing may be released at the moment, whatever the Envoys have confirmed; `undefined` if something may. */
  readonly notYet: () => NotYet | undefined
  /** Resolves once everything has stopped, the fleet too, and the roster is written; rejects only for a bug. */
  readonly finished: Promise<void>
}

/**
 * Starts a control plane that lets go of no route before every Envoy has: the roster, the fleet, the controller,
 * in the order that the proof needs.
 *
 * No two processes may keep one roster at a time, unless `standing` says what this one knows of the others.
 *
 * The roster is read first, however long that takes. Resolves as soon as Envoys can connect, and with
 * `undefined` if the signal has aborted before; rejects if `serve` does.
 */
export const startHost = async <Fleet extends EnvoyFleet>(
  ports: HostPorts<Fleet>,
  signal: AbortSignal,
): Promise<RunningHost<Fleet> | undefined> => {
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, failed.signal])
  const { store, clock, onRosterFact } = ports
  const keeper = keepRoster(
    { ...ports, store: ports.roster, ...(onRosterFact !== undefined && { onFact: onRosterFact }) },
    stop,
  )
  const memory = await keeper.loaded
  if (memory === undefined) return undefined
  const activity = watchActivity(clock)
  const observer = inOrder(activity.observer, keeper.observer, ports.observer)
  try {
    const fleet = await ports.serve({ memory, observer, keepsRoster: true, signal: stop })
    keeper.attach(fleet)
    const gate = { ...keeper, notYet: keeper.gate }
    const deletion = { proof: fleet, gate, ...(store !== undefined && { store }) }
    const controller = startController({ ...ports, sink: fleet, deletion }, stop)
    const operator = makeOperator({
      controller,
      ledger: fleet,
      activity,
      clock,
      notYet: keeper.gate,
      waitingSince: keeper.waitingSince,
      forget: keeper.forget,
      ...(store !== undefined && { store }),
    })
    const finished = finish(controller, fleet, keeper, failed)
    return { fleet, controller, operator, notYet: keeper.gate, finished }
  } catch (cause) {
    failed.abort(cause)
    await keeper.finished
    throw cause
  }
}

/** Each event for each of them, in their order. */
const inOrder =
  (...observers: ReadonlyArray<XdsObserver | undefined>): XdsObserver =>
  (event) => {
    for (const observe of observers) observe?.(event)
  }

/** Whatever ends the controller ends the others too; all of them are waited for, and a bug is told then. */
const finish = async (
  controller: Controller,
  fleet: EnvoyFleet,
  keeper: RosterKeeper,
  failed: AbortController,
): Promise<void> => {
  const running = controller.finished.finally(() => failed.abort())
  const ends = await Promise.allSettled([running, fleet.finished, keeper.finished])
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
