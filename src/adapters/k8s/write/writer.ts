import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { StoredObject } from '../../../core/stored-object.js'
import type { Clock } from '../../../ports/clock.js'
import type { Metrics } from '../../../ports/metrics.js'
import type { WriteError } from '../../../ports/route-store.js'
import type { ApiClient, ApiReply } from '../api.js'
import { isDone, isVersioned } from '../reply.js'
import { maxTurnWaitMs, requestDeadlineMs, writeDeadlineMs, type WriteLimits } from './limits.js'
import {
  explained,
  isAmbiguous,
  noObject,
  pauseAskedFor,
  refusalOf,
  unanswered,
  unproven,
  writeError,
} from './outcome.js'
import { readOf, type WriteRequest } from './requests.js'
import { makeTurns, type Turns } from './turns.js'

export interface WriterPorts {
  readonly client: ApiClient
  readonly clock: Clock
  readonly limits: WriteLimits
  readonly metrics: Metrics
}

/** Sends writes to an API server. */
export interface Writer {
  /**
   * Takes the first step when its turn comes; those that follow from it have no turn of their own. Whether the first
   * request `isWanted` is asked when the turn has come, and once more when it has its connection: if that says no, the
   * write is `Unproven`, and nothing is sent.
   */
  readonly write: (lane: keyof WriteLimits, first: WriteStep) => TaskEither<WriteError, void>
}

/** One request of a write, and what follows from its reply. A write has a bounded number of steps. */
export interface WriteStep {
  /** The object that it is about, in the form that the request takes it to have. */
  readonly object: StoredObject
  readonly request: WriteRequest
  /** The step after this one, by the body of the reply; none, and the write is done, if absent or `undefined`. */
  readonly then?: (body: unknown) => WriteStep | undefined
  /** A way round where this is `Refused`, by what a look at the unchanged object shows. */
  readonly orElse?: (body: unknown) => WriteStep | undefined
  /** What people can do where this is `Refused`, in a sentence, by what that look shows. */
  readonly advise?: (body: unknown) => string | undefined
}

/**
 * Makes writes take turns, by two lanes that know nothing of each other: what waits in one holds up nothing in the
 * other. Where the server asks to be left alone, the lane of that write stops for so long. All that belongs to one
 * write is over after `writeDeadlineMs`.
 */
export const makeWriter = ({ client, clock, limits, metrics }: WriterPorts): Writer => {
  const turnsOf = (lane: keyof WriteLimits): Turns =>
    makeTurns(clock, limits[lane], (count) =>
      metrics.set('edgewright_kubernetes_writes_waiting', { lane }, count),
    )
  const lanes = { finalizers: turnsOf('finalizers'), conditions: turnsOf('conditions') }
  const ask = async (
    lane: keyof WriteLimits,
    request: WriteRequest,
    untilMs: number,
  ): Promise<E.Either<WriteError, ApiReply>> => {
    const deadlineMs = Math.min(requestDeadlineMs, untilMs - clock.nowMs())
    if (deadlineMs <= 0) return E.left(writeError('Unavailable', 'no time is left for it'))
    const reply = await client.send({ ...request, deadlineMs }, new AbortController().signal)()
    if (E.isLeft(reply)) return E.left(unanswered(reply.left))
    const pauseMs = pauseAskedFor(reply.right)
    if (pauseMs !== undefined) {
      lanes[lane].pause(pauseMs)
      metrics.add('edgewright_kubernetes_write_pauses_total', { lane }, 1)
    }
    return reply
  }
  return {
    write: (lane, first) => async () => {
      const untilMs = clock.nowMs() + writeDeadlineMs
      if (!(await lanes[lane].take())) return E.left(turnedAway)
      if (first.request.isWanted?.() === false) return E.left(unproven)
      return takeSteps((request) => ask(lane, request, untilMs), first)
    },
  }
}

type Ask = (request: WriteRequest) => Promise<E.Either<WriteError, ApiReply>>

/** One step after the other, as far as they lead. */
const takeSteps = async (ask: Ask, first: WriteStep): Promise<E.Either<WriteError, void>> => {
  let hasWritten = false
  const last = (error: WriteError): WriteError => (hasWritten ? halfDone(error) : error)
  for (let step: WriteStep | undefined = first; step !== undefined;) {
    const reply: E.Either<Failed, ApiReply> = await attempt(ask, step)
    if (E.isRight(reply)) {
      hasWritten ||= step.request.method !== 'GET'
      step = step.then?.(reply.right.body)
      continue
    }
    const { error, seen } = reply.left
    if (error._tag !== 'Refused' || seen === undefined) return E.left(last(error))
    const advice = step.advise?.(seen)
    if (advice !== undefined)
      return E.left(last(writeError('Refused', `${advice}: ${error.message}`)))
    step = step.orElse?.(seen)
    if (step === undefined) return E.left(last(error))
  }
  return E.right(undefined)
}

/** One request, with what its reply means. */
const attempt = async (
  ask: Ask,
  { object, request }: WriteStep,
): Promise<E.Either<Failed, ApiReply>> => {
  const reply = await ask(request)
  if (E.isLeft(reply)) return E.left({ error: reply.left })
  if (isDone(reply.right))
    return isVersioned(reply.right.body) ? reply : E.left({ error: noObject(object.key) })
  if (!isAmbiguous(reply.right)) return E.left({ error: refusalOf(object, reply.right) })
  const look = await ask(readOf(object))
  const error = explained(object, reply.right, look)
  return E.left({ error, ...(E.isRight(look) && { seen: look.right.body }) })
}

/** Why a request has not done what it should, and the object as it was seen afterwards. */
interface Failed {
  readonly error: WriteError
  readonly seen?: unknown
}

/** Whatever has become of the last request, an earlier one has written something. */
const halfDone = ({ message }: WriteError): WriteError => writeError('Unavailable', message)

const turnedAway = writeError(
  'Unavailable',
  `no turn for it within ${maxTurnWaitMs / 1_000} s: too much is to be written, or the API server asks to wait`,
)
