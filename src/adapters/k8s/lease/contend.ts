import { type Clock, pause } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { ApiClient } from '../api.js'
import { ask } from '../objects/answer.js'
import type { Place } from '../objects/places.js'
import { renewEveryMs, retryMs } from './limits.js'
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
    if (fact !== undefined) tell(ports, fact)
    return command
  }
  const run = async (): Promise<void> => {
    while (!isStopped()) {
      const dueMs = clock.nowMs()
      let command = take({ _tag: 'Due', nowMs: dueMs })
      for (let i = 0; i < maxInARow && command._tag !== 'Rest' && !isStopped(); i += 1) {
        const event = await perform(ports, command, signal)
        if (!isStopped()) command = take(event)
      }
      await pause(clock, restMs(contender, clock.nowMs(), dueMs), signal)
    }
  }
  return { finished: run(), isHeld: () => !isStopped() && isHeldAt(contender, clock.nowMs()) }
}

/** One that may still be saved is tried again soon. What takes long does not delay the next renewal. */
const restMs = (contender: Contender, nowMs: number, dueMs: number): number =>
  contender.told._tag === 'Failing' && isHeldAt(contender, nowMs)
    ? retryMs
    : Math.max(retryMs, renewEveryMs - (nowMs - dueMs))

const perform = async (
  { client, place, clock }: LeasePorts,
  command: Exclude<LeaseCommand, { readonly _tag: 'Rest' }>,
  signal: AbortSignal,
): Promise<LeaseEvent> => {
  const sentAtMs = clock.nowMs()
  const isRead = command._tag === 'Read'
  const request = isRead ? readLeaseAt(place) : writeLeaseAt(place, command.record, command.version)
  const what = `${isRead ? 'read' : 'write'} ${place.shown}`
  const answer = await ask(client, request, what, signal)
  switch (answer._tag) {
    case 'Done': {
      const seen = leaseIn(answer.object)
      if (seen.version === '')
        return { _tag: 'Failed', message: `cannot ${what}: the API server sends no Lease` }
      return isRead
        ? { _tag: 'Read', seen, nowMs: clock.nowMs() }
        : { _tag: 'Written', seen, sentAtMs }
    }
    case 'Missing':
      if (isRead) return { _tag: 'Read', seen: undefined, nowMs: clock.nowMs() }
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
