import * as E from 'fp-ts/lib/Either.js'
import type { Digest } from '../../../core/digest.js'
import { encodeRoster } from '../../../core/roster/codec.js'
import type { RosterError } from '../../../ports/roster-store.js'
import type { JsonObject } from '../reflector/index.js'
import { type Head, headIn, type Layout, layOut } from './head.js'
import {
  afterAdoption,
  afterDeletion,
  afterDoubt,
  afterHead,
  afterLoss,
  afterParts,
  afterReplacement,
  afterTry,
  beforeParts,
  type Holding,
} from './holding.js'
import { createPart, deletePart, readHead, type Seen, seenIn, writeHead } from './requests.js'
import {
  each,
  failed,
  type Outcome,
  type SaveResult,
  send,
  superseded,
  type Writing,
} from './writing.js'

/**
 * How many parts may lie there that no head names before room is made for more: several times those of the largest
 * roster. They become many only while the head cannot be written for long.
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
    const { parts, generation } = holding
    const nameOf = (digest: Digest): string =>
      parts.get(digest) ?? newName(writing, generation, digest)
    const layout = layOut(text, nameOf)
    const made = await makeParts(writing, layout, holding)
    const tried =
      made.result === 'Made'
        ? await putHead(writing, layout.head, made.holding)
        : { ...made, result: made.result }
    if (tried.result !== 'Again') return { ...tried, result: tried.result }
    holding = tried.holding
  }
  return { result: failed(writing, { message: 'it is changed all the time' }), holding }
}

/**
 * What this store has tried to make it can make again within a generation: nobody else uses the name, the content is
 * the same, and no deletion is under way.
 */
const newName = ({ place, session }: Writing, generation: number, digest: Digest): string =>
  `${place.name}-${session}-${generation}-${digest}`

const makeParts = async (
  writing: Writing,
  { pieces }: Layout,
  before: Holding,
): Promise<Outcome<SaveResult | 'Again' | 'Made'>> => {
  const { place } = writing
  const missing = [...pieces]
    .filter(([digest]) => !before.parts.has(digest))
    .map(([digest, piece]) => ({
      digest,
      piece,
      name: newName(writing, before.generation, digest),
    }))
  if (before.leftovers.size + missing.length > maxLeftovers) return makeRoom(writing, before)
  const holding = beforeParts(
    before,
    missing.map(({ name }) => name),
  )
  const made: Array<readonly [Digest, string]> = []
  const problem = await each(missing, async ({ digest, piece, name }) => {
    const answer = await send(writing, createPart(place, name, piece))
    const isThere = answer._tag === 'Conflict' && answer.alreadyExists
    if (answer._tag !== 'Done' && !isThere) return answer.problem
    made.push([digest, name])
    return undefined
  })
  const result = problem === undefined ? ('Made' as const) : failed(writing, problem)
  return { result, holding: afterParts(holding, made) }
}

/**
 * Deletes all that is left over, before the text can be written. A late write of the head may still come to name some
 * of it; so the head is written first as it is, after which no earlier one fits. Where there is none, none is as good
 * as one without Envoys.
 */
const makeRoom = async (
  writing: Writing,
  before: Holding,
): Promise<Outcome<SaveResult | 'Again'>> => {
  const { result: found, holding } = await findHead(writing, before)
  if (E.isLeft(found)) return { result: found, holding }
  const head = found.right === undefined ? emptyHead : headIn(found.right)
  if (E.isLeft(head)) {
    return { result: failed(writing, { message: `${head.left}: delete it` }), holding }
  }
  const written = await putHead(writing, head.right, holding)
  if (written.result === 'Again' || E.isLeft(written.result)) return written
  const { parts, leftovers } = written.holding
  const tidied = await tidyUp(writing, written.holding, leftovers)
  // What was not relied on before is not there for sure because the head names it.
  const doubtful = new Set([...parts.keys()].filter((digest) => !holding.parts.has(digest)))
  const { size } = tidied.leftovers
  return {
    result: size === 0 ? 'Again' : failed(writing, { message: `${size} parts are left over` }),
    holding: afterDoubt(tidied, doubtful),
  }
}

/** What is read from it is what is read where there is no head. */
const emptyHead: E.Either<string, Head> = E.map((text: string): Head => ({ _tag: 'Whole', text }))(
  encodeRoster(new Map()),
)

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
        ? { result: failed(writing, answer.problem), holding }
        : { result: 'Again', holding: afterLoss(holding) }
    case 'Conflict':
      return lookAt(writing, holding)
    case 'Problem':
      return { result: failed(writing, answer.problem), holding }
  }
}

const markOf = (session: string, attempt: number): string => `${session}-${attempt}`

/** The head is not in the state that was thought. */
const lookAt = async (
  writing: Writing,
  before: Holding,
): Promise<Outcome<SaveResult | 'Again'>> => {
  const { result, holding } = await findHead(writing, before)
  return { result: E.isLeft(result) ? result : 'Again', holding }
}

/** The head as it is now, if it may be replaced; `undefined` if there is none. */
const findHead = async (
  writing: Writing,
  holding: Holding,
): Promise<Outcome<E.Either<RosterError, JsonObject | undefined>>> => {
  const answer = await send(writing, readHead(writing.place))
  switch (answer._tag) {
    case 'Done': {
      const seen = seenIn(answer.object)
      const result = E.right(answer.object)
      if (isOurs(writing, holding, seen)) return { result, holding: afterAdoption(holding, seen) }
      return holding.hasSaved && writing.isAlone()
        ? { result, holding: afterReplacement(holding, seen) }
        : { result: superseded(writing), holding }
    }
    case 'Missing':
      return { result: E.right(undefined), holding: afterLoss(holding) }
    case 'Conflict':
    case 'Problem':
      return { result: failed(writing, answer.problem), holding }
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

/**
 * Deletes parts that were left over when a head was written, as far as that goes: what was made since may be named by
 * the next one. Never rejects.
 */
export const tidyUp = async (
  writing: Writing,
  holding: Holding,
  leftovers: ReadonlySet<string>,
): Promise<Holding> => {
  const deleted = new Set<string>()
  const names = [...leftovers].filter((name) => holding.leftovers.has(name))
  await each(names, async (name) => {
    const answer = await send(writing, deletePart(writing.place, name))
    if (answer._tag !== 'Done' && answer._tag !== 'Missing') return answer.problem
    deleted.add(name)
    return undefined
  })
  return deleted.size === 0 ? holding : afterDeletion(holding, deleted)
}
