import * as E from 'fp-ts/lib/Either.js'
import type { ApiClient, ApiFailure, ApiReply, ApiRequest } from '../../src/adapters/k8s/api.js'
import {
  isObject,
  type JsonObject,
  objectIn,
  textIn,
} from '../../src/adapters/k8s/informers/index.js'

/** What becomes of a request in place of what the server would do with it, or after that. */
export type Meddling =
  | { readonly reply: ApiReply; readonly isDone?: boolean }
  | { readonly failure: ApiFailure; readonly isDone?: boolean }

/** Objects of any kind, as an API server keeps them. */
export interface ObjectServer {
  /** In the order in which they came. */
  readonly asked: ReadonlyArray<ApiRequest>
  /** Is asked of each request before it is carried out, and may wait. */
  meddle: (request: ApiRequest) => Meddling | undefined | Promise<Meddling | undefined>
  readonly client: ApiClient
  /** The object at a path, as it is now. */
  readonly at: (path: string) => JsonObject | undefined
  /** The names of all objects of a collection, in order. */
  readonly names: (collection: string) => ReadonlyArray<string>
  /** Changes or makes an object, as somebody else would. */
  readonly edit: (path: string, fields: JsonObject) => void
  readonly remove: (path: string) => void
  /** Carries a request out at once, as one that had been under way. */
  readonly perform: (request: ApiRequest) => ApiReply
}

export const statusOf = (
  status: number,
  reason = '',
  message = `status ${status}`,
  retryAfterMs?: number,
): ApiReply => ({
  status,
  body: { kind: 'Status', code: status, reason, message },
  retryAfterMs,
})

export const lost = (isDone: boolean): Meddling => ({
  failure: { _tag: 'TimedOut', message: 'no answer' },
  isDone,
})

const ok = (body: unknown, status = 200): ApiReply => ({ status, body, retryAfterMs: undefined })

/** What the data of a ConfigMap may have, in bytes. */
const maxDataBytes = 1_048_576

