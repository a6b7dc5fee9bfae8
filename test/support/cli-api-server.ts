import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'

type Json = Record<string, unknown>

/** An object as an API server has it. */
export interface ApiServerObject extends Json {
  readonly metadata: Json & {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly resourceVersion: string
    readonly finalizers?: ReadonlyArray<string>
  }
}

/** The part of a Kubernetes API server that the command line needs, over HTTP on 127.0.0.1. */
export interface CliApiServer {
  /** A kubeconfig that leads here, as YAML. */
  readonly kubeconfig: string
  readonly url: string
  /** `METHOD /path`, in order. */
  readonly asked: ReadonlyArray<string>
  readonly get: (path: string) => ApiServerObject | undefined
  /** The objects below a path, as in `/apis/events.k8s.io/v1`. */
  readonly below: (path: string) => ReadonlyArray<ApiServerObject>
  /** Puts an object there, as somebody else would. */
  readonly put: (path: string, object: Json) => ApiServerObject
  readonly remove: (path: string) => void
  /** Answers in its place: a status, with a message. Nothing to be said for those that it does not name. */
  refuse: (method: string, path: string) => readonly [status: number, message: string] | undefined
  /** What a request waits for before it is carried out; for nothing where there is none. */
  hold: (method: string, path: string) => Promise<unknown> | undefined
  readonly stop: () => Promise<void>
}

interface Watch {
  readonly collection: string
  readonly selects: (object: ApiServerObject) => boolean
  readonly response: ServerResponse
}

