import { headOf } from './cut-message.js'
import type { DeletionState, NotYet } from './deletion.js'
import { showKey } from './edge-route.js'
import { showFieldError } from './field-error.js'
import type { NamedNodes, Programmed, RefusedBy } from './programmed/statement.js'
import type { RulePath, ValuePredicate } from './rule.js'
import { finalizer } from './stored-object.js'
import type { Acceptance, Claim, LostClaim, Verdict } from './verdict.js'

/** A condition as Kubernetes has it (`metav1.Condition`). */
export interface Condition {
  readonly type: ConditionType
  readonly status: 'True' | 'False'
  /** One word in CamelCase, for programs. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string
  /** The generation of the object that this speaks of. */
  readonly observedGeneration: number
  /** RFC 3339; moves only when the status flips. */
  readonly lastTransitionTime: string
}

/** Those that are ours; `Deprogrammed` stands on objects that are being deleted, and on these alone. */
export const conditionTypes = ['Accepted', 'ResolvedRefs', 'Programmed', 'Deprogrammed'] as const
export type ConditionType = (typeof conditionTypes)[number]

/** True of the types that are ours. */
export const isConditionType = (type: unknown): type is ConditionType =>
  conditionTypes.some((own) => own === type)

/** A condition that is not yet dated. */
interface Statement {
  readonly type: ConditionType
  readonly holds: boolean
  readonly reason: string
  readonly message: string
  readonly generation: number
}

/**
 * The longest message that is written, in UTF-16 code units: the API server takes 32,768, and a person
 * reads less.
 */
const maxMessageLength = 1_024

/** How many lost claims are named; the rest is counted. */
const maxNamedClaims = 3

/**
 * Puts a verdict in the words of Kubernetes.
 *
 * `previous` are the conditions that the object has; a condition whose status is what it was keeps its
 * time, any other takes `now` (RFC 3339). A route that is not served at all says nothing of its references.
 * `Programmed` speaks of the generation that its Envoys were asked of, which may be an older one.
 */
export const conditionsOf = (
  verdict: Verdict,
  previous: ReadonlyArray<Condition>,
  now: string,
): ReadonlyArray<Condition> =>
  statements(verdict).map(({ type, holds, reason, message, generation }) => {
    const status = holds ? 'True' : 'False'
    const before = previous.find((condition) => condition.type === type)
    return {
      type,
      status,
      reason,
      message: cut(message),
      observedGeneration: generation,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : now,
    }
  })

/** Puts a verdict in one line for people, without the name of its route. */
export const showVerdict = (verdict: Verdict): string =>
  statements(verdict)
    .filter(({ type, holds }) => type === 'Accepted' || !holds)
    .map(({ reason, message }) => (message === '' ? reason : `${reason}: ${message}`))
    .join('; ')

const statements = (verdict: Verdict): ReadonlyArray<Statement> => {
  const { generation, programmed } = verdict
  const accepted = { ...acceptance(verdict.accepted), generation }
  const { deletion } = verdict
  if (deletion !== undefined && isDeletion(deletion))
    return [accepted, { ...deprogrammed(deletion), generation }]
  if (!isServed(verdict.accepted)) return [accepted]
  const served = [accepted, { ...resolvedRefs(verdict), generation }]
  return programmed === undefined
    ? served
    : [...served, { ...programmedWords(programmed), generation: programmed.generation }]
}

type Words = Omit<Statement, 'generation'>

/** True if at least one claim of the route is served. */
export const isServed = (accepted: Acceptance): boolean =>
  accepted._tag === 'Accepted' || (accepted._tag === 'Conflicted' && accepted.kept > 0)

const acceptance = (accepted: Acceptance): Words => {
  switch (accepted._tag) {
    case 'Accepted':
      return { type: 'Accepted', holds: true, reason: 'Accepted', message: '' }
    case 'Terminating':
      return refusal('Terminating', 'it is being deleted')
    case 'Unguarded':
      return refusal('Unguarded', showUnguarded(accepted.failure))
    case 'Invalid':
      return refusal('Invalid', accepted.errors.map(showFieldError).join('; '))
    case 'UnknownDataPlane':
      return refusal(
        'UnknownDataPlane',
        `spec.dataPlane: there is no data plane ${accepted.dataPlane}; ${listDataPlanes(accepted.known)}`,
      )
    case 'Conflicted':
      return refusal(
        accepted.kept === 0 ? 'Conflicted' : 'PartiallyConflicted',
        showLostClaims(accepted.lost, accepted.lostCount),
      )
  }
}

const refusal = (reason: string, message: string): Words => ({
  type: 'Accepted',
  holds: false,
  reason,
  message,
})

const showUnguarded = (failure: string | undefined): string =>
  failure === undefined
    ? `it is served as soon as it has the finalizer ${finalizer}`
    : `the finalizer ${finalizer} cannot be added, and without it nothing is served: ${failure}`

type Ending = Exclude<DeletionState, { readonly _tag: 'Guarding' | 'Serving' }>

const isDeletion = (state: DeletionState): state is Ending =>
  state._tag !== 'Guarding' && state._tag !== 'Serving'

const deprogrammed = (state: Ending): Words => {
  switch (state._tag) {
    case 'Waiting':
      return notDeprogrammed(waitingReason(state.waitsFor), showNotYet(state.waitsFor))
    case 'Settling':
      return notDeprogrammed('Settling', 'every Envoy has confirmed; its workers get a moment')
    case 'Released':
      if (state.waitedFor !== undefined)
        return notDeprogrammed('GlassBroken', showBroken(state.waitedFor))
      return isDeprogrammed(showGone(state.forgotten))
    case 'Releasing':
      return isDeprogrammed(showGone(state.forgotten) + showFailure(state.failure))
  }
}

