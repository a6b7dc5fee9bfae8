import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Roster } from '../core/roster.js'
import type { Clock } from '../ports/clock.js'
import type { RosterError, RosterStore } from '../ports/roster-store.js'
import { askedBackoffMs } from './backoff.js'
import { pause } from './clock.js'

export interface LoadPorts {
  readonly store: RosterStore
  readonly clock: Clock
  readonly random: () => number
  /** Is told each time. */
  readonly onFailure: (message: string) => void
}

/** Reads the roster, again and again until it can be read; `undefined` if `signal` aborts before. */
export const loadRoster = async (
  { store, clock, random, onFailure }: LoadPorts,
  signal: AbortSignal,
): Promise<Roster | undefined> => {
  const stopped = (): boolean => signal.aborted
  for (let attempt = 1; !stopped(); attempt += 1) {
    const loaded = await attempted(() => store.load()())
    if (stopped()) return undefined
    if (E.isRight(loaded)) return loaded.right
    onFailure(loaded.left.message)
    await pause(clock, askedBackoffMs(attempt, random(), loaded.left.retryAfterMs), signal)
  }
  return undefined
}

/** Runs a task; one that throws or rejects, against its type, has failed like any other. */
export const attempted = async <A>(
  task: TaskEither<RosterError, A>,
): Promise<E.Either<RosterError, A>> => {
  try {
    return await task()
  } catch (cause) {
    return E.left({ _tag: 'Unavailable', message: String(cause) })
  }
}