export const objectServer = (): ObjectServer => {
  const objects = new Map<string, JsonObject>()
  const asked: Array<ApiRequest> = []
  let lastVersion = 0
  const put = (path: string, object: JsonObject): JsonObject => {
    const resourceVersion = String((lastVersion += 1))
    const metadata = { ...objectIn(object, 'metadata'), resourceVersion }
    const stored = { ...object, metadata }
    objects.set(path, stored)
    return stored
  }
  const create = (collection: string, object: JsonObject): ApiReply => {
    const name = textIn(objectIn(object, 'metadata'), 'name')
    if (name === undefined || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) || name.length > 253)
      return statusOf(422, 'Invalid', `name ${name}`)
    const path = `${collection}/${name}`
    if (objects.has(path)) return statusOf(409, 'AlreadyExists')
    return refusal(object) ?? ok(put(path, object), 201)
  }
  const replace = (path: string, object: JsonObject): ApiReply => {
    const there = objects.get(path)
    if (there === undefined) return statusOf(404, 'NotFound')
    if (!isCurrent(there, object)) return statusOf(409, 'Conflict')
    if (there['immutable'] === true) return statusOf(422, 'Invalid', 'immutable')
    return refusal(object) ?? ok(put(path, object))
  }
  const patch = (path: string, change: JsonObject): ApiReply => {
    const there = objects.get(path)
    if (there === undefined) return statusOf(404, 'NotFound')
    if (!isCurrent(there, change)) return statusOf(409, 'Conflict')
    const merged = mergeInto(there, change)
    return refusal(merged) ?? ok(put(path, merged))
  }
  const list = (collection: string, query: Readonly<Record<string, string>>): ApiReply => {
    const [label = '', value] = (query['labelSelector'] ?? '').split('=')
    const limit = Number(query['limit'] ?? 1_000_000)
    const after = query['continue'] ?? ''
    const all = [...objects]
      .filter(([path]) => path.startsWith(`${collection}/`) && path > after)
      .filter(([, object]) => {
        const labels = objectIn(objectIn(object, 'metadata'), 'labels')
        return value === undefined || labels[label] === value
      })
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const page = all.slice(0, limit)
    const next = page.length < all.length ? { continue: page.at(-1)?.[0] } : {}
    const metadata = { resourceVersion: String(lastVersion + 1), ...next }
    return ok({ metadata, items: page.map(([, object]) => object) })
  }
  const isCollection = (path: string): boolean => /\/namespaces\/[^/]+\/[^/]+$/.test(path)
  const perform = ({ method, path, query = {}, body }: ApiRequest): ApiReply => {
    // What goes over the wire is JSON.
    const json: unknown = body === undefined ? {} : JSON.parse(JSON.stringify(body))
    const object = isObject(json) ? json : {}
    if (isCollection(path)) return method === 'POST' ? create(path, object) : list(path, query)
    switch (method) {
      case 'GET': {
        const found = objects.get(path)
        return found === undefined ? statusOf(404, 'NotFound') : ok(found)
      }
      case 'PUT':
        return replace(path, object)
      case 'PATCH':
        return patch(path, object)
      case 'DELETE':
        return objects.delete(path) ? ok({ kind: 'Status' }) : statusOf(404, 'NotFound')
      case 'POST':
        return statusOf(405)
    }
  }
  const server: ObjectServer = {
    asked,
    meddle: () => undefined,
    at: (path) => objects.get(path),
    names: (collection) =>
      [...objects.keys()]
        .filter((path) => path.startsWith(`${collection}/`))
        .map((path) => path.slice(collection.length + 1))
        .sort(),
    edit: (path, fields) => {
      const name = path.slice(path.lastIndexOf('/') + 1)
      put(path, mergeInto(objects.get(path) ?? { metadata: { name } }, fields))
    },
    remove: (path) => {
      objects.delete(path)
    },
    perform,
    client: {
      send: (request, signal) => async () => {
        asked.push(request)
        const meddling = await unlessAborted(server.meddle(request), signal)
        if (signal.aborted) return E.left({ _tag: 'Aborted', message: 'aborted' })
        if (meddling === undefined) return E.right(perform(request))
        if (meddling.isDone === true) perform(request)
        return 'reply' in meddling ? E.right(meddling.reply) : E.left(meddling.failure)
      },
      stream: () => () => Promise.resolve(E.left({ _tag: 'Unreachable', message: 'no streams' })),
    },
  }
  return server
}

const unlessAborted = <A>(task: A | Promise<A>, signal: AbortSignal): Promise<A | undefined> =>
  new Promise((resolve, reject) => {
    const end = (result?: A): void => {
      signal.removeEventListener('abort', onAbort)
      resolve(result)
    }
    const onAbort = (): void => end()
    signal.addEventListener('abort', onAbort)
    Promise.resolve(task).then(end, reject)
  })

const isCurrent = (there: JsonObject, change: JsonObject): boolean => {
  const expected = objectIn(change, 'metadata')['resourceVersion']
  return expected === undefined || expected === objectIn(there, 'metadata')['resourceVersion']
}

const refusal = ({ data }: JsonObject): ApiReply | undefined => {
  const texts = isObject(data) ? Object.values(data).map(String) : []
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return bytes > maxDataBytes ? statusOf(422, 'Invalid', 'Too long: may not be more') : undefined
}

/** RFC 7386. */
const mergeInto = (target: JsonObject, change: JsonObject): JsonObject => {
  const merged: Record<string, unknown> = { ...target }
  for (const [key, value] of Object.entries(change)) {
    const before = merged[key]
    if (value === null) Reflect.deleteProperty(merged, key)
    else merged[key] = isObject(value) ? mergeInto(isObject(before) ? before : {}, value) : value
  }
  return merged
}
