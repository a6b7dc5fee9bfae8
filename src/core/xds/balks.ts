import { type Backoff, waitMs } from './backoff.js'
import { type Balked, type InFlight, isSame, type Said, type Watch } from './watch.js'

/**
 * How often the very same response may be refused, with a search in between that has found nothing: what was taken
 * for accepted may have been the reason, and is looked at then.
 */
const maxBalks = 3

/** Whatever the client had against it may be gone: it costs a search to find out, and nobody else anything. */
const balkBackoff: Backoff = { firstMs: 30_000, mostMs: 600_000 }

/** Notes that these responses were refused, and were no trial. */
export const countBalks = (
  { balked }: Watch,
  refused: ReadonlyArray<InFlight>,
  nowMs: number,
): Balked | undefined => {
  const response = refused.at(-1)
  if (response === undefined) return balked
  const times = isSame(response, balked?.response) ? (balked?.times ?? 0) + 1 : 1
  const isEnough = times >= maxBalks
  const until = isEnough ? nowMs + waitMs(balkBackoff, times - maxBalks + 1) : undefined
  return { response, times, until }
}

/** True of a response that was refused so often that it waits until it is sent once more. */
export const isHopeless = ({ balked }: Pick<Watch, 'balked'>, outgoing: Said): boolean =>
  balked?.until !== undefined && isSame(outgoing, balked.response)

/** Lets what was refused again and again be sent once more, if it is time; how often it was still counts. */
export const endWaiting = (watch: Watch, nowMs: number): Watch => {
  const { balked } = watch
  if (balked?.until === undefined || balked.until > nowMs) return watch
  return { ...watch, refused: undefined, balked: { ...balked, until: undefined } }
}

/** Forgets what was refused again and again: there is a new reason to send it. */
export const forgetBalks = (watch: Watch): Watch =>
  watch.balked === undefined ? watch : { ...watch, refused: undefined, balked: undefined }
