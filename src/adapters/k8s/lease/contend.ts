import { type Clock, pause } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { ApiClient, ApiRequest } from '../api.js'
import { type Answer, ask, askedPauseMs } from '../objects/answer.js'
import type { ApiProblem } from '../objects/api-problem.js'
import type { Place } from '../objects/places.js'
import { maxRetryAfterMs, renewEveryMs, requestDeadlineMs, retryMs } from './limits.js'
import { type OwnWrites, ownWrites } from './own-writes.js'
import { leaseIn, type LeaseClaim, type LeaseRecord, readLeaseAt, writeLeaseAt } from './record.js'
import {
  type Contender,
  isHeldAt,
  type LeaseCommand,
  type LeaseEvent,
  type LeaseFact,
  newContender,
  step,
} from './state.js'

export interface LeasePorts {
  readonly client: ApiClient
  readonly place: Place
  readonly clock: Clock
  readonly logger: Logger
  readonly identity: string
  /** Whether it knows all Envoys; see `LeaseRecord`. */
  readonly knowsAll: () => boolean
  readonly onFact: (fact: LeaseFact) => void
}

/** A lease that is contended for. */
export interface Contest {
  readonly finished: Promise<void>
  readonly isHeld: () => boolean
  /** How long it surely is held still, in milliseconds; 0 if it is not. */
  readonly leftMs: () => number
  /** Whether this contest has written that. */
  readonly isOwn: (record: LeaseRecord) => boolean
}

/** How many requests follow on each other: a conflict is looked at, and what was seen is acted on. */
const maxInARow = 4

/** Contends for a lease until `signal` aborts, and leaves it as it is then. */
export const contend = (ports: LeasePorts, signal: AbortSignal): Contest => {
  const { clock } = ports
  let contender = newContender(ports.identity)
  const own = ownWrites(ports.identity)
  const isStopped = (): boolean => signal.aborted
  const take = (event: LeaseEvent): LeaseCommand => {
    const [next, command, fact] = step(contender, event)
    contender = next
    if (fact === undefined) return command
    tell(ports, fact)
    ports.onFact(fact)
    return command
  }
  const run = async (): Promise<void> => {
    while (!isStopped()) {
      const dueMs = clock.nowMs()
      let command = take({ _tag: 'Due', nowMs: dueMs })
      let askedMs = 0
      for (let i = 0; i < maxInARow && command._tag !== 'Rest' && !isStopped(); i += 1) {
        const performed = await perform(ports, command, own, signal)
        askedMs = performed.retryAfterMs
        if (!isStopped()) command = take(performed.event)
      }
      const nowMs = clock.nowMs()
      await pause(clock, restMs(contender, nowMs, nowMs - dueMs, askedMs), signal)
    }
  }
  const leftMs = (): number =>
    isStopped() ? 0 : Math.max(0, contender.heldUntilMs - clock.nowMs())
  return { finished: run(), isHeld: () => leftMs() > 0, leftMs, isOwn: own.isOwn }
}

/**
 * One that may still be saved is tried again soon. What takes long does not delay the next renewal. A server that asks
 * for it is left alone for longer, but never so long that a lease lapses which one more request in time could save.
 *
 * Whoever does not know whose the lease is may be serving without it, and must end once another has it: it asks each
 * second, whatever the server says. One that knows of another serves nobody, and has time.
 */
const restMs = (contender: Contender, nowMs: number, tookMs: number, askedMs: number): number => {
  const usualMs = Math.max(retryMs, renewEveryMs - tookMs)
  if (contender.told._tag !== 'Failing') return usualMs
  if (isKnownOfAnother(contender)) return Math.max(usualMs, Math.min(askedMs, maxRetryAfterMs))
  if (!isHeldAt(contender, nowMs)) return retryMs
  const leftMs = contender.heldUntilMs - requestDeadlineMs - nowMs
  return Math.max(retryMs, Math.min(askedMs, leftMs))
}

const isKnownOfAnother = ({ seen, identity }: Contender): boolean =>
  seen !== undefined && seen.record.holder !== '' && seen.record.holder !== identity

interface Performed {
  readonly event: LeaseEvent
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number
}

const perform = async (
  ports: LeasePorts,
  command: Performable,
  own: OwnWrites,
  signal: AbortSignal,
): Promise<Performed> => {
  const { client, place, clock } = ports
  if (command._tag === 'Write') own.sent(command.record)
  const sentAtMs = clock.nowMs()
  const isRead = command._tag === 'Read'
  const request = isRead ? readLeaseAt(place) : writeOf(ports, command)
  const what = `${isRead ? 'read' : 'write'} ${place.shown}`
  const answer = await ask(client, request, what, signal)
  const event = eventOf(command, answer, sentAtMs, clock.nowMs())
  const read = event._tag === 'Read' ? { ...event, seen: own.read(event.seen) } : event
  return { event: read, retryAfterMs: askedPauseMs(answer) }
}

const writeOf = (
  { place, knowsAll }: LeasePorts,
  { record, version }: Extract<LeaseCommand, { readonly _tag: 'Write' }>,
): ApiRequest => writeLeaseAt(place, { ...record, knowsAll: knowsAll() }, version)

type Performable = Exclude<LeaseCommand, { readonly _tag: 'Rest' }>

const eventOf = (
  command: Performable,
  answer: Answer,
  sentAtMs: number,
  nowMs: number,
): LeaseEvent => {
  switch (answer._tag) {
    case 'Done': {
      const seen = leaseIn(answer.object)
      if (command._tag === 'Read') return { _tag: 'Read', seen, nowMs }
      return isAsSent(seen.record, command.record)
        ? { _tag: 'Written', seen, sentAtMs, nowMs }
        : { _tag: 'Conflicted' }
    }
    case 'Missing':
      if (command._tag === 'Read') return { _tag: 'Read', seen: undefined, nowMs }
      return command.version === undefined ? failedBy(answer.problem) : { _tag: 'Conflicted' }
    case 'Conflict':
      return { _tag: 'Conflicted' }
    case 'Problem':
      return failedBy(answer.problem)
  }
}

/** Whoever has answered, something else than what was sent is not known to be ours. */
const isAsSent = (answered: LeaseRecord, sent: LeaseClaim): boolean =>
  answered.holder === sent.holder && answered.renewedAt === sent.renewedAt

const failedBy = ({ _tag, message }: ApiProblem): LeaseEvent => ({
  _tag: 'Failed',
  message,
  isDenied: _tag === 'Denied',
})

const tell = ({ logger, place, identity }: LeasePorts, fact: LeaseFact): void => {
  const about = { lease: place.shown, identity }
  switch (fact._tag) {
    case 'Acquired':
      return logger.log('info', 'the lease is held', { ...about, before: fact.how })
    case 'Waiting':
      return logger.log('warn', 'another control plane holds the lease: waiting for it', {
        ...about,
        holder: fact.holder,
      })
    case 'Lost':
      return logger.log('error', 'another control plane has taken the lease: waiting for it', {
        ...about,
        holder: fact.holder,
      })
    case 'Failing':
      return fact.isDenied
        ? logger.log('error', 'the lease is denied', { ...about, error: fact.message, needs })
        : logger.log('warn', 'the lease cannot be kept', { ...about, error: fact.message })
    case 'Recovered':
      return logger.log('info', 'the lease is held again', about)
  }
}

const needs =
  'credentials that may get, create and update Leases in its namespace: see deploy/rbac.yaml'
