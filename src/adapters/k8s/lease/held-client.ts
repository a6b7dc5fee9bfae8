import * as E from 'fp-ts/lib/Either.js'
import type { ApiClient } from '../api.js'

/**
 * A client that reads always, and writes only while `isHeld` says so, which is asked as each request is begun: what has
 * waited for its turn before that is not sent any more. What is not sent fails as if nobody had answered.
 *
 * With `keepLease`, which says no some seconds before anybody else may have the lease, no request of a control plane
 * that has lost it is begun when another is at work. One that was begun before may still arrive, until its deadline.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const whileHeld = ({ send, stream }: ApiClient, isHeld: () => boolean): ApiClient => ({
  stream,
  send: (request, signal) => {
    const task = send(request, signal)
    return () => (request.method === 'GET' || isHeld() ? task() : Promise.resolve(notHeld))
  },
})

const notHeld = E.left({
  _tag: 'Unreachable',
  message: 'not sent: this control plane does not hold the Lease at the moment',
} as const)
