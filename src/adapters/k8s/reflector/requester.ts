import type { Performing } from './perform.js'
import type { ReflectorEffect, ReflectorEvent } from './state.js'

/** Makes the requests of a reflector: one list or watch at a time, and fetches beside it. */
export interface Requester<A> {
  readonly perform: (effect: ReflectorEffect<A>) => void
  /** Ends all that is under way. */
  readonly stop: () => void
}

export interface RequesterHandlers<A> {
  /** Is told what has come of each request. */
  readonly onEvent: (event: ReflectorEvent<A>) => void
  readonly onLine: (attempt: number, line: string) => void
  readonly onBug: (error: unknown) => void
}

export const makeRequester = <A>(
  requests: Performing<A>,
  { onEvent, onLine, onBug }: RequesterHandlers<A>,
): Requester<A> => {
  const fetches = new AbortController()
  let request = new AbortController()
  const renewed = (): AbortSignal => {
    request.abort()
    request = new AbortController()
    return request.signal
  }
  /** Never within the call: who has made this can look at it when it is first called back. */
  const ask = (begin: () => Promise<ReflectorEvent<A>>): void => {
    void Promise.resolve().then(begin).then(onEvent, onBug)
  }
  const perform = (effect: ReflectorEffect<A>): void => {
    switch (effect._tag) {
      case 'List': {
        const signal = renewed()
        return ask(() => requests.list(effect, signal))
      }
      case 'Watch': {
        const signal = renewed()
        return ask(() => requests.watch(effect, (line) => onLine(effect.attempt, line), signal))
      }
      case 'Stop':
        return request.abort()
      case 'Fetch':
        return ask(() => requests.fetch(effect.wish, fetches.signal))
      case 'Tell':
        return
    }
  }
  const stop = (): void => {
    request.abort()
    fetches.abort()
  }
  return { perform, stop }
}
