import * as E from 'fp-ts/lib/Either.js'
import type { Digest } from '../../../core/digest.js'
import type { RosterError } from '../../../ports/roster-store.js'
import type { ApiClient } from '../api.js'
import { type Answer, ask } from '../objects/answer.js'
import type { Place } from '../objects/places.js'
import { type Head, type Layout, layOut } from './head.js'
import {
  afterAdoption,
  afterDeletion,
  afterHead,
  afterLoss,
  afterParts,
  afterReplacement,
  afterTry,
  beforeParts,
  type Holding,
} from './holding.js'
import { createPart, deletePart, readHead, type Seen, seenIn, writeHead } from './requests.js'

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

/** How many requests for parts are under way at once: one roster does not keep others from the API server. */
const maxAtOnce = 4

/**
 * How many parts may lie there that no head names before no more are made: several times those of the largest roster.
 * They become many only where parts can be made all the time and the head never be written.
 */
export const maxLeftovers = 8_192

/** How often the head is tried in one save. */
const maxTries = 3

/**
 * Writes a text: the parts that are not there yet, then the head that names them all, in one step, guarded by the state
 * that it is known in. Where it is gone, all is written anew. Never rejects.
 */
export const saveText = async (
  writing: Writing,
  text: string,
  before: Holding,
): Promise<Outcome<SaveResult>> => {
  let holding = before
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const { parts } = holding
    const nameOf = (digest: Digest): string => parts.get(digest) ?? newName(writing, digest)
    const layout = layOut(text, nameOf)
    const made = await makeParts(writing, layout, holding)
    if (E.isLeft(made.result)) return { ...made, result: made.result }
    const tried = await putHead(writing, layout.head, made.holding)
    if (tried.result !== 'Again') return { ...tried, result: tried.result }
    holding = tried.holding
  }
  return { result: failed(writing, 'it is changed all the time'), holding }
}

/** What this store has tried to make it can make again: nobody else uses the name, and the content is the same. */
const newName = ({ place, session }: Writing, digest: Digest): string =>
  `${place.name}-${session}-${digest}`

const makeParts = async (
  writing: Writing,
  { pieces }: Layout,
  before: Holding,
): Promise<Outcome<SaveResult>> => {
  const { place } = writing
  const missing = [...pieces]
    .filter(([digest]) => !before.parts.has(digest))
    .map(([digest, piece]) => ({ digest, piece, name: newName(writing, digest) }))
  if (before.leftovers.size + missing.length > maxLeftovers)
    return {
      result: failed(writing, `${before.leftovers.size} parts are left over`),
      holding: before,
    }
  const holding = beforeParts(
    before,
    missing.map(({ name }) => name),
  )
  const made: Array<readonly [Digest, string]> = []
  const problem = await each(missing, async ({ digest, piece, name }) => {
    const answer = await send(writing, createPart(place, name, piece))
    const isThere = answer._tag === 'Conflict' && answer.alreadyExists
    if (answer._tag !== 'Done' && !isThere) return answer.problem.message
    made.push([digest, name])
    return undefined
  })
  const result = problem === undefined ? E.right(undefined) : failed(writing, problem)
  return { result, holding: afterParts(holding, made) }
}

const putHead = async (
  writing: Writing,
  head: Head,
  before: Holding,
): Promise<Outcome<SaveResult | 'Again'>> => {
  const { place, session } = writing
  const holding = afterTry(before)
  const mark = markOf(session, holding.tries)
  const answer = await send(writing, writeHead(place, head, before.seen?.version, mark))
  switch (answer._tag) {
    case 'Done': {
      const seen = seenIn(answer.object)
      return { result: E.right(undefined), holding: afterHead(holding, head, seen) }
    }
    case 'Missing':
      return before.seen === undefined
        ? { result: failed(writing, answer.problem.message), holding }
        : { result: 'Again', holding: afterLoss(holding) }
    case 'Conflict':
      return lookAt(writing, holding)
    case 'Problem':
      return { result: failed(writing, answer.problem.message), holding }
  }
}

