import type { RunningHost } from '../../start-host.js'

/** Whether a control plane knows all Envoys that may serve something, and has written them down: for its Lease. */
export interface Knowledge {
  readonly knowsAll: () => boolean
  /** Begins to ask this host, which serves until `signal` aborts. Before that nothing is known. */
  readonly follow: (host: Pick<RunningHost<never>, 'notYet'>, signal: AbortSignal) => void
  /** Leaves it at what it is now: without its Lease a host knows nothing any more. */
  readonly freeze: () => void
}

/**
 * What was not known when the host began to end is not known afterwards either: what time alone would bring, it brings
 * to one that is there for no Envoy any more. What was known may be lost still, if the last write of the roster fails.
 */
export const openKnowledge = (): Knowledge => {
  let knowsAll = (): boolean => false
  const leaveAt = (known: boolean): void => {
    knowsAll = () => known
  }
  return {
    knowsAll: () => knowsAll(),
    follow: ({ notYet }, signal) => {
      if (signal.aborted) return
      knowsAll = () => notYet() === undefined
      const end = (): void => {
        if (!knowsAll()) leaveAt(false)
      }
      signal.addEventListener('abort', end, { once: true })
    },
    freeze: () => leaveAt(knowsAll()),
  }
}
