import * as E from 'fp-ts/lib/Either.js'
import { cutMessage } from '../../../core/cut-message.js'
import type { ApiClient, ApiFailure, ApiReply } from '../api.js'
import { isList, isObject, type JsonObject, objectIn, textIn } from '../informers/index.js'

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
  let restarts = 0
  let objects: Array<JsonObject> = []
  let rest: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const paged = { ...query, limit: `${pageSize}`, ...(rest !== undefined && { continue: rest }) }
    const request = { method: 'GET', path, query: paged, deadlineMs: pageDeadlineMs } as const
    const reply = await client.send(request, signal)()
    if (E.isLeft(reply)) return E.left(unanswered(reply.left))
    const { status, body } = reply.right
    if (status === 410 && restarts < maxRestarts) {
      restarts += 1
      objects = []
      rest = undefined
      continue
    }
    if (status !== 200) return E.left(refusedBy(path, reply.right))
    const items = isObject(body) && isList(body['items']) ? body['items'].filter(isObject) : []
    objects.push(...items)
    rest = textIn(objectIn(body, 'metadata'), 'continue')
    if (rest === undefined) return E.right(objects)
  }
  return E.left({ _tag: 'Failed', message: `there are too many objects at ${path}` })
}

/** Picks the object of this name from a list. */
export const ofName = (name: string): Readonly<Record<string, string>> => ({
  fieldSelector: `metadata.name=${name}`,
})

const unanswered = ({ message }: ApiFailure): InspectProblem => ({ _tag: 'Unreachable', message })

const refusedBy = (path: string, { status, body }: ApiReply): InspectProblem => {
  const said = isObject(body) ? textIn(body, 'message') : undefined
  const message = `${path}: the API server answers ${status}${said === undefined ? '' : `: ${cutMessage(said)}`}`
  if (status === 404) return { _tag: 'NoSuchKind', message }
  return { _tag: status === 401 || status === 403 ? 'Denied' : 'Failed', message }
}
