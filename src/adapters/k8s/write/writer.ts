import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { StoredObject } from '../../../core/stored-object.js'
import type { Clock } from '../../../ports/clock.js'
import type { Metrics } from '../../../ports/metrics.js'
import type { WriteError } from '../../../ports/route-store.js'
import type { ApiClient, ApiReply } from '../api.js'
import { maxTurnWaitMs, requestDeadlineMs, writeDeadlineMs, type WriteLimits } from './limits.js'
import {
  explained,
  isAmbiguous,
  isDone,
  pauseAskedFor,
  refusalOf,
  unanswered,
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
   * Sends a request when its turn comes. `andThen` says whether the body of the reply calls for another one, which has
   * no turn of its own.
   */
  readonly write: (
    lane: keyof WriteLimits,
    object: StoredObject,
    request: WriteRequest,
    andThen?: (body: unknown) => WriteRequest | undefined,
  ) => TaskEither<WriteError, void>
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
  /** One request, with what its reply means. */
  const attempt = async (
    lane: keyof WriteLimits,
    object: StoredObject,
    request: WriteRequest,
    untilMs: number,
  ): Promise<E.Either<WriteError, ApiReply>> => {
    const reply = await ask(lane, request, untilMs)
    if (E.isLeft(reply) || isDone(reply.right)) return reply
    if (!isAmbiguous(reply.right)) return E.left(refusalOf(object, reply.right))
    return E.left(explained(object, reply.right, await ask(lane, readOf(object), untilMs)))
  }
  return {
    write: (lane, object, request, andThen) => async () => {
      const untilMs = clock.nowMs() + writeDeadlineMs
      if (!(await lanes[lane].take())) return E.left(turnedAway)
      const reply = await attempt(lane, object, request, untilMs)
      if (E.isLeft(reply)) return reply
      const next = andThen?.(reply.right.body)
      if (next === undefined) return E.right(undefined)
      const last = await attempt(lane, object, next, untilMs)
      if (E.isRight(last)) return E.right(undefined)
      return E.left(request.method === 'GET' ? last.left : halfDone(last.left))
    },
  }
}

/** Whatever has become of the second request, the first one has written something. */
const halfDone = ({ message }: WriteError): WriteError => writeError('Unavailable', message)

const turnedAway = writeError(
  'Unavailable',
  `no turn for it within ${maxTurnWaitMs / 1_000} s: too much is to be written, or the API server asks to wait`,
)
