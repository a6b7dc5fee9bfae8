import * as E from 'fp-ts/lib/Either.js'
import type { ApiClient, ApiFailure, ApiReply, ApiRequest } from '../../src/adapters/k8s/api.js'
import { isList, isObject, objectIn } from '../../src/adapters/k8s/informers/index.js'
import type {
  ApiError,
  ApiObject,
  JsonPatch,
  MemoryApiServer,
} from '../../src/adapters/memory/api-server/index.js'
import type { RouteKey } from '../../src/core/edge-route.js'

/** What becomes of a request in place of what the server would do with it, or after that. */
export type Meddling =
  | { readonly reply: ApiReply; readonly isDone?: boolean }
  | { readonly failure: ApiFailure; readonly isDone?: boolean }

/** A client of a server in memory that speaks the API of Kubernetes. */
export interface ApiDouble extends ApiClient {
  readonly asked: ReadonlyArray<ApiRequest>
  /** Is asked of each request, and may wait. */
  meddle: (request: ApiRequest) => Meddling | undefined | Promise<Meddling | undefined>
}

export const replyOf = (
  status: number,
  { message = `status ${status}`, name = '', retryAfterMs = undefined as number | undefined } = {},
): ApiReply => ({
  status,
  body: { kind: 'Status', code: status, message, details: name === '' ? {} : { name } },
  retryAfterMs,
})

const ok = (body: unknown): ApiReply => ({ status: 200, body, retryAfterMs: undefined })

const pathPattern =
  /^\/apis\/net\.10xdev\.io\/v1(?:\/namespaces\/([^/]+))?\/edgeroutes(?:\/([^/]+))?(\/status)?$/

export const apiDouble = (server: MemoryApiServer): ApiDouble => {
  const asked: Array<ApiRequest> = []
  const apply = applying(server)
  const answer = (request: ApiRequest): ApiReply => {
    const [, namespace, name, status] = pathPattern.exec(request.path) ?? []
    const { method, contentType, body, query = {} } = request
    if (method === 'GET' && name === undefined) return listed(server, namespace, query)
    if (namespace === undefined || name === undefined) return replyOf(404)
    const key = { namespace, name }
    if (method === 'GET') {
      const object = server.get(key)
      return object === undefined ? replyOf(404, { name }) : ok(object)
    }
    if (method === 'PATCH' && contentType === 'application/json-patch+json') {
      const patch = body as JsonPatch
      const subresource = status === undefined ? {} : ({ subresource: 'status' } as const)
      return answerOf(key, server.write({ _tag: 'Patch', key, patch, ...subresource }))
    }
    return method === 'PATCH' && status !== undefined && contentType?.includes('apply-patch')
      ? apply(key, body)
      : replyOf(405)
  }
  const double: ApiDouble = {
    asked,
    meddle: () => undefined,
    send: (request, signal) => async () => {
      asked.push(request)
      const meddling = await double.meddle(request)
      if (signal.aborted) return E.left({ _tag: 'Aborted', message: 'aborted' })
      if (meddling === undefined) return E.right(answer(sent(request)))
      if (meddling.isDone === true) answer(sent(request))
      return 'reply' in meddling ? E.right(meddling.reply) : E.left(meddling.failure)
    },
    stream: () => () => Promise.resolve(E.left({ _tag: 'Unreachable', message: 'no streams' })),
  }
  return double
}

/** What goes over the wire is JSON. */
const sent = (request: ApiRequest): ApiRequest => JSON.parse(JSON.stringify(request)) as ApiRequest

const answerOf = (key: RouteKey, answer: E.Either<ApiError, ApiObject>): ApiReply => {
  if (E.isRight(answer)) return ok(answer.right)
  const { code, message } = answer.left
  return replyOf(code, { message, ...(code === 404 && { name: key.name }) })
}

const listed = (
  server: MemoryApiServer,
  namespace: string | undefined,
  { limit, continue: position }: Readonly<Record<string, string>>,
): ApiReply => {
  const { items, resourceVersion } = server.list()
  const all = items.filter(
    ({ metadata }) => (namespace ?? metadata.namespace) === metadata.namespace,
  )
  const after = position === undefined ? all : all.filter((each) => placeOf(each) > position)
  const page = after.slice(0, Number(limit ?? Infinity))
  const last = page.at(-1)
  const next = last !== undefined && page.length < after.length ? { continue: placeOf(last) } : {}
  return ok({ metadata: { resourceVersion, ...next }, items: page })
}

const placeOf = ({ metadata }: ApiObject): string => `${metadata.namespace}/${metadata.name}`

/** Applies the conditions of one field manager: those that it applied before and no longer names are taken off. */
const applying = (server: MemoryApiServer) => {
  const applied = new Map<string, ReadonlySet<unknown>>()
  return (key: RouteKey, body: unknown): ApiReply => {
    const object = server.get(key)
    if (object === undefined) return replyOf(404, { name: key.name })
    const { resourceVersion } = objectIn(body, 'metadata')
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
      return replyOf(409, { name: key.name, message: 'the object has been modified' })
    const wanted = new Map(conditionsIn(body).map((each) => [each.type, each]))
    const before = applied.get(object.metadata.uid) ?? new Set()
    const kept = conditionsIn(object).flatMap((each) => {
      const replacement = wanted.get(each.type)
      if (replacement !== undefined) return [replacement]
      return before.has(each.type) ? [] : [each]
    })
    const present = new Set(kept.map(({ type }) => type))
    const added = [...wanted.values()].filter(({ type }) => !present.has(type))
    applied.set(object.metadata.uid, new Set(wanted.keys()))
    const status = { ...objectIn(object, 'status'), conditions: [...kept, ...added] }
    const update = { _tag: 'Update', object: { ...object, status }, subresource: 'status' } as const
    return answerOf(key, server.write(update))
  }
}

const conditionsIn = (object: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const { conditions } = objectIn(object, 'status')
  return isList(conditions) ? conditions.filter(isObject) : []
}
