import { type Context, defaultContext } from '../core/context.js'
import type { FormLimits } from '../core/form-choice.js'
import { alarm } from '../core/alarm.js'
import type { NotYet } from '../core/deletion.js'
import { breakGlass, noteWritten, type RecordedFact } from '../core/deletions.js'
import type { Snapshot } from '../core/snapshot.js'
import type { Translation } from '../core/translate.js'
import { renewableTranslator } from '../core/translator.js'
import type { Clock } from '../ports/clock.js'
import type { DeletionProof } from '../ports/deletion-proof.js'
import { guardedLogger } from '../ports/faults.js'
import type { LedgerSource } from '../ports/ledger-source.js'
import { type Logger, silentLogger } from '../ports/logger.js'
import { type Metrics, noMetrics } from '../ports/metrics.js'
import type { RouteSource, SourceState } from '../ports/route-source.js'
import type { RouteStore } from '../ports/route-store.js'
import type { SnapshotSink } from '../ports/snapshot-sink.js'
import { followLedger, type LedgerFollower, proofDelayMs, statusDelayMs } from './follow-ledger.js'
import { handOut } from './hand-out.js'
import { type AuditPorts, keepAudit } from './keep-audit.js'
import { type Passes, passesOf, type PassHandlers } from './passes.js'
import { publishedWorld } from './published.js'
import { nextTimer, type Reconciled, type ReconcilePorts } from './reconcile.js'
import { reporter } from './report.js'
import { superviseSource } from './supervise.js'
import { latestOf } from './latest-of.js'
import { type WriteBack, writeBack } from './write-back.js'

/** What the controller works with. */
export interface ControllerPorts {
  readonly source: RouteSource
  readonly sink: SnapshotSink
  readonly clock: Clock
  /** What the Envoys of the sink hold; if absent, verdicts do not say what is programmed. */
  readonly ledger?: LedgerSource
  /** Holds every route until all Envoys have let go of it; if absent, what is deleted is gone at once. */
  readonly deletion?: DeletionPorts
  /** `defaultContext` if absent. */
  readonly context?: Context
  /** When the tables of a data plane that may have shards are put into them; `formLimits` of the core if absent. */
  readonly formLimits?: FormLimits
  readonly logger?: Logger
  readonly metrics?: Metrics
  /**
   * Is told of the first translation, and again each time that a verdict is another one: because the
   * routes have changed, or how far the Envoys are with them.
   */
  readonly onVerdicts?: (translation: Translation) => void
  /** Is told what becomes of objects that are deleted. Must not throw. */
  readonly onDeletion?: (fact: RecordedFact) => void
  /** Spreads the pauses between tries, in [0, 1); `Math.random` if absent. */
  readonly random?: () => number
}

/** What a proven deletion takes. */
export interface DeletionPorts {
  /** Who can prove it; stands in the place of `ledger`. */
  readonly proof: DeletionProof
  /** Says why nothing counts as proven at the moment; if absent, there never is a reason. */
  readonly gate?: ReleaseGate
  /** Where finalizers and conditions are written; absent for a source without finalizers. */
  readonly store?: RouteStore
}

/** What keeps everything from being released. */
export interface ReleaseGate {
  readonly notYet: () => NotYet | undefined
  /** Calls the listener when `notYet` may say something else, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void
  /** Is called each time that the source has given a complete state. */
  readonly sourcesRead?: () => void
}

/** A controller at work. */
export interface Controller {
  /** Resolves once it has stopped; rejects only for a bug in edgewright or in an adapter. */
  readonly finished: Promise<void>
  /** What it knows at the moment, as plain data. */
  readonly state: () => Reconciled
  /** Looks at the Envoys at once, in place of a moment later. */
  readonly look: () => void
  /**
   * Waits no more for an object in a source without finalizers. One that is stored goes when its finalizer
   * is taken off.
   */
  readonly stopWaiting: (uid: string) => void
}

/**
 * Keeps Envoys in step with a source of routes: observe, translate, publish, report, write.
 *
 * Nothing is published before the source has given its first complete state, and nothing at all
 * while the result stays the same. A source that ends is started again with backoff, and what was
 * published stays. Resolves once `signal` has aborted and the source has ended; rejects only for a
 * bug in edgewright or in an adapter.
 */
export const runController = (ports: ControllerPorts, signal: AbortSignal): Promise<void> =>
  startController(ports, signal).finished

