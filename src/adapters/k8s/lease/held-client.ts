import * as E from 'fp-ts/lib/Either.js'
import type { ApiClient, ApiFailure } from '../api.js'

/** A client that writes only while a lease is held. */
export interface HeldClient extends ApiClient {
  /**
   * Sends no write any more, and resolves once none is under way, also of those that nobody waits for: in no more time
   * than the lease was held for when the last one began. Whoever gives the lease back waits for this first.
   */
  readonly end: () => Promise<void>
}

/**
 * A client that reads always, and writes only while a lease is held. `leftMs` says for how many milliseconds it surely
 * is still, 0 if it is not. It is asked as each request is begun: what has waited for its turn before that is not sent
 * any more, and what is sent has no later deadline than the end of that time. What is not sent fails as if nobody had
 * answered.
 *
 * With `keepLease`, which counts a lease as held for some seconds less than others wait before they take it, no request
 * of a control plane whose lease has lapsed is under way when another is at work: what was not answered by then was
 * broken off. Only what the API server had taken in it may still carry out, a moment later. One that is given back may
 * be taken at once: its writes have to end first, by `end`.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const whileHeld = ({ send, stream }: ApiClient, leftMs: () => number): HeldClient => {
  const underWay = new Set<Promise<unknown>>()
  let hasEnded = false
  const write: ApiClient['send'] = (request, signal) => () => {
    const heldForMs = hasEnded ? 0 : Math.floor(leftMs())
    if (heldForMs <= 0) return Promise.resolve(notSent(hasEnded))
    const deadlineMs = Math.min(request.deadlineMs, heldForMs)
    const answer = send({ ...request, deadlineMs }, signal)()
    underWay.add(answer)
    return answer.finally(() => underWay.delete(answer))
  }
  return {
    stream,
    send: (request, signal) => (request.method === 'GET' ? send : write)(request, signal),
    end: async () => {
      hasEnded = true
      await Promise.allSettled(underWay)
    },
  }
}

const notSent = (hasEnded: boolean): E.Either<ApiFailure, never> =>
  E.left({
    _tag: 'Unreachable',
    message: hasEnded
      ? 'not sent: this control plane ends'
      : 'not sent: this control plane does not hold the Lease at the moment',
  })
