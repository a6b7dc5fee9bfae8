import * as E from 'fp-ts/lib/Either.js'
import type { Clock } from '../../../ports/clock.js'
import type { ApiFailure } from '../api.js'
import type { OnAbort } from './on-abort.js'

/** What may end an operation before its work is done. */
export interface Bounds {
  readonly signal: AbortSignal
  /** How long it may take, or, where `isSilence`, how long nothing may be heard. */
  readonly ms: number
  readonly isSilence: boolean
  /** What it is, as in `GET https://10.0.0.1:6443/api/v1/pods`. */
  readonly what: string
}

/** What the work knows of its operation. */
export interface Operation {
  /** Whether it was ended from outside: whatever the work does now is for nobody. */
  readonly isOver: () => boolean
  /** Calls the last function that was given to it, if the operation is ended from outside. */
  readonly onOver: (stop: () => void) => void
  /** By the clock of the client. */
  readonly nowMs: () => number
  /** There was a sign of life. */
  readonly heard: () => void
}

/** What all operations of a client share. */
export interface Surroundings {
  readonly clock: Clock
  readonly onAbort: OnAbort
  /** Ends each operation that is under way. */
  readonly open: Set<() => void>
  readonly isClosed: () => boolean
}

type Result<A> = E.Either<ApiFailure, A>

/**
 * Does some work until it is done, or is ended by its signal, by time, or by the closing of the
 * client.
 *
 * Guarantees: never rejects; leaves no timer and no listener behind.
 */
export const bounded = <A>(
  { clock, onAbort, open, isClosed }: Surroundings,
  bounds: Bounds,
  work: (operation: Operation) => Promise<Result<A>>,
): Promise<Result<A>> =>
  new Promise((resolve) => {
    const { signal, what } = bounds
    let isOver = false
    let stopWork = (): void => undefined
    let forget = (): void => undefined
    const finish = (result: Result<A>): void => {
      if (isOver) return
      isOver = true
      limit.stop()
      forget()
      open.delete(close)
      resolve(result)
    }
    const end = (_tag: ApiFailure['_tag'], why: string): void => {
      finish(E.left({ _tag, message: `${what} ${why}` }))
      stopWork()
    }
    const close = (): void => end('Aborted', 'was ended: the client is closed')
    const abort = (): void => end('Aborted', 'was aborted')
    const limit = timeLimit(clock, bounds, (why) => end('TimedOut', why))
    if (isClosed()) return close()
    if (signal.aborted) return abort()
    open.add(close)
    forget = onAbort(signal, abort)
    limit.start()
    const operation: Operation = {
      isOver: () => isOver,
      onOver: (stop) => (stopWork = stop),
      nowMs: clock.nowMs,
      heard: limit.heard,
    }
    work(operation).then(finish, (cause: unknown) =>
      end('Unreachable', `could not be sent: ${String(cause)}`),
    )
  })

interface TimeLimit extends Pick<Operation, 'heard'> {
  readonly start: () => void
  readonly stop: () => void
}

/** Says why, once it has taken too long, or nothing was heard for too long. */
const timeLimit = (
  clock: Clock,
  { ms, isSilence }: Bounds,
  onOver: (why: string) => void,
): TimeLimit => {
  let heardMs = clock.nowMs()
  let stop = (): void => undefined
  const wait = (leftMs: number): void => {
    stop = clock.after(leftMs, () => {
      const stillMs = isSilence ? Math.ceil(heardMs + ms - clock.nowMs()) : 0
      if (stillMs > 0) wait(stillMs)
      else onOver(isSilence ? `brought nothing for ${ms} ms` : `took more than ${ms} ms`)
    })
  }
  return {
    start: () => wait(ms),
    heard: () => void (heardMs = clock.nowMs()),
    stop: () => stop(),
  }
}
