import { type Context, defaultContext } from '../core/context.js'
import { reuse, type Snapshot } from '../core/snapshot.js'
import { translate, type Translation } from '../core/translate.js'
import type { Verdict } from '../core/verdict.js'
import type { Clock } from '../ports/clock.js'
import { type Logger, silentLogger } from '../ports/logger.js'
import { type Metrics, noMetrics } from '../ports/metrics.js'
import type { RouteSource, SourceState } from '../ports/route-source.js'
import type { SnapshotSink } from '../ports/snapshot-sink.js'
import { changesOf, type Complaints, complaintsOf, noComplaints } from './complaints.js'
import { superviseSource } from './supervise.js'

/** What the controller works with. */
export interface ControllerPorts {
  readonly source: RouteSource
  readonly sink: SnapshotSink
  readonly clock: Clock
  /** `defaultContext` if absent. */
  readonly context?: Context
  readonly logger?: Logger
  readonly metrics?: Metrics
  /** Is told of the first translation, and of each one whose verdicts differ from those before. */
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
  const inbox = latestOf(ports.clock, (state: SourceState) => {
    try {
      reconciled = reconcile(ports, reconciled, state)
    } catch (bug) {
      failure.abort(bug)
    }
  })
  try {
    await superviseSource(ports, inbox.put, stop)
  } finally {
    inbox.close()
  }
  failure.signal.throwIfAborted()
}

type Ports = Required<ControllerPorts>

const defaults: Omit<Ports, 'source' | 'sink' | 'clock'> = {
  context: defaultContext,
  logger: silentLogger,
  metrics: noMetrics,
  onVerdicts: (): void => undefined,
  random: Math.random,
}

/** What the last pass through the loop has left behind. */
interface Reconciled {
  readonly snapshot: Snapshot | undefined
  readonly verdicts: ReadonlyMap<string, Verdict> | undefined
  readonly complaints: Complaints
}

const nothingYet: Reconciled = {
  snapshot: undefined,
  verdicts: undefined,
  complaints: noComplaints,
}

const reconcile = (ports: Ports, before: Reconciled, state: SourceState): Reconciled => {
  const translation = translate(state.routes, ports.context)
  ports.metrics.add('edgewright_translations_total', {}, 1)
  const snapshot = publish(ports, before.snapshot, translation)
  const complaints = complaintsOf(state.problems, translation.verdicts.values())
  reportComplaints(ports.logger, before.complaints, complaints)
  reportMetrics(ports.metrics, translation, state)
  if (before.verdicts === undefined || !sameVerdicts(before.verdicts, translation.verdicts))
    ports.onVerdicts(translation)
  return { snapshot, verdicts: translation.verdicts, complaints }
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

const countAccepted = (verdicts: ReadonlyMap<string, Verdict>): number =>
  [...verdicts.values()].filter(({ accepted }) => accepted._tag === 'Accepted').length

const sameVerdicts = (
  before: ReadonlyMap<string, Verdict>,
  after: ReadonlyMap<string, Verdict>,
): boolean =>
  before.size === after.size &&
  [...after].every(([uid, verdict]) => isSame(before.get(uid), verdict))

/** Verdicts are plain data, and are always put together in the same order of fields. */
const isSame = (a: Verdict | undefined, b: Verdict): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)

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
