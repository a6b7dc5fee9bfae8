import * as E from 'fp-ts/lib/Either.js'
import type { Roster } from '../../../core/roster.js'
import { decodeRoster } from '../../../core/roster/codec.js'
import type { RosterError } from '../../../ports/roster-store.js'
import type { ApiClient } from '../api.js'
import { ask } from '../objects/answer.js'
import type { ApiProblem } from '../objects/api-problem.js'
import type { Place } from '../objects/places.js'
import { isList, isObject, type JsonObject, objectIn, textIn } from '../reflector/index.js'
import { type Head, headIn, pieceIn, textOf } from './head.js'
import { listParts, readHead, type Seen, seenIn } from './requests.js'

/** A roster as it was found. */
export interface Loaded {
  readonly roster: Roster
  /** `undefined` if there is no head. */
  readonly seen: Seen | undefined
  /** What the head says; an empty text if there is none. */
  readonly head: Head
  /** The names of all parts that are there, those which the head does not name among them. */
  readonly partNames: ReadonlyArray<string>
}

/** How often it is read anew because somebody was writing meanwhile. */
const maxReadings = 3

/** How many pages of parts are read: far more than the largest roster has. */
const maxPages = 1_000

/** Reads a roster. What another writes meanwhile is waited out, a few times. Never rejects. */
export const loadRoster = async (
  client: ApiClient,
  place: Place,
): Promise<E.Either<RosterError, Loaded>> => {
  let reading = await readOnce(client, place)
  for (let again = 1; again < maxReadings && E.isLeft(reading) && reading.left.isTorn; again += 1)
    reading = await readOnce(client, place)
  return E.mapLeft(({ error }: Failure) => error)(reading)
}

/** Why a reading came to nothing. */
export interface Failure {
  readonly error: RosterError
  /** Somebody may have written in the middle of it. */
  readonly isTorn: boolean
}

const readOnce = async (client: ApiClient, place: Place): Promise<E.Either<Failure, Loaded>> => {
  const signal = new AbortController().signal
  const answer = await ask(client, readHead(place), `read ${place.shown}`, signal)
  if (answer._tag === 'Problem' || answer._tag === 'Conflict')
    return unavailable(answer.problem, false)
  const pieces = await readPieces(client, place)
  if (E.isLeft(pieces)) return pieces
  const partNames = [...pieces.right.keys()]
  if (answer._tag === 'Missing') return E.right({ ...nothing, partNames })
  const read = rosterIn(place, answer.object, pieces.right)
  return E.isLeft(read) ? read : E.right({ ...read.right, seen: seenIn(answer.object), partNames })
}

const nothing: Omit<Loaded, 'partNames'> = {
  roster: new Map(),
  seen: undefined,
  head: { _tag: 'Whole', text: '' },
}

const rosterIn = (
  place: Place,
  object: JsonObject,
  pieces: ReadonlyMap<string, string>,
): E.Either<Failure, Pick<Loaded, 'roster' | 'head'>> => {
  const head = headIn(object)
  if (E.isLeft(head)) return unreadable(place, head.left, false)
  const text = textOf(head.right, pieces)
  if (E.isLeft(text)) return unreadable(place, text.left.message, text.left._tag === 'PartMissing')
  const roster = decodeRoster(text.right)
  if (E.isLeft(roster)) return unreadable(place, roster.left, false)
  return E.right({ roster: roster.right, head: head.right })
}

/** What all parts hold that are there, by their names. */
const readPieces = async (
  client: ApiClient,
  place: Place,
): Promise<E.Either<Failure, ReadonlyMap<string, string>>> => {
  const pieces = new Map<string, string>()
  const read = await eachPart(client, place, (name, piece) => pieces.set(name, piece))
  return E.isLeft(read) ? read : E.right(pieces)
}

/** Reads all parts that are there, page by page: no more than one page is held. Never rejects. */
export const eachPart = async (
  client: ApiClient,
  place: Place,
  visit: (name: string, piece: string) => void,
): Promise<E.Either<Failure, void>> => {
  const signal = new AbortController().signal
  const what = `read the parts of ${place.shown}`
  let rest: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const answer = await ask(client, listParts(place, rest), what, signal)
    if (answer._tag !== 'Done') return unavailable(answer.problem, answer._tag === 'Conflict')
    const { items } = answer.object
    for (const item of isList(items) ? items.filter(isObject) : []) {
      const name = textIn(objectIn(item, 'metadata'), 'name')
      if (name !== undefined) visit(name, pieceIn(item) ?? '')
    }
    rest = textIn(objectIn(answer.object, 'metadata'), 'continue')
    if (rest === undefined) return E.right(undefined)
  }
  return unavailable({ message: `cannot ${what}: there are too many` }, false)
}

const unavailable = (
  { message, retryAfterMs }: Pick<ApiProblem, 'message' | 'retryAfterMs'>,
  isTorn: boolean,
): E.Either<Failure, never> => {
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs }
  return E.left({ error: { _tag: 'Unavailable', message, ...asked }, isTorn })
}

const unreadable = ({ shown }: Place, why: string, isTorn: boolean): E.Either<Failure, never> =>
  E.left({
    error: {
      _tag: 'Unreadable',
      message:
        `the roster in ${shown} cannot be read, and is left as it is: ${why}. Only it says which Envoys may ` +
        'still serve deleted routes: restore it; or, if all of them are connected or gone for good, delete it',
    },
    isTorn,
  })
