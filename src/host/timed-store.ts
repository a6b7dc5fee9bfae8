import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Clock } from '../ports/clock.js'
import type { RouteStore, WriteError } from '../ports/route-store.js'

/**
 * How long a store may take to answer, in milliseconds. An API server answers in some hundred, or ends a
 * request itself; what takes longer than this is a connection that is dead, and would keep others from their turn.
 */
export const storeAnswerMs = 30_000

/** A store whose every write comes to an end. */
export interface TimedStore {
  readonly store: RouteStore
  /** Waits for no answer any more, neither of the writes that are under way nor of later ones. */
  readonly giveUp: () => void
}

/**
 * Gives each write of a store so much time: after that it counts as `Unavailable`, which is to say that it may
 * have taken effect, or may yet. A write that throws or rejects does so here too.
 */
export const timedStore = (store: RouteStore, clock: Clock): TimedStore => {
  const underWay = new Set<(error: string) => void>()
  let hasGivenUp = false
  const timed =
    (call: () => TaskEither<WriteError, void>): TaskEither<WriteError, void> =>
    () =>
      new Promise((resolve, reject) => {
        const leave = (): void => {
          cancel()
          underWay.delete(end)
        }
        const end = (message: string): void => {
          leave()
          resolve(E.left({ _tag: 'Unavailable', message }))
        }
        const cancel = clock.after(storeAnswerMs, () =>
          end(`no answer within ${storeAnswerMs / 1_000} s`),
        )
        underWay.add(end)
        if (hasGivenUp) return end(stopping)
        begin(call).then(resolve, reject).finally(leave)
      })
  return {
    store: {
      guard: (object) => timed(() => store.guard(object)),
      release: (object, isProven) => timed(() => store.release(object, isProven)),
      writeConditions: (object, conditions) =>
        timed(() => store.writeConditions(object, conditions)),
    },
    giveUp: () => {
      hasGivenUp = true
      for (const end of underWay) end(stopping)
    },
  }
}

const stopping = 'no answer before the end'

/** What throws at once rejects. */
const begin = async (
  call: () => TaskEither<WriteError, void>,
): Promise<E.Either<WriteError, void>> => call()()
