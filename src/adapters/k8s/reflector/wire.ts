import * as E from 'fp-ts/lib/Either.js'
import { showKey } from '../../../core/edge-route.js'
import type { ApiFailure, ApiReply } from '../api.js'
import { itemsOn, saidBy } from '../reply.js'
import type { Failure } from './failure.js'
import type { Reflected } from './holdings.js'
import { isObject, type JsonObject, objectIn, textIn } from './json.js'
import type { ReflectorEvent, Sighting } from './state.js'

/**
 * What is kept of an object; `undefined` if nothing is. `before` is what was kept of an earlier form of the same
 * object: parts that are equal should be the same ones. Must not throw, and not hold on to the object as a whole.
 */
export type Project<A> = (object: JsonObject, before: A | undefined) => A | undefined

/** How objects are read. No function may throw. */
export interface Reading<A> {
  readonly project: Project<A>
  /** The object that has the name now, as far as is known. */
  readonly known: (name: string) => Reflected<A> | undefined
  /** What an object is selected by, out of its metadata; `undefined` where everything is kept. */
  readonly groupOf: ((object: JsonObject) => string | undefined) | undefined
  /** Whether objects of this group are kept at the moment: what is not kept is not projected. */
  readonly wants: (group: string | undefined) => boolean
}

type News<A> = ReflectorEvent<A> & { readonly attempt: number }

/** A list, or a page of one. */
export interface Page<A> {
  readonly items: ReadonlyArray<Sighting<A>>
  readonly resourceVersion: string
  /** Where the next page begins; `undefined` on the last one. */
  readonly next: string | undefined
}

/** Reads the reply to a list. What is no list, as a proxy may send in its place, says nothing of what is there. */
export const readPage = <A>(reading: Reading<A>, reply: ApiReply): E.Either<Failure, Page<A>> => {
  if (reply.status !== 200) return E.left(refusalOf(reply))
  const resourceVersion = versionOf(reply.body)
  if (resourceVersion === undefined) return E.left(malformed('a list without a resource version'))
  const items = readItems(reading, reply)
  if (items === undefined) return E.left(malformed('a list with something else than objects'))
  const next = textIn(objectIn(reply.body, 'metadata'), 'continue')
  return E.right({ items, resourceVersion, next })
}

/** The objects of a list; `undefined` if they cannot be told. No items at all are an empty list, as Go writes it. */
const readItems = <A>(
  reading: Reading<A>,
  reply: ApiReply,
): ReadonlyArray<Sighting<A>> | undefined => {
  const sightings = itemsOn(reply)?.map((item) => sightingOf(reading, item, true))
  return sightings?.every((sighting) => sighting !== undefined) ? sightings : undefined
}

/** Reads a line of a watch. A word that cannot be understood ends it, since nobody knows what it said. */
export const readLine = <A>(reading: Reading<A>, attempt: number, line: string): News<A> => {
  const failed = (failure: Failure): News<A> => ({ _tag: 'Failed', attempt, failure })
  const { type, object } = parse(line)
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const sighting = sightingOf(reading, object, type !== 'DELETED')
      if (sighting === undefined) return failed(malformed(`an object that is none: ${cut(line)}`))
      return { _tag: type === 'DELETED' ? 'Deleted' : 'Applied', attempt, object: sighting }
    }
    case 'BOOKMARK': {
      const resourceVersion = versionOf(object)
      const annotations = objectIn(objectIn(object, 'metadata'), 'annotations')
      const endsInitialEvents = annotations['k8s.io/initial-events-end'] === 'true'
      return resourceVersion === undefined
        ? failed(malformed('a bookmark without a resource version'))
        : { _tag: 'Bookmarked', attempt, resourceVersion, endsInitialEvents }
    }
    case 'ERROR':
      return failed(statusOf(object))
    default:
      return failed(malformed(`a line that is no event: ${cut(line)}`))
  }
}

/** Reads how a watch ended. */
export const readEnd = <A>(attempt: number, reply: ApiReply): News<A> =>
  reply.status === 200
    ? { _tag: 'Ended', attempt }
    : { _tag: 'Failed', attempt, failure: refusalOf(reply) }

/** Why there is no reply. */
export const failureOf = ({ _tag, message }: ApiFailure): Failure => ({
  _tag: _tag === 'TimedOut' ? 'Silent' : 'Unreachable',
  message,
})

/** What a reply says against a request. */
const refusalOf = (reply: ApiReply): Failure => ({
  _tag: 'Refused',
  status: reply.status,
  message: saidBy(reply) ?? `HTTP ${reply.status}`,
  retryAfterMs: reply.retryAfterMs,
})

/** A `Status` in the middle of a stream, whose HTTP status was 200. */
const statusOf = (object: unknown): Failure => {
  const status = isObject(object) ? object : {}
  const { code } = status
  const seconds = objectIn(status, 'details').retryAfterSeconds
  return {
    _tag: 'Refused',
    status: typeof code === 'number' ? code : 500,
    message: textIn(status, 'message') ?? 'an error without a message',
    retryAfterMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : undefined,
  }
}

const malformed = (message: string): Failure => ({
  _tag: 'Malformed',
  message: `the API server sent ${message}`,
})

const sightingOf = <A>(
  reading: Reading<A>,
  object: unknown,
  isThere: boolean,
): Sighting<A> | undefined => {
  if (!isObject(object)) return undefined
  const metadata = objectIn(object, 'metadata')
  const [namespace, name] = [textIn(metadata, 'namespace'), textIn(metadata, 'name')]
  const [uid, resourceVersion] = [textIn(metadata, 'uid'), textIn(metadata, 'resourceVersion')]
  if (namespace === undefined || name === undefined) return undefined
  if (uid === undefined || resourceVersion === undefined) return undefined
  const group = reading.groupOf?.(object)
  const sighting = { name: showKey({ namespace, name }), uid, resourceVersion, group }
  const value = isThere && reading.wants(group) ? read(reading, object, sighting) : undefined
  return { ...sighting, value }
}

/** A form that is known need not be read again, as most are when everything is listed again. */
const read = <A>(
  { project, known }: Reading<A>,
  object: JsonObject,
  { name, uid, resourceVersion }: Omit<Sighting<A>, 'value'>,
): A | undefined => {
  const before = known(name)
  if (before?.uid !== uid) return project(object, undefined)
  return before.resourceVersion === resourceVersion ? before.value : project(object, before.value)
}

const versionOf = (object: unknown): string | undefined =>
  textIn(objectIn(object, 'metadata'), 'resourceVersion')

const parse = (line: string): JsonObject => {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** How much of a line is shown, in UTF-16 code units. */
const shownLength = 100

const cut = (line: string): string =>
  line.length <= shownLength ? line : `${line.slice(0, shownLength)}…`