const markOf = (session: string, attempt: number): string => `${session}-${attempt}`

/** The head is not in the state that was thought: whose is it now? */
const lookAt = async (
  writing: Writing,
  holding: Holding,
): Promise<Outcome<SaveResult | 'Again'>> => {
  const answer = await send(writing, readHead(writing.place))
  switch (answer._tag) {
    case 'Done': {
      const seen = seenIn(answer.object)
      if (isOurs(writing, holding, seen))
        return { result: 'Again', holding: afterAdoption(holding, seen) }
      return holding.hasSaved && writing.isAlone()
        ? { result: 'Again', holding: afterReplacement(holding, seen) }
        : { result: superseded(writing), holding }
    }
    case 'Missing':
      return { result: 'Again', holding: afterLoss(holding) }
    case 'Conflict':
    case 'Problem':
      return { result: failed(writing, answer.problem.message), holding }
  }
}

/** It says what it said, or is what a try of this store has left whose answer was lost. */
const isOurs = (
  { session }: Writing,
  { seen: known, tries, settled }: Holding,
  { mark, fingerprint }: Seen,
): boolean => {
  if (known?.fingerprint === fingerprint) return true
  for (let attempt = settled + 1; attempt <= tries; attempt += 1)
    if (mark === markOf(session, attempt)) return true
  return false
}

/** Whether the head says what it said; left if that cannot be told. Never rejects. */
export const isThere = async (
  writing: Writing,
  { seen: known }: Holding,
): Promise<E.Either<RosterError, boolean>> => {
  const answer = await send(writing, readHead(writing.place))
  switch (answer._tag) {
    case 'Done':
      return E.right(seenIn(answer.object).fingerprint === known?.fingerprint)
    case 'Missing':
      return E.right(known === undefined)
    case 'Conflict':
    case 'Problem':
      return unavailable(writing, 'read', answer.problem.message)
  }
}

const takenOver =
  'somebody else has changed it. If another control plane uses it, give each a name or a namespace of its own; ' +
  'to go on with what is there now, start this one again'

/** Deletes what is left over, as far as that goes. Never rejects. */
export const tidyUp = async (writing: Writing, holding: Holding): Promise<Holding> => {
  const deleted = new Set<string>()
  await each([...holding.leftovers], async (name) => {
    const answer = await send(writing, deletePart(writing.place, name))
    if (answer._tag !== 'Done' && answer._tag !== 'Missing') return answer.problem.message
    deleted.add(name)
    return undefined
  })
  return deleted.size === 0 ? holding : afterDeletion(holding, deleted)
}

const send = ({ client, place }: Writing, request: Parameters<typeof ask>[1]): Promise<Answer> =>
  ask(client, request, `${verbs[request.method]} ${place.shown}`, new AbortController().signal)

const verbs = {
  GET: 'read',
  POST: 'make',
  PUT: 'write',
  PATCH: 'change',
  DELETE: 'delete a part of',
} as const

/** Does this with all of them, a few at once; once something is wrong with one, with no further ones. */
const each = async <A>(
  items: ReadonlyArray<A>,
  act: (item: A) => Promise<string | undefined>,
): Promise<string | undefined> => {
  let problem: string | undefined
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

const failed = (writing: Writing, why: string): E.Either<RosterError, never> =>
  unavailable(writing, 'written', why)

const unavailable = (
  { place }: Writing,
  done: 'read' | 'written',
  why: string,
): E.Either<RosterError, never> =>
  E.left({ _tag: 'Unavailable', message: `the roster in ${place.shown} cannot be ${done}: ${why}` })

const superseded = ({ place }: Writing): E.Either<RosterError, never> =>
  E.left({
    _tag: 'Superseded',
    message: `the roster in ${place.shown} cannot be written: ${takenOver}`,
  })