/** Starts what `runController` runs, and lets its host look into it. */
export const startController = (given: ControllerPorts, signal: AbortSignal): Controller => {
  const ports = { ...defaults, ...given, logger: guardedLogger(given.logger ?? silentLogger) }
  const { clock, deletion } = ports
  const ledger = deletion?.proof ?? ports.ledger
  const failure = new AbortController()
  const stop = AbortSignal.any([signal, failure.signal])
  const reports = reporter(ports)
  const onPass: PassHandlers['onPass'] = (before, after, facts) => {
    reports.pass(before, after, facts)
    if (writes !== undefined) handOut(writes, before, after)
    wake.set(nextTimer(after))
  }
  const onBug = (bug: unknown): void => failure.abort(bug)
  const passes = passesOf(passPortsOf(ports, ledger), { onPass, onBug }, stop)
  const wake = alarm(clock, () => passes.look())
  const writes = deletion?.store && writesOf(ports, deletion.store, passes, stop)
  const inbox = latestOf(clock, (state: SourceState) => {
    deletion?.gate?.sourcesRead?.()
    passes.reconcile(state)
  })
  const follower = ledger && followEvidence(ports, ledger, passes)
  const endAudits = startAudits(auditPortsOf(ports, passes), onBug, stop)
  const run = async (): Promise<void> => {
    try {
      await superviseSource(ports, inbox.put, stop)
    } finally {
      inbox.close()
      follower?.close()
      wake.set(undefined)
      await Promise.all([writes?.close(), endAudits()])
    }
    failure.signal.throwIfAborted()
  }
  return {
    finished: run(),
    state: passes.state,
    look: () => passes.look(),
    stopWaiting: (uid) => passes.settle((of, evidence) => breakGlass(of, uid, evidence)),
  }
}

const defaults: Required<
  Omit<ControllerPorts, 'source' | 'sink' | 'clock' | 'ledger' | 'deletion' | 'formLimits'>
> = {
  context: defaultContext,
  logger: silentLogger,
  metrics: noMetrics,
  onVerdicts: (): void => undefined,
  onDeletion: (): void => undefined,
  random: Math.random,
}

type Defaulted = ControllerPorts & typeof defaults

const passPortsOf = (
  { context, clock, sink, deletion, formLimits }: Defaulted,
  ledger: LedgerSource | undefined,
): ReconcilePorts => ({
  context,
  translator: renewableTranslator(context.dataPlanes),
  clock,
  ...(formLimits !== undefined && { formLimits }),
  publish: (snapshot: Snapshot) => sink.publish(snapshot),
  ledger,
  proof: deletion?.proof,
  notYet: () => deletion?.gate?.notYet(),
})

/** Gives what ends them. */
const startAudits = (
  ports: AuditPorts,
  onBug: (bug: unknown) => void,
  stop: AbortSignal,
): (() => Promise<void>) => {
  const over = new AbortController()
  const audits = keepAudit(ports, AbortSignal.any([stop, over.signal])).catch(onBug)
  return () => {
    over.abort()
    return audits
  }
}

const auditPortsOf = (ports: Defaulted, { state, renew }: Passes): AuditPorts => ({
  ...ports,
  dataPlanes: ports.context.dataPlanes,
  published: () => publishedWorld({ ...ports, proof: ports.deletion?.proof }, state()),
  renew,
})

/** What is written is what the passes have come to, as long as there are any. */
const writesOf = (
  ports: Defaulted,
  store: RouteStore,
  { state, look, settle }: Passes,
  stop: AbortSignal,
): WriteBack =>
  writeBack({
    ...ports,
    store,
    recordOf: (uid) => (stop.aborted ? undefined : state().deletions.records.get(uid)),
    lookAt: look,
    verdictOf: (uid) => state().verdicts.get(uid),
    onWritten: (uid, write, problem) => settle((of) => [noteWritten(of, uid, write, problem), []]),
  })

/** Looks again when there may be more to see: what the Envoys hold has changed, or what keeps it from counting. */
const followEvidence = (
  { clock, deletion }: Defaulted,
  ledger: LedgerSource,
  { state, look }: Passes,
): LedgerFollower => {
  const follower = followLedger(ledger, clock, look, () => patience(state()))
  const stopGate = deletion?.gate?.onChange(follower.lookSoon)
  const close = (): void => {
    follower.close()
    stopGate?.()
  }
  return { ...follower, close }
}

const patience = ({ deletions }: Reconciled): number =>
  deletions.pending.size > 0 ? proofDelayMs : statusDelayMs
