import * as E from 'fp-ts/lib/Either.js'
import type { StoredObject } from '../../../core/stored-object.js'
import type { Clock } from '../../../ports/clock.js'
import type { ApiClient, ApiReply } from '../api.js'
import { edgeRoutes, isObject, pathOf } from '../informers/index.js'
import { storedOf } from '../informers/stored.js'
import { walkPages } from '../objects/walk-pages.js'
import { isPassing, itemsOn, saidBy } from '../reply.js'
import { patiently } from './patience.js'

interface PagePorts {
  readonly client: ApiClient
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** How many objects a page brings: as many as kubectl and client-go ask for. */
const pageSize = 500

/** How long a page may take, in milliseconds: API servers end a request after as long. */
const pageDeadlineMs = 60_000

/**
 * After how many lists that expired between two pages to give up: one that is begun anew goes on faster, since fewer of
 * its objects have anything to be taken off.
 */
const maxExpiries = 10

/**
 * Hands over the EdgeRoutes of these namespaces, or of all, page by page; the next page is asked for when `onPage` has
 * resolved. Of a list that expires meanwhile, pages may be handed over again. On the left is why it did not come to its
 * end. That the server does not know the kind is an empty list.
 */
export const eachPage = async (
  ports: PagePorts,
  namespaces: ReadonlyArray<string> | undefined,
  onPage: (objects: ReadonlyArray<StoredObject>) => Promise<void>,
): Promise<E.Either<string, void>> => {
  const places = namespaces === undefined ? [undefined] : [...new Set(namespaces)]
  for (const namespace of places) {
    const listed = await eachPageOf(ports, pathOf(edgeRoutes, namespace), onPage)
    if (E.isLeft(listed)) return listed
  }
  return E.right(undefined)
}

const eachPageOf = (
  ports: PagePorts,
  path: string,
  onPage: (objects: ReadonlyArray<StoredObject>) => Promise<void>,
): Promise<E.Either<string, void>> =>
  walkPages<string>({
    ask: (position) => askFor(ports, path, position),
    take: async (reply) => {
      const { status } = reply
      if (status === 404) return E.right(false)
      const items = itemsOn(reply)
      if (status !== 200 || items === undefined) return E.left(refusalOf(reply))
      await onPage(items.filter(isObject).map(storedOf))
      return E.right(!ports.signal.aborted)
    },
    onRestart: () => undefined,
    maxRestarts: maxExpiries,
  })

const askFor = (
  { client, clock, signal }: PagePorts,
  path: string,
  position: string | undefined,
): Promise<E.Either<string, ApiReply>> => {
  const query = { limit: String(pageSize), ...(position !== undefined && { continue: position }) }
  const request = { method: 'GET', path, query, deadlineMs: pageDeadlineMs } as const
  return patiently(clock, signal, async () => {
    const reply = await client.send(request, signal)()
    if (E.isLeft(reply)) return { _tag: 'Again', message: reply.left.message, pauseMs: 0 }
    return isPassing(reply.right)
      ? { _tag: 'Again', message: refusalOf(reply.right), pauseMs: reply.right.retryAfterMs ?? 0 }
      : { _tag: 'Done', value: E.right(reply.right) }
  })
}

const refusalOf = (reply: ApiReply): string =>
  `the API server answers ${reply.status} to a list of ${edgeRoutes.plural}: ${reasonOf(reply)}`

const reasonOf = (reply: ApiReply): string =>
  saidBy(reply) ?? (reply.status === 200 ? 'something else than a list' : 'no reason given')
