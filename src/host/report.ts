import type { DeletionFact } from '../core/deletion.js'
import type { RecordedFact } from '../core/deletions.js'
import { showKey } from '../core/edge-route.js'
import { changedKeys, emptyOrderedMap } from '../core/ordered-map.js'
import { type TableForm } from '../core/table-form.js'
import { showNodes, showNotYet } from '../core/status.js'
import type { Translation } from '../core/translate.js'
import type { Logger } from '../ports/logger.js'
import type { Metrics } from '../ports/metrics.js'
import { changesOf, type Complaints, complaintsAfter, noComplaints } from './complaints.js'
import { sameVerdicts, type Verdicts } from './programmed-verdicts.js'
import type { Reconciled } from './reconcile.js'
import { lostReporter } from './report-lost.js'

export interface ReportPorts {
  readonly logger: Logger
  readonly metrics: Metrics
  readonly onVerdicts: (translation: Translation) => void
  readonly onDeletion: (fact: RecordedFact) => void
}

/** Says what one pass has changed: to the log, in figures, and to whoever listens. */
export interface Reporter {
  readonly pass: (before: Reconciled, after: Reconciled, facts: ReadonlyArray<RecordedFact>) => void
}

/** Makes a reporter, which says nothing twice. A pass costs what a change touches, but for a list of problems. */
export const reporter = (ports: ReportPorts): Reporter => {
  let complaints = noComplaints
  let counted = nothingCounted
  const reportLost = lostReporter(ports.logger)
  return {
    pass: (before, after, facts) => {
      if (after.published !== undefined && after.published !== before.published) {
        counted = countAccepted(counted, after.published.verdicts)
        reportPublish(ports, counted, before, after)
      }
      reportForms(ports, before, after)
      for (const each of facts) {
        reportDeletion(ports, each)
        ports.onDeletion(each)
      }
      reportLost(after)
      ports.metrics.set('edgewright_terminating', {}, after.deletions.pending.size)
      complaints = reportVerdicts(ports, complaints, before, after)
    },
  }
}

/** How many of these routes are accepted. */
interface Counted {
  readonly verdicts: Verdicts
  readonly accepted: number
}

const nothingCounted: Counted = { verdicts: emptyOrderedMap, accepted: 0 }

/** Counts those that have changed. */
const countAccepted = (before: Counted, verdicts: Verdicts): Counted => {
  const changed = changedKeys(before.verdicts, verdicts)
  const count = (of: Verdicts): number =>
    changed.filter((uid) => of.get(uid)?.accepted._tag === 'Accepted').length
  return { verdicts, accepted: before.accepted - count(before.verdicts) + count(verdicts) }
}

const reportPublish = (
  { logger, metrics }: ReportPorts,
  { verdicts, accepted }: Counted,
  before: Reconciled,
  { published, seen }: Reconciled,
): void => {
  metrics.add('edgewright_translations_total', {}, 1)
  metrics.set('edgewright_routes', { accepted: 'true' }, accepted)
  metrics.set('edgewright_routes', { accepted: 'false' }, verdicts.size - accepted)
  metrics.set('edgewright_source_problems', {}, seen?.problems.length ?? 0)
  if (published?.snapshot === before.published?.snapshot) return
  metrics.add('edgewright_publishes_total', {}, 1)
  logger.log('info', 'published', { routes: verdicts.size, accepted })
}

/** The first choice of a data plane is told in figures only: it is no switch. */
const reportForms = (
  { logger, metrics }: ReportPorts,
  { choices: before }: Reconciled,
  { choices: after, published }: Reconciled,
): void => {
  if (after === before) return
  for (const [dataPlane, { form, switchedAt }] of after.byPlane) {
    const known = before.byPlane.get(dataPlane)
    if (known !== undefined && known.switchedAt === switchedAt) continue
    metrics.set('edgewright_route_table_shards', { data_plane: dataPlane }, shardsIn(form))
    if (known === undefined) continue
    const fields = { dataPlane, shards: shardsIn(form), hosts: published?.hosts.get(dataPlane) }
    logger.log('info', formWords[form._tag], fields)
  }
}

const shardsIn = (form: TableForm): number => (form._tag === 'Whole' ? 0 : form.shards)

const formWords = {
  Sharded: 'the hosts are many: their route tables are in shards from now on',
  Whole: 'the hosts are few: their route table is whole again',
} as const

const reportVerdicts = (
  { logger, onVerdicts }: ReportPorts,
  complaints: Complaints,
  before: Reconciled,
  { published, seen, verdicts }: Reconciled,
): Complaints => {
  if (published === undefined || seen === undefined) return complaints
  const next = complaintsAfter(complaints, seen.problems, verdicts)
  const { appeared, gone } = changesOf(complaints, next)
  for (const { about, where, message } of appeared)
    logger.log('warn', complaintWords[about], { where, problem: message })
  for (const { where, isWanted } of gone)
    logger.log('info', isWanted ? 'resolved' : 'wanted no more', { where })
  const isKnown = before.published !== undefined && sameVerdicts(before.verdicts, verdicts)
  if (!isKnown) onVerdicts({ ...published, verdicts })
  return next
}

const complaintWords = {
  source: 'cannot be read',
  route: 'not served as asked',
  listener: 'an Envoy serves nothing there',
} as const

const reportDeletion = ({ logger, metrics }: ReportPorts, { record, fact }: RecordedFact): void => {
  metrics.add('edgewright_deletions_total', { fact: fact._tag }, 1)
  const about = { where: showKey(record.key), uid: record.uid }
  const words = wordsOf(fact)
  logger.log(isBad(fact) ? 'warn' : 'info', words.message, { ...about, ...words.fields })
}

const isBad = ({ _tag }: DeletionFact): boolean => _tag === 'GlassBroken' || _tag === 'Overdue'

const wordsOf = (
  fact: DeletionFact,
): { readonly message: string; readonly fields: Readonly<Record<string, string>> } => {
  switch (fact._tag) {
    case 'Withdrawn':
      return {
        message: 'deleted: served no more, and waits for every Envoy to confirm',
        fields: {},
      }
    case 'CalledOff':
      return { message: 'no more deleted: it is there again, and is served', fields: {} }
    case 'Overdue':
      return {
        message: 'deleted, and for long not confirmed by every Envoy',
        fields: { waitsFor: showNotYet(fact.waitsFor) },
      }
    case 'Proven':
      return fact.forgotten === undefined
        ? { message: 'deleted: gone from every Envoy', fields: {} }
        : {
            message: 'deleted: gone from every Envoy that was not forgotten',
            fields: { forgotten: showNodes(fact.forgotten) },
          }
    case 'GlassBroken':
      return {
        message: 'gone before every Envoy has confirmed: some may serve it still',
        fields: { waitedFor: showNotYet(fact.waitedFor) },
      }
  }
}
