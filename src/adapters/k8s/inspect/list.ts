import * as E from 'fp-ts/lib/Either.js'
import { cutMessage } from '../../../core/cut-message.js'
import type { ApiClient, ApiFailure, ApiReply } from '../api.js'
import { isObject, type JsonObject } from '../informers/index.js'
import { walkPages } from '../objects/walk-pages.js'
import { isDenied, itemsOn, saidBy } from '../reply.js'

/** Why a person gets no answer from an API server. */
export interface InspectProblem {
  readonly _tag: 'Unreachable' | 'Denied' | 'NoSuchKind' | 'Failed'
  /** For people: what was asked, and what was answered. */
  readonly message: string
}

/** How long one page may take, in milliseconds: 500 objects take a busy server a second. */
const pageDeadlineMs = 15_000

/** Objects on a page, as client-go asks for them: no single answer is large. */
const pageSize = 500

/**
 * Pages of one list: 100,000 objects are more than a person asks for, and a server that goes on for ever is cut
 * off.
 */
const maxPages = 200

/** How often a list is begun again whose rest the server has forgotten meanwhile. */
const maxRestarts = 3

/**
 * Lists objects as they are, page by page. Never rejects.
 *
 * Needs the permission to list, and no other: a single object is asked for with the query `ofName`.
 */
export const listObjects = async (
  client: ApiClient,
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<E.Either<InspectProblem, ReadonlyArray<JsonObject>>> => {
  const objects: Array<JsonObject> = []
  let pages = 0
  const walked = await walkPages<InspectProblem>({
    ask: async (position) => {
      pages += 1
      if (pages > maxPages) return E.left(tooMany(path))
      const paged = { limit: `${pageSize}`, ...(position !== undefined && { continue: position }) }
      const request = { method: 'GET', path, query: { ...query, ...paged } } as const
      const reply = await client.send({ ...request, deadlineMs: pageDeadlineMs }, signal)()
      return E.isLeft(reply) ? E.left(unanswered(reply.left)) : reply
    },
    take: (reply) => {
      if (reply.status !== 200) return E.left(refusedBy(path, reply))
      const items = itemsOn(reply)
      if (items === undefined) return E.left(noList(path))
      objects.push(...items.filter(isObject))
      return E.right(true)
    },
    onRestart: () => void objects.splice(0),
    maxRestarts,
  })
  return E.isLeft(walked) ? walked : E.right(objects)
}

/** Picks the object of this name from a list. */
export const ofName = (name: string): Readonly<Record<string, string>> => ({
  fieldSelector: `metadata.name=${name}`,
})

const unanswered = ({ message }: ApiFailure): InspectProblem => ({ _tag: 'Unreachable', message })

const refusedBy = (path: string, reply: ApiReply): InspectProblem => {
  const said = saidBy(reply)
  const message = `${path}: the API server answers ${reply.status}${said === undefined ? '' : `: ${cutMessage(said)}`}`
  if (reply.status === 404) return { _tag: 'NoSuchKind', message }
  return { _tag: isDenied(reply) ? 'Denied' : 'Failed', message }
}

const tooMany = (path: string): InspectProblem => ({
  _tag: 'Failed',
  message: `there are too many objects at ${path}`,
})

const noList = (path: string): InspectProblem => ({
  _tag: 'Failed',
  message: `${path}: something else than a list was sent. Is there a proxy before the API server?`,
})
