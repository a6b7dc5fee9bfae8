import * as E from 'fp-ts/lib/Either.js'
import type { ApiClient, ApiFailure, ApiReply } from '../../src/adapters/k8s/api.js'
import type { Clock } from '../../src/ports/clock.js'
import { type FakeClient, fakeClient } from './k8s-fake-client.js'
import { modelServer, type ModelServer, type ServerObject } from './k8s-reflector-server.js'

const running = { state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }
const terminated = { state: { terminated: { exitCode: 0 } } }
const waiting = { state: { waiting: { reason: 'PodInitializing' } } }

const spec = { containers: [{ name: 'envoy' }, { name: 'log' }] }

/** What a Pod can be like, by its content on the model server. */
export const podForms = [
  { status: { phase: 'Running', containerStatuses: [running, running] } },
  { status: { phase: 'Failed', containerStatuses: [terminated, terminated] } },
  { status: { phase: 'Failed', containerStatuses: [running, terminated] } },
  { status: { phase: 'Succeeded', containerStatuses: [terminated, terminated] } },
  { status: { phase: 'Failed', reason: 'Evicted' } },
  { status: { phase: 'Running', containerStatuses: [terminated, terminated] } },
  { status: { phase: 'Failed', containerStatuses: [terminated] } },
  { status: { phase: 'Failed', containerStatuses: [terminated, waiting] } },
  {
    status: {
      phase: 'Failed',
      containerStatuses: [terminated, terminated],
      initContainerStatuses: [running],
    },
  },
  {
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
    status: { phase: 'Running', containerStatuses: [running, running] },
  },
  {
    status: {
      phase: 'Running',
      containerStatuses: [{ ...running, restartCount: 3 }, running],
    },
  },
  { status: { phase: 'Failed', containerStatuses: { not: 'a list' } } },
]

/** The uid of an object of the model server, in the form of an API server. */
export const uidOf = ({ uid }: Pick<ServerObject, 'uid'>): string =>
  `00000000-0000-4000-8000-${uid.replace('uid-', '').padStart(12, '0')}`

const render = (object: ServerObject) => {
  const [namespace, name] = object.name.split('/')
  const { metadata, ...rest } = { metadata: {}, ...podForms[object.content] }
  const { resourceVersion } = object
  return {
    metadata: { namespace, name, uid: uidOf(object), resourceVersion, ...metadata },
    spec,
    ...rest,
  }
}

/** An API server that has Pods. */
export interface FakePods extends ApiClient {
  readonly server: ModelServer
  /** Answers lists and watches. */
  readonly client: FakeClient
  /** The names of the Pods that were asked for one by one, in order. */
  readonly gets: ReadonlyArray<string>
  /** Answers for one Pod in place of the server, as long as it does not say `undefined`. */
  interfereWithGet: (name: string) => ApiReply | ApiFailure | Promise<ApiReply> | undefined
}

export const fakePods = (clock: Clock): FakePods => {
  const server = modelServer()
  const client = fakeClient(server, clock, render)
  const gets: Array<string> = []
  const get = (name: string): ApiReply => {
    const object = server.objects().find((each) => each.name === name)
    const details = { name: name.split('/')[1], kind: 'pods' }
    return object === undefined
      ? {
          status: 404,
          body: { kind: 'Status', reason: 'NotFound', code: 404, details },
          retryAfterMs: undefined,
        }
      : { status: 200, body: render(object), retryAfterMs: undefined }
  }
  const pods: FakePods = {
    server,
    client,
    gets,
    interfereWithGet: () => undefined,
    send: (request, signal) => {
      const one = /\/namespaces\/([^/]+)\/pods\/([^/]+)$/.exec(request.path)
      if (one === null) return client.send(request, signal)
      return async () => {
        const name = `${one[1]}/${one[2]}`
        gets.push(name)
        const answer = await (pods.interfereWithGet(name) ?? get(name))
        if (signal.aborted) return E.left({ _tag: 'Aborted', message: 'aborted' })
        return '_tag' in answer ? E.left(answer) : E.right(answer)
      }
    },
    stream: client.stream,
  }
  return pods
}
