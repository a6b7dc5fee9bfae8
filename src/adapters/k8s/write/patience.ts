import * as E from 'fp-ts/lib/Either.js'
import { type Clock, pause } from '../../../ports/clock.js'
import { maxPauseMs } from './limits.js'

/** What has come of a try. */
export type Tried<A> =
  | { readonly _tag: 'Done'; readonly value: E.Either<string, A> }
  /** It may go better in `pauseMs` at the earliest. */
  | { readonly _tag: 'Again'; readonly message: string; readonly pauseMs: number }

/** How often something is tried: with the pauses between, for some 25 s, in which an API server restarts. */
export const maxTries = 8

/** The pause after the first try, in milliseconds: each following one is twice as long. */
const firstPauseMs = 200

/** Tries until it is done, with pauses that grow; on the left is why it never was, or what the last try came to. */
export const patiently = async <A>(
  clock: Clock,
  signal: AbortSignal,
  attempt: () => Promise<Tried<A>>,
): Promise<E.Either<string, A>> => {
  let last = 'stopped before it was tried'
  for (let tries = 0; tries < maxTries && !signal.aborted; tries += 1) {
    const tried = await attempt()
    if (tried._tag === 'Done') return tried.value
    last = tried.message
    const pauseMs = Math.max(firstPauseMs * 2 ** tries, Math.min(tried.pauseMs, maxPauseMs))
    if (tries + 1 < maxTries) await pause(clock, pauseMs, signal)
  }
  return E.left(last)
}
