import { ask } from '../objects/answer.js'
import type { LeasePorts } from './contend.js'
import { releaseWaitMs } from './limits.js'
import { givenBack, leaseIn, type LeaseRecord, readLeaseAt, writeLeaseAt } from './record.js'

/** How often it is tried: what was under way at the end may come in between. */
const maxTries = 2

interface ReleasePorts extends LeasePorts {
  /** Whether this process has written that. */
  readonly isOwn: (record: LeaseRecord) => boolean
}

/** Gives a lease back if this process has it, as far as that goes within `releaseWaitMs`. */
export const giveBack = async (ports: ReleasePorts): Promise<void> => {
  const { clock, logger, place } = ports
  const deadline = new AbortController()
  const cancel = clock.after(releaseWaitMs, () => deadline.abort())
  let left: string | undefined = 'no time was left'
  for (let i = 0; i < maxTries && left !== undefined && !deadline.signal.aborted; i += 1)
    left = await tryToGiveBack(ports, deadline.signal)
  cancel()
  if (left !== undefined)
    logger.log('warn', 'the lease was not given back, and ends by itself', {
      lease: place.shown,
      error: left,
    })
}

/** Why it was not given back; `undefined` if it is not ours any more. */
const tryToGiveBack = async (
  { client, place, clock, knowsAll, isOwn }: ReleasePorts,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const found = await ask(client, readLeaseAt(place), `read ${place.shown}`, signal)
  if (found._tag === 'Missing') return undefined
  if (found._tag !== 'Done') return found.problem.message
  const { version, record } = leaseIn(found.object)
  if (!isOwn(record)) return undefined
  const request = writeLeaseAt(place, givenBack(record, knowsAll(), clock.nowMs()), version)
  const answer = await ask(client, request, `write ${place.shown}`, signal)
  return answer._tag === 'Done' || answer._tag === 'Missing' ? undefined : answer.problem.message
}
