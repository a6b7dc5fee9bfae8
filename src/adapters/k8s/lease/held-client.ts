import * as E from 'fp-ts/lib/Either.js'
import type { ApiClient } from '../api.js'

/**
 * A client that reads always, and writes only while a lease is held. `leftMs` says for how many milliseconds it surely
 * is still, 0 if it is not. It is asked as each request is begun: what has waited for its turn before that is not sent
 * any more, and what is sent has no later deadline than the end of that time. What is not sent fails as if nobody had
 * answered.
 *
 * With `keepLease`, which counts a lease as held for some seconds less than others wait before they take it, no request
 * of a control plane whose lease has lapsed is under way when another is at work: what was not answered by then was
 * broken off. Only what the API server had taken in it may still carry out, a moment later. Whoever gives a lease back
 * lets its writes end first: that one may be taken at once.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const whileHeld = ({ send, stream }: ApiClient, leftMs: () => number): ApiClient => ({
  stream,
  send: (request, signal) => {
    if (request.method === 'GET') return send(request, signal)
    return () => {
      const heldForMs = Math.floor(leftMs())
      if (heldForMs <= 0) return Promise.resolve(notHeld)
      const deadlineMs = Math.min(request.deadlineMs, heldForMs)
      return send({ ...request, deadlineMs }, signal)()
    }
  },
})

const notHeld = E.left({
  _tag: 'Unreachable',
  message: 'not sent: this control plane does not hold the Lease at the moment',
} as const)
