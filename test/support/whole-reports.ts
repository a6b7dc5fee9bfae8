import { wantedWrite } from '../../src/core/deletion.js'
import { showKey } from '../../src/core/edge-route.js'
import type { Verdict } from '../../src/core/verdict.js'
import { problemWords, refusedListener, verdictWords } from '../../src/host/complaints/words.js'
import type { Wanted } from '../../src/host/hand-out.js'
import type { Verdicts } from '../../src/host/programmed-verdicts.js'
import type { Reconciled } from '../../src/host/reconcile.js'
import type { ReportPorts } from '../../src/host/report.js'
import type { WriteBack } from '../../src/host/write-back.js'
import type { SourceProblem } from '../../src/ports/route-source.js'

type WholePorts = Pick<ReportPorts, 'logger' | 'metrics' | 'onVerdicts'>
type Complaints = ReadonlyMap<string, { about: keyof typeof words; where: string; message: string }>

const words = {
  source: 'cannot be read',
  route: 'not served as asked',
  listener: 'an Envoy serves nothing there',
} as const

/**
 * What the reporter of the host says of routes, by going through all of them each time: obviously right, and too slow
 * for many.
 */
export const wholeReporter = ({ logger, metrics, onVerdicts }: WholePorts) => {
  let known: Complaints = new Map()
  const publish = (before: Reconciled, { published, seen }: Reconciled): void => {
    if (published === undefined || published === before.published) return
    const { verdicts, snapshot } = published
    const accepted = [...verdicts.values()].filter(
      (each) => each.accepted._tag === 'Accepted',
    ).length
    metrics.add('edgewright_translations_total', {}, 1)
    metrics.set('edgewright_routes', { accepted: 'true' }, accepted)
    metrics.set('edgewright_routes', { accepted: 'false' }, verdicts.size - accepted)
    metrics.set('edgewright_source_problems', {}, seen?.problems.length ?? 0)
    if (snapshot === before.published?.snapshot) return
    metrics.add('edgewright_publishes_total', {}, 1)
    logger.log('info', 'published', { routes: verdicts.size, accepted })
  }
  return (before: Reconciled, after: Reconciled): void => {
    publish(before, after)
    metrics.set('edgewright_terminating', {}, after.deletions.pending.size)
    const { published, seen, verdicts } = after
    if (published === undefined || seen === undefined) return
    const next = allComplaints(seen.problems, [...verdicts.values()])
    for (const [key, { about, where, message }] of next)
      if (known.get(key)?.message !== message)
        logger.log('warn', words[about], { where, problem: message })
    for (const [key, { about, where }] of known) {
      if (next.has(key)) continue
      const verdict = verdicts.get(key.slice('route:'.length))
      const isDeleted = verdict === undefined || verdict.accepted._tag === 'Terminating'
      logger.log('info', about === 'route' && isDeleted ? 'wanted no more' : 'resolved', { where })
    }
    known = next
    const isKnown = before.published !== undefined && inBytes(before.verdicts) === inBytes(verdicts)
    if (!isKnown) onVerdicts({ ...published, verdicts })
  }
}

const inBytes = (verdicts: Verdicts): string => JSON.stringify([...verdicts])

const allComplaints = (
  problems: ReadonlyArray<SourceProblem>,
  verdicts: ReadonlyArray<Verdict>,
): Complaints => {
  const complaints = new Map<
    string,
    { about: keyof typeof words; where: string; message: string }
  >()
  const judged = new Set(verdicts.map(({ key }) => showKey(key)))
  for (const problem of problems) {
    const { where } = problem
    const others = complaints.get(`source:${where}`)
    const message = problemWords(problem, (name) => judged.has(name))
    const all = others === undefined ? message : `${others.message}; ${message}`
    complaints.set(`source:${where}`, { about: 'source', where, message: all })
  }
  for (const verdict of verdicts) {
    const refused = refusedListener(verdict)
    if (refused !== undefined)
      complaints.set(`listener:${refused.where}`, { about: 'listener', ...refused })
    const message = verdictWords(verdict)
    if (message === undefined) continue
    complaints.set(`route:${verdict.uid}`, { about: 'route', where: showKey(verdict.key), message })
  }
  return complaints
}

/** What is handed out for writing, by asking every object. */
export const wholeHandOut = (
  writes: Pick<WriteBack, 'finalizer' | 'conditions'>,
  before: Wanted,
  after: Wanted,
): void => {
  const { records } = after.deletions
  for (const [uid, record] of records) {
    const known = before.deletions.records.get(uid)
    if (known !== record && wantedWrite(record.state) !== undefined)
      writes.finalizer(uid, known?.object?.resourceVersion !== record.object?.resourceVersion)
    const isSame =
      before.verdicts.get(uid) === after.verdicts.get(uid) && known?.object === record.object
    if (!isSame) writes.conditions(uid, record.object?.deletionTimestamp !== undefined)
  }
  for (const uid of before.deletions.records.keys())
    if (!records.has(uid)) writes.conditions(uid, false)
}
