import { setMaxListeners } from 'node:events'
import * as E from 'fp-ts/lib/Either.js'
import type {
  ApiClient,
  ApiFailure,
  ApiReply,
  ApiRequest,
  ApiStream,
} from '../../src/adapters/k8s/api.js'
import type { Clock } from '../../src/ports/clock.js'
import { type Asked, type FakeClient, fakeClient } from './k8s-fake-client.js'
import { modelServer, type ModelServer, type ServerObject } from './k8s-reflector-server.js'

/** The kinds that a fake cluster has, as they stand in paths. */
export const kinds = ['edgeroutes', 'services', 'endpointslices'] as const
export type FakeKind = (typeof kinds)[number]

/** What becomes of a request that is not answered as it should be; never an answer, if `silent`. */
export type Fault = ApiReply | ApiFailure | 'silent' | undefined

/** An API server with routes, Services and slices: one model server for each. */
export interface FakeCluster extends ApiClient {
  readonly servers: Readonly<Record<FakeKind, ModelServer>>
  readonly clients: Readonly<Record<FakeKind, FakeClient>>
  /** In the order in which it was asked. */
  readonly asked: () => ReadonlyArray<Asked & { readonly of: FakeKind }>
  /** Decides what goes wrong. */
  fault: (of: FakeKind, asked: Omit<Asked, 'atMs'>) => Fault
  /** Tells all streams what is new. */
  readonly flush: () => void
  readonly open: () => number
}

/** The Services that a route of some content names, in its own namespace. */
export const namesOf = (content: number): ReadonlyArray<string> =>
  ['a', 'b', 'c'].filter((_, i) => (content & (1 << i)) !== 0)

/** A route to the Services that its content names, or one that answers itself. */
const renderRoute = (content: number) => {
  const names = namesOf(content)
  return names.length === 0
    ? { spec: { respond: { code: 200 + content } } }
    : {
        spec: {
          hostnames: [`h${content}.example.com`],
          backends: names.map((name) => ({ service: { name, port: 80 } })),
        },
      }
}

/** One of content 0 is invalid. */
const renderService = (content: number) => ({
  spec: { ports: [{ port: content === 0 ? 'http' : content }] },
})

/** One of content 0 is invalid; the others have as many endpoints. */
const renderSlice = (content: number) => ({
  addressType: 'IPv4',
  ports: [{ port: content === 0 ? 'http' : 8080 }],
  endpoints: Array.from({ length: content }, (_, i) => ({ addresses: [`10.0.0.${i + 1}`] })),
})

const bodies: Readonly<Record<FakeKind, (content: number) => object>> = {
  edgeroutes: renderRoute,
  services: renderService,
  endpointslices: renderSlice,
}

const render = (kind: FakeKind) => (object: ServerObject) => {
  const [namespace, name] = object.name.split('/')
  const { uid, resourceVersion, content, group } = object
  return {
    metadata: {
      namespace,
      name,
      uid,
      resourceVersion,
      generation: content,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels:
        kind === 'endpointslices' ? { 'kubernetes.io/service-name': group.split('/')[1] } : {},
    },
    ...bodies[kind](content),
  }
}

export const fakeCluster = (clock: Clock): FakeCluster => {
  const servers = {
    edgeroutes: modelServer(),
    services: modelServer(),
    endpointslices: modelServer(),
  }
  const clientOf = (kind: FakeKind): FakeClient => fakeClient(servers[kind], clock, render(kind))
  const clients = {
    edgeroutes: clientOf('edgeroutes'),
    services: clientOf('services'),
    endpointslices: clientOf('endpointslices'),
  }
  const kindOf = (path: string): FakeKind => {
    const kind = kinds.find((each) => path.endsWith(`/${each}`))
    if (kind === undefined) throw new Error(`nobody knows ${path}`)
    return kind
  }
  const never = (ms: number, signal: AbortSignal): Promise<E.Either<ApiFailure, ApiReply>> =>
    new Promise((resolve) => {
      // All fetches of a reflector have the same one.
      setMaxListeners(0, signal)
      const end = (failure: ApiFailure): void => {
        cancel()
        signal.removeEventListener('abort', abort)
        resolve(E.left(failure))
      }
      const abort = (): void => end({ _tag: 'Aborted', message: 'aborted' })
      const cancel = clock.after(ms, () => end({ _tag: 'TimedOut', message: 'nothing came' }))
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort)
    })
  const asked: Array<Asked & { readonly of: FakeKind }> = []
  const faultOf = (kind: Asked['kind'], { path, query = {} }: ApiRequest | ApiStream): Fault => {
    const of = kindOf(path)
    asked.push({ kind, path, query, of, atMs: clock.nowMs() })
    const fault = cluster.fault(of, { kind, path, query })
    clients[of].interfere = () => (fault === 'silent' ? undefined : fault)
    return fault
  }
  const cluster: FakeCluster = {
    servers,
    clients,
    asked: () => asked,
    fault: () => undefined,
    send: (request, signal) => async () =>
      faultOf('send', request) === 'silent'
        ? never(request.deadlineMs, signal)
        : clients[kindOf(request.path)].send(request, signal)(),
    stream: (stream, onLine, signal) => async () =>
      faultOf('stream', stream) === 'silent'
        ? never(stream.silenceMs, signal)
        : clients[kindOf(stream.path)].stream(stream, onLine, signal)(),
    flush: () => kinds.forEach((kind) => clients[kind].flush()),
    open: () => kinds.reduce((open, kind) => open + clients[kind].open(), 0),
  }
  return cluster
}
