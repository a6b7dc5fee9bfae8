import * as E from 'fp-ts/lib/Either.js'
import type {
  ApiClient,
  ApiFailure,
  ApiReply,
  ApiRequest,
  ApiStream,
} from '../../src/adapters/k8s/api.js'
import type { Clock } from '../../src/ports/clock.js'
import type { ModelServer, ServerObject, ServerWatch, WatchWord } from './k8s-reflector-server.js'

/** What was asked for. */
export interface Asked {
  readonly kind: 'send' | 'stream'
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly atMs: number
}

/** A client of a model server that speaks JSON; what it is asked can be answered otherwise. */
export interface FakeClient extends ApiClient {
  readonly asked: ReadonlyArray<Asked>
  /** Answers in place of the server, as long as it does not say `undefined`. */
  interfere: (asked: Asked) => ApiReply | ApiFailure | undefined
  /** Tells all streams what is new on the server. */
  readonly flush: () => void
  /** Says this on all streams, as it is. */
  readonly say: (line: string) => void
  /** The server ends all streams. */
  readonly close: () => void
  /** All connections break. */
  readonly cut: () => void
  /** Nothing more comes on the streams that are open, and nobody says so. */
  readonly freeze: () => void
  readonly open: () => number
}

type Json = Readonly<Record<string, unknown>>

interface Stream {
  readonly path: string
  readonly watch: ServerWatch
  readonly onLine: (line: string) => void
  readonly end: (result: E.Either<ApiFailure, ApiReply>) => void
}

const ok = (body: unknown): ApiReply => ({ status: 200, body, retryAfterMs: undefined })

/** What a server says with an error. */
export const statusReply = (
  status: number,
  message = `status ${status}`,
  retryAfterMs?: number,
): ApiReply => ({ status, body: { kind: 'Status', code: status, message }, retryAfterMs })

export const fakeClient = (
  server: ModelServer,
  clock: Clock,
  render: (object: ServerObject) => Json,
): FakeClient => {
  const asked: Array<Asked> = []
  const streams = new Set<Stream>()
  const isAt = (path: string, { name }: ServerObject): boolean => {
    const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1]
    return namespace === undefined || name.startsWith(`${namespace}/`)
  }
  const picks = (query: Asked['query'], object: ServerObject): boolean => {
    const { fieldSelector, labelSelector } = query
    const name = fieldSelector?.replace('metadata.name=', '')
    const group = labelSelector?.replace(/^kubernetes.io\/service-name=/, '')
    return (
      (name === undefined || object.name.endsWith(`/${name}`)) &&
      (group === undefined || group === labelSelector || object.group.endsWith(`/${group}`))
    )
  }
  const note = (kind: Asked['kind'], { path, query = {} }: ApiRequest | ApiStream): Asked => {
    const each = { kind, path, query, atMs: clock.nowMs() }
    asked.push(each)
    return each
  }
  const list = ({ path, query }: Asked): ApiReply => {
    const page = server.list(Number(query.limit ?? 1_000_000), query.continue)
    if (page === undefined) return statusReply(410, 'The provided continue parameter is too old')
    const items = page.items.filter((each) => isAt(path, each) && picks(query, each)).map(render)
    const { resourceVersion, next } = page
    return ok({
      metadata: { resourceVersion, ...(next !== undefined && { continue: next }) },
      items,
    })
  }
  const lineOf = (word: WatchWord): string => {
    switch (word.type) {
      case 'BOOKMARK': {
        const { resourceVersion, endsInitialEvents } = word
        const annotations = endsInitialEvents ? { 'k8s.io/initial-events-end': 'true' } : {}
        return JSON.stringify({ ...word, object: { metadata: { resourceVersion, annotations } } })
      }
      case 'GONE':
        return JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410 } })
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return JSON.stringify({ type: word.type, object: render(word.object) })
    }
  }
  const pump = (stream: Stream): void => {
    for (let word = stream.watch.next(); word !== undefined; word = stream.watch.next()) {
      if (!streams.has(stream)) return
      if ('object' in word && !isAt(stream.path, word.object)) continue
      stream.onLine(lineOf(word))
      if (word.type === 'GONE') stream.end(E.right(ok(undefined)))
    }
  }
  const all = (act: (stream: Stream) => void): void => [...streams].forEach(act)
  const interfered = (each: Asked): E.Either<ApiFailure, ApiReply> | undefined => {
    const answer = client.interfere(each)
    if (answer === undefined) return undefined
    return '_tag' in answer ? E.left(answer) : E.right(answer)
  }
  const client: FakeClient = {
    asked,
    interfere: () => undefined,
    send: (request, signal) => async () => {
      const each = note('send', request)
      await Promise.resolve()
      if (signal.aborted) return E.left(aborted)
      return interfered(each) ?? E.right(list(each))
    },
    stream: (request, onLine, signal) => () =>
      new Promise((resolve) => {
        const each = note('stream', request)
        const { path, query } = each
        let stopTimer = (): void => undefined
        const end: Stream['end'] = (result) => {
          streams.delete(stream)
          stopTimer()
          resolve(result)
        }
        const heard = (): void => {
          stopTimer()
          stopTimer = clock.after(request.silenceMs, () => {
            end(E.left({ _tag: 'TimedOut', message: 'nothing came' }))
          })
        }
        const stream: Stream = {
          path,
          watch:
            query.sendInitialEvents === 'true'
              ? server.watchList(true)
              : server.watch(query.resourceVersion ?? ''),
          onLine: (line) => {
            heard()
            onLine(line)
          },
          end,
        }
        const answer = interfered(each)
        if (signal.aborted) return end(E.left(aborted))
        if (answer !== undefined) return end(answer)
        signal.addEventListener('abort', () => end(E.left(aborted)))
        streams.add(stream)
        heard()
        pump(stream)
      }),
    flush: () => all(pump),
    say: (line) => all((stream) => stream.onLine(line)),
    close: () => all((stream) => stream.end(E.right(ok(undefined)))),
    cut: () => all((stream) => stream.end(E.left({ _tag: 'Unreachable', message: 'reset' }))),
    freeze: () => streams.clear(),
    open: () => streams.size,
  }
  return client
}

const aborted: ApiFailure = { _tag: 'Aborted', message: 'aborted' }
