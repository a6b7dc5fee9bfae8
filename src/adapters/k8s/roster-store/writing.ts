import * as E from 'fp-ts/lib/Either.js'
import type { RosterError } from '../../../ports/roster-store.js'
import type { ApiClient } from '../api.js'
import { type Answer, ask } from '../objects/answer.js'
import type { ApiProblem } from '../objects/api-problem.js'
import type { Place } from '../objects/places.js'
import type { Holding } from './holding.js'

/** A place that is written to, and who writes. */
export interface Writing {
  readonly client: ApiClient
  readonly place: Place
  /** Tells this store from every other one, in other processes too. May stand in the name of an object. */
  readonly session: string
  /** Whether nobody else may write there now. */
  readonly isAlone: () => boolean
}

/** What has come of something, and what is known after it. */
export interface Outcome<A> {
  readonly result: A
  readonly holding: Holding
}

export type SaveResult = E.Either<RosterError, void>

export const send = (
  { client, place }: Writing,
  request: Parameters<typeof ask>[1],
): Promise<Answer> =>
  ask(client, request, `${verbs[request.method]} ${place.shown}`, new AbortController().signal)

const verbs = {
  GET: 'read',
  POST: 'make',
  PUT: 'write',
  PATCH: 'change',
  DELETE: 'delete a part of',
} as const

/** How many requests for parts are under way at once: one roster does not keep others from the API server. */
const maxAtOnce = 4

/**
 * Does this with all of them, a few at once; once something is wrong with one, with no further ones. Resolves with
 * what was wrong.
 */
export const each = async <A>(
  items: ReadonlyArray<A>,
  act: (item: A) => Promise<ApiProblem | undefined>,
): Promise<ApiProblem | undefined> => {
  let problem: ApiProblem | undefined
  const rest = items.values()
  const work = async (): Promise<void> => {
    for (const item of rest) {
      if (problem !== undefined) return
      problem = (await act(item)) ?? problem
    }
  }
  await Promise.all(Array.from({ length: maxAtOnce }, work))
  return problem
}

/** What went wrong, and how long the API server asks to be left alone. */
type Reason = Pick<ApiProblem, 'message' | 'retryAfterMs'>

export const failed = (writing: Writing, why: Reason): E.Either<RosterError, never> =>
  unavailable(writing, 'written', why)

export const unavailable = (
  { place }: Writing,
  done: 'read' | 'written',
  { message, retryAfterMs }: Reason,
): E.Either<RosterError, never> =>
  E.left({
    _tag: 'Unavailable',
    message: `the roster in ${place.shown} cannot be ${done}: ${message}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })

export const superseded = ({ place }: Writing): E.Either<RosterError, never> =>
  E.left({
    _tag: 'Superseded',
    message: `the roster in ${place.shown} cannot be written: ${takenOver}`,
  })

const takenOver =
  'somebody else has changed it. If another control plane uses it, give each a name or a namespace of its own; ' +
  'to go on with what is there now, start this one again'
