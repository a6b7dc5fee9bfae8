import { type Clock, pause } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { ApiClient } from '../api.js'
import { type Answer, ask, askedPauseMs } from '../objects/answer.js'
import type { Place } from '../objects/places.js'
import { maxRetryAfterMs, renewEveryMs, requestDeadlineMs, retryMs } from './limits.js'
import { leaseIn, readLeaseAt, writeLeaseAt } from './record.js'
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
  readonly onFact: (fact: LeaseFact) => void
}

/** How many requests follow on each other: a conflict is looked at, and what was seen is acted on. */
const maxInARow = 4

/** Contends for a lease until `signal` aborts, and leaves it as it is then. */
export const contend = (
  ports: LeasePorts,
  signal: AbortSignal,
): { readonly finished: Promise<void>; readonly isHeld: () => boolean } => {
  const { clock } = ports
  let contender = newContender(ports.identity)
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
        const performed = await perform(ports, command, signal)
        askedMs = performed.retryAfterMs
        if (!isStopped()) command = take(performed.event)
      }
      const nowMs = clock.nowMs()
      await pause(clock, restMs(contender, nowMs, nowMs - dueMs, askedMs), signal)
    }
  }
  return { finished: run(), isHeld: () => !isStopped() && isHeldAt(contender, clock.nowMs()) }
}

/**
 * One that may still be saved is tried again soon. What takes long does not delay the next renewal. A server that asks
 * for it is left alone for longer, but never so long that a lease lapses which one more request in time could save.
 */
const restMs = (contender: Contender, nowMs: number, tookMs: number, askedMs: number): number => {
  if (contender.told._tag !== 'Failing' || !isHeldAt(contender, nowMs))
    return Math.max(retryMs, renewEveryMs - tookMs, Math.min(askedMs, maxRetryAfterMs))
  const leftMs = contender.heldUntilMs - requestDeadlineMs - nowMs
  return Math.max(retryMs, Math.min(askedMs, leftMs))
}

interface Performed {
  readonly event: LeaseEvent
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number
}

const perform = async (
  ports: LeasePorts,
  command: Performable,
  signal: AbortSignal,
): Promise<Performed> => {
  const { client, place, clock } = ports
  const sentAtMs = clock.nowMs()
  const isRead = command._tag === 'Read'
  const request = isRead ? readLeaseAt(place) : writeLeaseAt(place, command.record, command.version)
  const what = `${isRead ? 'read' : 'write'} ${place.shown}`
  const answer = await ask(client, request, what, signal)
  const event = eventOf(command, answer, sentAtMs, clock.nowMs())
  return { event, retryAfterMs: askedPauseMs(answer) }
}

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
      return command._tag === 'Read'
        ? { _tag: 'Read', seen, nowMs }
        : { _tag: 'Written', seen, sentAtMs }
    }
    case 'Missing':
      if (command._tag === 'Read') return { _tag: 'Read', seen: undefined, nowMs }
      return command.version === undefined
        ? { _tag: 'Failed', message: answer.problem.message }
        : { _tag: 'Conflicted' }
    case 'Conflict':
      return { _tag: 'Conflicted' }
    case 'Problem':
      return { _tag: 'Failed', message: answer.problem.message }
  }
}

const tell = ({ logger, place, identity }: LeasePorts, fact: LeaseFact): void => {
  const about = { lease: place.shown, identity }
  switch (fact._tag) {
    case 'Acquired':
      return logger.log('info', 'the lease is held', about)
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
      return logger.log('warn', 'the lease cannot be kept', { ...about, error: fact.message })
    case 'Recovered':
      return logger.log('info', 'the lease is held again', about)
  }
}