/** Starts one; whoever starts it stops it. */
export const startCliApiServer = async (port = 0): Promise<CliApiServer> => {
  const objects = new Map<string, ApiServerObject>()
  const watches = new Set<Watch>()
  const asked: Array<string> = []
  let version = 1
  const tell = (type: string, path: string, object: ApiServerObject): void => {
    for (const { collection, selects, response } of watches)
      if (isIn(collection, path) && selects(object))
        response.write(`${JSON.stringify({ type, object })}\n`)
  }
  const store = (path: string, given: Json): ApiServerObject => {
    const before = objects.get(path)
    version += 1
    const { uid = randomUUID(), ...metadata } = (given['metadata'] ?? {}) as Partial<
      ApiServerObject['metadata']
    >
    const object: ApiServerObject = {
      ...given,
      metadata: {
        generation: 1,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...{ namespace: '', name: '' },
        ...metadata,
        ...namesIn(path),
        uid: before?.metadata.uid ?? uid,
        resourceVersion: `${version}`,
      },
    }
    if ('deletionTimestamp' in metadata && (object.metadata.finalizers ?? []).length === 0) {
      objects.delete(path)
      tell('DELETED', path, object)
      return object
    }
    objects.set(path, object)
    tell(before === undefined ? 'ADDED' : 'MODIFIED', path, object)
    return object
  }
  const remove = (path: string): void => {
    const object = objects.get(path)
    if (object === undefined) return
    objects.delete(path)
    tell('DELETED', path, object)
  }
  const list = (collection: string, query: URLSearchParams): ReadonlyArray<ApiServerObject> =>
    [...objects]
      .filter(([path, object]) => isIn(collection, path) && selector(query)(object))
      .map(([, object]) => object)
  const watch = (collection: string, query: URLSearchParams, response: ServerResponse): void => {
    if (query.has('sendInitialEvents')) return refuse(response, 422, 'no watch-lists here')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const each = { collection, selects: selector(query), response }
    watches.add(each)
    response.on('close', () => watches.delete(each))
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://server')
    const method = request.method ?? ''
    asked.push(`${method} ${pathname}`)
    const refusal = server.refuse(method, pathname)
    if (refusal !== undefined) return refuse(response, ...refusal)
    const body = await bodyOf(request)
    await server.hold(method, pathname)
    const path = pathname.replace(/\/status$/, '')
    const object = objects.get(path)
    switch (method) {
      case 'GET':
        if (query.get('watch') === 'true') return watch(path, query, response)
        if (object !== undefined) return reply(response, object)
        if (!isCollection(path)) return notFound(response, path)
        return reply(response, {
          metadata: { resourceVersion: `${version}` },
          items: list(path, query),
        })
      case 'POST': {
        const { name, generateName } = (body as Json)['metadata'] as Record<string, string>
        const made = `${path}/${name ?? `${generateName ?? ''}${randomUUID()}`}`
        if (objects.has(made)) return refuse(response, 409, 'it is there already', 'AlreadyExists')
        return reply(response, store(made, body as Json), 201)
      }
      case 'PUT': {
        if (object === undefined) return notFound(response, path)
        const { resourceVersion } = (body as Partial<ApiServerObject>).metadata ?? {}
        if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
          return refuse(response, 409, 'it has changed', 'Conflict')
        return reply(response, store(path, body as Json))
      }
      case 'PATCH': {
        const isApply = request.headers['content-type']?.includes('apply-patch') === true
        if (object === undefined)
          return isApply
            ? reply(response, store(path, body as Json), 201)
            : notFound(response, path)
        const patched = isApply
          ? merged(object, body as Json)
          : Array.isArray(body)
            ? patchedBy(object, body as ReadonlyArray<Operation>)
            : merged(object, body as Json)
        if (patched === undefined) return refuse(response, 422, 'a test has failed', 'Invalid')
        return reply(response, store(path, patched))
      }
      case 'DELETE':
        if (object === undefined) return notFound(response, path)
        remove(path)
        return reply(response, object)
      default:
        return refuse(response, 405, 'not allowed')
    }
  }
  const http = createServer((request, response) => void answer(request, response))
  const bound = await listen(http, port)
  const url = `http://127.0.0.1:${bound}`
  const server: CliApiServer = {
    kubeconfig: kubeconfigFor(url),
    url,
    asked,
    get: (path) => objects.get(path),
    below: (path) => [...objects].filter(([at]) => at.startsWith(path)).map(([, object]) => object),
    put: store,
    remove,
    refuse: () => undefined,
    hold: () => undefined,
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
  return server
}

export const kubeconfigFor = (url: string): string => `apiVersion: v1
kind: Config
current-context: here
contexts: [{ name: here, context: { cluster: here, user: me } }]
clusters: [{ name: here, cluster: { server: '${url}' } }]
users: [{ name: me, user: {} }]
`

const listen = (http: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, '127.0.0.1', () => {
      const address = http.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })

const pathPattern = /\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/

const namesIn = (path: string): { namespace: string; name: string } | undefined => {
  const [, namespace, , name] = pathPattern.exec(path) ?? []
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}

const isCollection = (path: string): boolean => namesIn(path) === undefined

/** Whether a path is that of an object in a collection, of one namespace or of all. */
const isIn = (collection: string, path: string): boolean =>
  path.replace(/\/[^/]+$/, '') === collection ||
  path.replace(/\/namespaces\/[^/]+\/([^/]+)\/[^/]+$/, '/$1') === collection

const selector =
  (query: URLSearchParams) =>
  ({ metadata }: ApiServerObject): boolean => {
    const name = /metadata\.name=([^,]+)/.exec(query.get('fieldSelector') ?? '')?.[1]
    return name === undefined || name === metadata.name
  }

interface Operation {
  readonly op: 'add' | 'remove' | 'test' | 'replace'
  readonly path: string
  readonly value?: unknown
}

/** JSON Patch; `undefined` where a test fails, or there is nothing to change. */
const patchedBy = (
  object: ApiServerObject,
  operations: ReadonlyArray<Operation>,
): Json | undefined => {
  const root = structuredClone<Json>(object)
  for (const { op, path, value } of operations) {
    const keys = path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop() ?? ''
    let at: unknown = root
    for (const key of keys) at = (at as Json | undefined)?.[key]
    if (typeof at !== 'object' || at === null) return undefined
    const holder = at as Json
    if (op === 'test') {
      if (!isDeepStrictEqual(holder[last], value)) return undefined
    } else if (Array.isArray(at)) {
      if (op === 'remove') at.splice(Number(last), 1)
      else if (op === 'replace') at[Number(last)] = value
      else at.splice(last === '-' ? at.length : Number(last), 0, value)
    } else if (op === 'remove') Reflect.deleteProperty(holder, last)
    else holder[last] = value
  }
  return root
}

/** A merge patch, which lists replace and null removes. */
const merged = (object: Json, patch: Json): Json => {
  const result: Json = { ...object }
  for (const [key, value] of Object.entries(patch)) {
    const before = result[key]
    if (value === null) Reflect.deleteProperty(result, key)
    else if (isPlain(value) && isPlain(before)) result[key] = merged(before, value)
    else result[key] = value
  }
  return result
}

const isPlain = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}

const reply = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

const refuse = (
  response: ServerResponse,
  code: number,
  message: string,
  reason = 'Unknown',
  details: Json = {},
): void =>
  reply(response, { kind: 'Status', status: 'Failure', code, message, reason, details }, code)

const notFound = (response: ServerResponse, path: string): void => {
  const [kind = '', name = ''] = path.split('/').slice(-2)
  refuse(response, 404, `${kind} "${name}" not found`, 'NotFound', { kind, name })
}