const isDeprogrammed = (message: string): Words => ({
  type: 'Deprogrammed',
  holds: true,
  reason: 'Deprogrammed',
  message,
})

const notDeprogrammed = (reason: string, message: string): Words => ({
  type: 'Deprogrammed',
  holds: false,
  reason,
  message,
})

const waitingReason = ({ _tag }: NotYet): string => (_tag === 'Owed' ? 'WaitingForAck' : _tag)

/** Says in words what a deletion waits for. */
export const showNotYet = (waitsFor: NotYet): string => {
  switch (waitsFor._tag) {
    case 'Owed':
      return `not yet confirmed by ${showNodes(waitsFor)}`
    case 'Starting':
      return (
        'the control plane has begun a moment ago, or was without its Lease for long, and waits for Envoys to come ' +
        `back, until ${new Date(waitsFor.untilMs).toISOString()} at the latest`
      )
    case 'RosterUnsaved':
      return `the list of Envoys is not safe, and without it nothing is proven: ${waitsFor.message}`
    case 'NotHolding':
      return `nothing is proven as long as another control plane may be at work: ${waitsFor.message}`
  }
}

/** What is known of an object that is let go, save where `forgotten` are gone without a word. */
const showGone = (forgotten: NamedNodes | undefined): string =>
  forgotten === undefined
    ? 'no Envoy serves it'
    : `no Envoy serves it, unless one that was forgotten still runs: ${showNodes(forgotten)}`

const showFailure = (failure: string | undefined): string =>
  failure === undefined ? '' : `; the finalizer cannot be taken off: ${failure}`

const showBroken = (waitedFor: NotYet): string =>
  `the finalizer was taken off before it was proven that no Envoy serves it: ${showNotYet(waitedFor)}`

const resolvedRefs = ({ unresolved }: Verdict): Words => {
  const [first] = unresolved
  return first === undefined
    ? { type: 'ResolvedRefs', holds: true, reason: 'ResolvedRefs', message: '' }
    : {
        type: 'ResolvedRefs',
        holds: false,
        reason: first.reason,
        message: unresolved.map(({ path, message }) => `${path}: ${message}`).join('; '),
      }
}

const programmedWords = (programmed: Programmed): Words => ({
  type: 'Programmed',
  holds: programmed._tag === 'Programmed',
  reason: programmed._tag,
  message: programmedMessage(programmed),
})

const programmedMessage = (programmed: Programmed): string => {
  switch (programmed._tag) {
    case 'Programmed':
      return ''
    case 'Pending':
      return programmed.nodeCount === 0
        ? 'no Envoy is connected at the moment'
        : `not yet accepted by ${showNodes(programmed)}`
    case 'Lagging':
      return `for too long not accepted by ${showNodes(programmed)}`
    case 'Refused':
      return `refused by ${showNodes(programmed)}: ${showRefused(programmed)}`
    case 'NoEnvoy':
      return `no Envoy of the data plane ${programmed.dataPlane} has connected`
  }
}

/** Says what is refused, and why: `listener http: cannot bind …`. */
const showRefused = ({ listener, message }: Pick<RefusedBy, 'listener' | 'message'>): string =>
  listener === undefined ? message : `listener ${listener.name}: ${message}`

/** Names some Envoys, and counts the rest: `a, b and 3 more`. */
export const showNodes = ({ nodes, nodeCount }: NamedNodes): string => {
  const others = nodeCount - nodes.length
  return `${nodes.join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}

const listDataPlanes = (known: ReadonlyArray<string>): string =>
  known.length === 0 ? 'none is configured' : `known: ${known.join(', ')}`

const showLostClaims = (lost: ReadonlyArray<LostClaim>, lostCount: number): string => {
  const named = lost
    .slice(0, maxNamedClaims)
    .map(
      ({ claim, winner }) => `${showClaim(claim)} belongs to ${showKey(winner)}, which comes first`,
    )
  const others = lostCount - named.length
  return [...named, ...(others === 0 ? [] : [`and ${others} more`])].join('; ')
}

/** Puts a claim in a few words: `GET shop.example.com/checkout/… with header x-beta=1`. */
export const showClaim = ({ host, path, method, headers, query }: Claim): string => {
  const conditions = [
    ...headers.map((predicate) => `header ${showPredicate(predicate)}`),
    ...query.map((predicate) => `query ${showPredicate(predicate)}`),
  ]
  const request = `${method === undefined ? '' : `${method} `}${host}${showPath(path)}`
  return conditions.length === 0 ? request : `${request} with ${conditions.join(' and ')}`
}

const showPath = (path: RulePath): string => {
  switch (path._tag) {
    case 'Exact':
      return path.value
    case 'Prefix':
      return path.value === '/' ? '/…' : `${path.value}/…`
    case 'Regex':
      return `~${path.value}`
  }
}

const showPredicate = (predicate: ValuePredicate): string => {
  switch (predicate._tag) {
    case 'Exact':
      return `${predicate.name}=${predicate.value}`
    case 'Prefix':
      return `${predicate.name}=${predicate.value}…`
    case 'Regex':
      return `${predicate.name}~${predicate.value}`
    case 'Present':
      return predicate.name
  }
}

/** Never in the middle of a character: what is read back would not be what was written. */
const cut = (message: string): string =>
  message.length <= maxMessageLength ? message : `${headOf(message, maxMessageLength - 1)}…`
