import type { Context } from '../core/context.js'
import type { NotYet } from '../core/deletion.js'
import {
  type Deletions,
  type DeletionsStep,
  type EvidenceOf,
  lookAgain as lookAtDeletions,
  nextDeletionsTimer,
  noDeletions,
  noteForgotten,
  observe,
  type RecordedFact,
} from '../core/deletions.js'
import {
  type FormChoices,
  type FormLimits,
  nextFormTimer,
  noFormChoices,
} from '../core/form-choice.js'
import { type InService, nothingInService } from '../core/in-service.js'
import { evidenceOf, forgottenSince } from '../core/evidence.js'
import { type Ledger, mayStillServe } from '../core/ledger.js'
import { nextProgrammedTimer } from '../core/programmed.js'
import { emptyOrderedMap } from '../core/ordered-map.js'
import type { Uid } from '../core/resource.js'
import type { Snapshot } from '../core/snapshot.js'
import type { Translation } from '../core/translate.js'
import type { RenewableTranslator } from '../core/translator.js'
import type { Clock } from '../ports/clock.js'
import type { DeletionProof } from '../ports/deletion-proof.js'
import type { LedgerSource } from '../ports/ledger-source.js'
import type { SourceProblem, SourceState } from '../ports/route-source.js'
import { ownState } from './own-state.js'
import { inForms, publish, publishedWorld, withDueForms, withTranslation } from './published.js'
import { dateConditions, type DatedConditions, nothingDated } from './dated-conditions.js'
import { type Sources, withDeletions } from './deletion-verdicts.js'
import {
  judge,
  type Judged,
  judgedBefore,
  nothingJudged,
  type Verdicts,
} from './programmed-verdicts.js'

/** What one pass needs. */
export interface ReconcilePorts {
  /** The data planes, and what routes may send to where the source says nothing of it. */
  readonly context: Context
  /** Of these data planes; it has seen nothing yet. */
  readonly translator: RenewableTranslator
  readonly clock: Clock
  /** When tables take another form; `formLimits` of the core if absent. */
  readonly formLimits?: FormLimits
  readonly publish: (snapshot: Snapshot) => void
  readonly ledger: LedgerSource | undefined
  readonly proof: DeletionProof | undefined
  /** A reason why nothing counts as proven at the moment. */
  readonly notYet: () => NotYet | undefined
}

/** What the last pass has left behind. */
export interface Reconciled {
  /** What the source has shown last; `undefined` before its first state. */
  readonly given: SourceState | undefined
  /** What of it is ours. */
  readonly seen: SourceState | undefined
  /** What is published, with what `translate` says of it. */
  readonly published: Translation | undefined
  /** In which forms its tables are. */
  readonly choices: FormChoices
  /** The routes that it is one of, where deletions are proven. */
  readonly inService: InService
  readonly deletions: Deletions
  /** What the Envoys held when the deletions were looked at last. */
  readonly ledger: Ledger | undefined
  /** The nodes that were forgotten before the source had shown anything. */
  readonly early: Ledger['nodes']
  readonly judged: Judged
  /** What is said of every object. */
  readonly verdicts: Verdicts
  /** The same as dated conditions, in a source without finalizers. */
  readonly dated: DatedConditions
}

export const nothingYet: Reconciled = {
  given: undefined,
  seen: undefined,
  published: undefined,
  choices: noFormChoices,
  inService: nothingInService,
  deletions: noDeletions,
  ledger: undefined,
  early: [],
  judged: nothingJudged,
  verdicts: emptyOrderedMap,
  dated: nothingDated,
}

export type Reconciliation = readonly [state: Reconciled, facts: ReadonlyArray<RecordedFact>]

const noProblems: ReadonlyArray<SourceProblem> = []

/**
 * Takes in a state of the source: translates and publishes what is to be served, in the form that so many hosts are to
 * have, and only then asks who has let go of the rest.
 */
export const reconcile = (
  ports: ReconcilePorts,
  before: Reconciled,
  state: SourceState,
): Reconciliation => {
  const seen = ownState(state, ports.context.dataPlanes, before)
  const { translated, inService } = withTranslation(ports, before, seen)
  const formed = inForms(ports, before.choices, translated)
  publish(ports, before, formed.published)
  const judged = before.seen === undefined ? judgedBefore(seen.objects ?? []) : before.judged
  const next = { ...before, given: state, seen, ...formed, inService, judged }
  return advance(ports, before, next, (of, evidence) =>
    observe(of, seen, evidence, ports.clock.nowMs()),
  )
}

/** What is published is not to be relied on: translates all of it anew. */
export const renew = (ports: ReconcilePorts, before: Reconciled): Reconciliation => {
  const known = publishedWorld(ports, before)
  if (known === undefined) return [before, []]
  const published = ports.translator.renew(known.world)
  ports.publish(published.snapshot)
  const { clock } = ports
  return advance(ports, before, { ...before, published }, (of, evidence) =>
    lookAtDeletions(of, evidence, clock.nowMs()),
  )
}

