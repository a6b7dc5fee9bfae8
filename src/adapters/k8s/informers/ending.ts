import { setMaxListeners } from 'node:events'
import * as E from 'fp-ts/lib/Either.js'
import type { SourceError } from '../../../ports/route-source.js'

/** How something that is watched comes to its end. */
export interface Ending {
  /** Aborts at the end, whoever brings it about. */
  readonly onEnd: AbortSignal
  /** Ends with a result; only the first counts. */
  readonly end: (result: E.Either<SourceError, void>) => void
  readonly finished: Promise<E.Either<SourceError, void>>
}

/** Ends on the right when `signal` aborts, unless something else comes first. */
export const ending = (signal: AbortSignal): Ending => {
  const over = new AbortController()
  // Of each namespace some listen to it: no leak, whatever Node takes eleven of them for.
  setMaxListeners(0, over.signal)
  let resolve: (result: E.Either<SourceError, void>) => void = () => undefined
  const finished = new Promise<E.Either<SourceError, void>>((done) => {
    resolve = done
  })
  const end = (result: E.Either<SourceError, void>): void => {
    signal.removeEventListener('abort', stop)
    over.abort()
    resolve(result)
  }
  const stop = (): void => end(E.right(undefined))
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop)
  return { onEnd: over.signal, end, finished }
}
