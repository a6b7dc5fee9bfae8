import { pause } from '../../../ports/clock.js'
import * as E from 'fp-ts/lib/Either.js'
import type { ApiProblem } from '../objects/api-problem.js'
import { ask } from '../objects/answer.js'
import type { LeasePorts } from './contend.js'
import { maxObservedMs, observeEveryMs } from './limits.js'
import { leaseIn, type LeaseRecord, readLeaseAt } from './record.js'

/** A lease that somebody has. */
export interface Observed {
  readonly record: LeaseRecord
  readonly isLive: boolean
}

type ObservePorts = Pick<LeasePorts, 'client' | 'place' | 'clock'>

type Found = E.Either<ApiProblem, LeaseRecord | undefined>

/**
 * Looks at a lease until it is known whether its holder is at work; `undefined` if it has none. One whose last
 * renewal is recent by our clock is live; any other is, if it changes while it is looked at.
 */
export const observe = async (
  ports: ObservePorts,
  signal: AbortSignal,
): Promise<E.Either<ApiProblem, Observed | undefined>> => {
  const { clock } = ports
  const first = await look(ports, signal)
  if (E.isLeft(first)) return first
  if (first.right === undefined) return E.right(undefined)
  const record = first.right
  if (isRecent(record, clock.nowMs())) return E.right({ record, isLive: true })
  const untilMs = clock.nowMs() + Math.min(record.durationMs, maxObservedMs)
  while (clock.nowMs() < untilMs) {
    await pause(clock, observeEveryMs, signal)
    const again = await look(ports, signal)
    if (E.isLeft(again)) return again
    if (again.right === undefined) return E.right(undefined)
    const { holder, renewedAt } = again.right
    if (holder !== record.holder || renewedAt !== record.renewedAt)
      return E.right({ record: again.right, isLive: true })
  }
  return E.right({ record, isLive: false })
}

/** Of one from the future nothing is known. */
const isRecent = ({ renewedAt, durationMs }: LeaseRecord, nowMs: number): boolean => {
  const ageMs = nowMs - Date.parse(renewedAt)
  return ageMs >= 0 && ageMs < durationMs
}

const look = async ({ client, place }: ObservePorts, signal: AbortSignal): Promise<Found> => {
  const answer = await ask(client, readLeaseAt(place), `read ${place.shown}`, signal)
  if (answer._tag === 'Missing') return E.right(undefined)
  if (answer._tag !== 'Done') return E.left(answer.problem)
  const { record } = leaseIn(answer.object)
  return E.right(record.holder === '' ? undefined : record)
}