/**
 * The Envoys may have gone on, or time has; with `uid` only that object is asked for. A switch to another form that was
 * to wait takes place when it is time.
 */
export const lookAgain = (ports: ReconcilePorts, before: Reconciled, uid?: Uid): Reconciliation =>
  advance(ports, before, withDueForms(ports, before), (of, evidence) =>
    lookAtDeletions(of, evidence, ports.clock.nowMs(), uid),
  )

/** A step of the deletions, by what the Envoys hold. */
export type DeletionsChange = (deletions: Deletions, evidence: EvidenceOf) => DeletionsStep

/** Advances the deletions by one step. Once one waits, every Envoy has to say anew what it holds. */
export const settleDeletions = (
  ports: ReconcilePorts,
  before: Reconciled,
  step: DeletionsChange,
): Reconciliation => advance(ports, before, before, step)

/** `given` is `before` with what has become of it so far. */
const advance = (
  ports: ReconcilePorts,
  before: Reconciled,
  given: Reconciled,
  step: DeletionsChange,
): Reconciliation => {
  const { proof, clock } = ports
  if (proof === undefined) return [judged(ports, before, given), []]
  const ledger = proof.ledger()
  const { early, ...noted } = withForgotten(given, ledger)
  const [stepped, facts] = step(noted.deletions, evidenceFrom(ports, ledger))
  const isUnread = noted.seen === undefined
  const now = { ...noted, early: isUnread ? early : [] }
  const isFirst = before.seen === undefined && !isUnread
  const deletions = isFirst ? noteServers(stepped, ledger, early) : stepped
  const isWaiting = deletions.pending.size > 0
  if (isWaiting === now.deletions.pending.size > 0)
    return [judged(ports, before, { ...now, deletions, ledger }), facts]
  proof.demandAcks(isWaiting)
  // What they are now asked to say again was taken for proven a moment ago.
  const [asked, more] = lookAtDeletions(
    deletions,
    evidenceFrom(ports, proof.ledger()),
    clock.nowMs(),
  )
  return [judged(ports, before, { ...now, deletions: asked, ledger }), [...facts, ...more]]
}

/**
 * Of an Envoy that is forgotten nobody waits for, but whoever is told of the end should know. What was being deleted
 * before the source had shown anything has waited for those, too, that were forgotten by then.
 */
const withForgotten = (state: Reconciled, ledger: Ledger): Reconciled => {
  const { deletions, early, ledger: before } = state
  const nodes = before === undefined ? [] : forgottenSince(before, ledger)
  if (before === undefined || nodes.length === 0) return state
  return {
    ...state,
    deletions: noteServers(deletions, before, nodes),
    early: [...early, ...nodes],
  }
}

const noteServers = (deletions: Deletions, ledger: Ledger, nodes: Ledger['nodes']): Deletions =>
  nodes.length === 0
    ? deletions
    : noteForgotten(deletions, (uid) =>
        mayStillServe({ ...ledger, nodes }, uid).map(({ id }) => id),
      )

/** When to look again although nothing has happened, in milliseconds. */
export const nextTimer = ({
  judged: { programmed },
  deletions,
  choices,
}: Reconciled): number | undefined => {
  const times = [
    nextProgrammedTimer(programmed),
    nextDeletionsTimer(deletions),
    nextFormTimer(choices),
  ].flatMap((at) => at ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}

/** Of one moment: all objects are judged by the same ledger. */
const evidenceFrom = (ports: ReconcilePorts, ledger: Ledger): EvidenceOf => {
  const closed = ports.notYet()
  return (uid) => evidenceOf(ledger, closed, uid)
}

/** The verdicts are the very same where nothing has changed: a look that finds nothing costs O(nodes). */
const judged = (ports: ReconcilePorts, before: Reconciled, state: Reconciled): Reconciled => {
  const { published, seen, deletions } = state
  if (published === undefined) return state
  const next = judge(state.judged, published, ports.ledger?.ledger(), ports.clock.nowMs())
  const isSame =
    next.verdicts === before.judged.verdicts &&
    deletions.records === before.deletions.records &&
    seen === before.seen
  if (isSame) return { ...state, judged: next, verdicts: before.verdicts }
  const verdicts = withDeletions(
    sourcesOf(before),
    before.verdicts,
    sourcesOf({ ...state, judged: next }),
  )
  // Without a proof there is no operator, and nobody asks.
  const isAsked = ports.proof !== undefined && seen?.objects === undefined
  const dated = isAsked ? dateConditions(state.dated, verdicts, ports.clock.nowMs()) : nothingDated
  return { ...state, judged: next, verdicts, dated }
}

const sourcesOf = ({ judged, deletions, seen }: Reconciled): Sources => ({
  judged: judged.verdicts,
  records: deletions.records,
  problems: seen?.problems ?? noProblems,
})
