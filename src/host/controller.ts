import { type Context, defaultContext } from '../core/context.js'
import { nextProgrammedTimer } from '../core/programmed.js'
import { reuse, type Snapshot } from '../core/snapshot.js'
import { translate, type Translation } from '../core/translate.js'
import type { Clock } from '../ports/clock.js'
import type { LedgerSource } from '../ports/ledger-source.js'
import { type Logger, silentLogger } from '../ports/logger.js'
import { type Metrics, noMetrics } from '../ports/metrics.js'
import type { RouteSource, SourceProblem, SourceState } from '../ports/route-source.js'
import type { SnapshotSink } from '../ports/snapshot-sink.js'
import { changesOf, type Complaints, complaintsOf, noComplaints } from './complaints.js'
import { followLedger } from './follow-ledger.js'
import {
  judge,
  type Judged,
  nothingJudged,
  sameVerdicts,
  type Verdicts,
} from './programmed-verdicts.js'
import { superviseSource } from './supervise.js'

/** What the controller works with. */
export interface ControllerPorts {
  readonly source: RouteSource
  readonly sink: SnapshotSink
  readonly clock: Clock
  /** What the Envoys of the sink hold; if absent, verdicts do not say what is programmed. */
  readonly ledger?: LedgerSource
  /** `defaultContext` if absent. */
  readonly context?: Context
  readonly logger?: Logger
  readonly metrics?: Metrics
  /**
   * Is told of the first translation, and again each time that a verdict is another one: because the
   * routes have changed, or how far the Envoys are with them.
   */
  readonly onVerdicts?: (translation: Translation) => void
  /** Spreads the pauses between tries, in [0, 1); `Math.random` if absent. */
  readonly random?: () => number
}

/**
 * Keeps Envoys in step with a source of routes: observe, translate, publish, report.
 *
 * Nothing is published before the source has given its first complete state, and nothing at all
 * while the result stays the same. A source that ends is started again with backoff, and what was
 * published stays. Resolves once `signal` has aborted and the source has ended; rejects only for a
 * bug in edgewright or in an adapter.
 */
export const runController = async (given: ControllerPorts, signal: AbortSignal): Promise<void> => {
  const ports = { ...defaults, ...given }
  const failure = new AbortController()
  const stop = AbortSignal.any([signal, failure.signal])
  let reconciled = nothingYet
  const turnTo = (next: () => Reconciled): void => {
    try {
      reconciled = next()
      follower?.lookAt(nextProgrammedTimer(reconciled.judged.programmed))
    } catch (bug) {
      failure.abort(bug)
    }
  }
  const inbox = latestOf(ports.clock, (state: SourceState) =>
    turnTo(() => reconcile(ports, reconciled, state)),
  )
  const follower =
    ports.ledger &&
    followLedger(ports.ledger, ports.clock, () => turnTo(() => lookAgain(ports, reconciled)))
  try {
    await superviseSource(ports, inbox.put, stop)
  } finally {
    inbox.close()
    follower?.close()
  }
  failure.signal.throwIfAborted()
}

type Ports = ControllerPorts & typeof defaults

const defaults: Required<Omit<ControllerPorts, 'source' | 'sink' | 'clock' | 'ledger'>> = {
  context: defaultContext,
  logger: silentLogger,
  metrics: noMetrics,
  onVerdicts: (): void => undefined,
  random: Math.random,
}

/** What the last pass through the loop has left behind. */
interface Reconciled {
  /** What is published, with what `translate` says of it; `undefined` before the first publish. */
  readonly published: Translation | undefined
  readonly judged: Judged
  readonly problems: ReadonlyArray<SourceProblem>
  readonly complaints: Complaints
}

const nothingYet: Reconciled = {
  published: undefined,
  judged: nothingJudged,
  problems: [],
  complaints: noComplaints,
}

const reconcile = (ports: Ports, before: Reconciled, state: SourceState): Reconciled => {
  const translation = translate(state.routes, ports.context)
  ports.metrics.add('edgewright_translations_total', {}, 1)
  const snapshot = publish(ports, before.published?.snapshot, translation)
  reportMetrics(ports.metrics, translation, state)
  return report(ports, before, { ...translation, snapshot }, state.problems)
}

/** The Envoys may have gone on, or time has. */
const lookAgain = (ports: Ports, before: Reconciled): Reconciled =>
  before.published === undefined ? before : report(ports, before, before.published, before.problems)

/** Says of these routes what was not said before. */
const report = (
  ports: Ports,
  before: Reconciled,
  published: Translation,
  problems: ReadonlyArray<SourceProblem>,
): Reconciled => {
  const { clock, ledger, logger } = ports
  const judged = judge(before.judged, published, ledger?.ledger(), clock.nowMs())
  const { verdicts } = judged
  const isKnown = before.published !== undefined && sameVerdicts(before.judged.verdicts, verdicts)
  if (isKnown && before.problems === problems) return { ...before, published, judged }
  const complaints = complaintsOf(problems, verdicts.values())
  reportComplaints(logger, before.complaints, complaints)
  if (!isKnown) ports.onVerdicts({ snapshot: published.snapshot, verdicts })
  return { published, judged, problems, complaints }
}

/** Publishes what differs from what is published; returns what is published then. */
const publish = (
  { sink, logger, metrics }: Ports,
  before: Snapshot | undefined,
  { snapshot: next, verdicts }: Translation,
): Snapshot => {
  const snapshot = before === undefined ? next : reuse(before, next)
  if (snapshot === before) return before
  sink.publish(snapshot)
  metrics.add('edgewright_publishes_total', {}, 1)
  logger.log('info', 'published', { routes: verdicts.size, accepted: countAccepted(verdicts) })
  return snapshot
}

const reportComplaints = (logger: Logger, before: Complaints, after: Complaints): void => {
  const { appeared, gone } = changesOf(before, after)
  for (const { about, where, message } of appeared)
    logger.log('warn', complaintWords[about], { where, problem: message })
  for (const { where } of gone) logger.log('info', 'resolved', { where })
}

const complaintWords = { source: 'cannot be read', route: 'not served as asked' } as const

const reportMetrics = (
  metrics: Metrics,
  { verdicts }: Translation,
  { problems }: SourceState,
): void => {
  const accepted = countAccepted(verdicts)
  metrics.set('edgewright_routes', { accepted: 'true' }, accepted)
  metrics.set('edgewright_routes', { accepted: 'false' }, verdicts.size - accepted)
  metrics.set('edgewright_source_problems', {}, problems.length)
}

const countAccepted = (verdicts: Verdicts): number =>
  [...verdicts.values()].filter(({ accepted }) => accepted._tag === 'Accepted').length

/**
 * Hands on the latest of the values that arrive together, one macrotask after the first of them: a
 * lone change is not held up, and a burst costs one pass.
 */
const latestOf = <A>(
  clock: Clock,
  take: (value: A) => void,
): { readonly put: (value: A) => void; readonly close: () => void } => {
  let cancel: (() => void) | undefined
  let latest: A
  return {
    put: (value) => {
      latest = value
      cancel ??= clock.after(0, () => {
        cancel = undefined
        take(latest)
      })
    },
    close: () => cancel?.(),
  }
}
