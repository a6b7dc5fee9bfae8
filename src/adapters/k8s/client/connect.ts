import * as E from 'fp-ts/lib/Either.js'
import { type Clock, systemClock } from '../../../ports/clock.js'
import type { ApiClient, ApiFailure, ApiReply, ApiRequest, ApiStream } from '../api.js'
import { ask, type Line, type Question, showQuestion } from './ask.js'
import { bounded, type Operation, type Surroundings } from './bounded.js'
import { credentialsFrom } from './credentials.js'
import type { KubeConfig } from './kube-config.js'
import { maxBodyBytes, maxLineBytes } from './limits.js'
import { lineSink } from './lines.js'
import { abortTeller } from './on-abort.js'
import { poolsFor } from './pools.js'
import { showServer, targetOf } from './server.js'
import { bodySink, type Sink } from './sink.js'

export interface KubernetesClientOptions {
  /** Says where the API server is, and who asks; see `loadKubeConfig`. */
  readonly kubeConfig: KubeConfig
  /** What the API server's audit log and its flow control know us by; `edgewright` if absent. */
  readonly userAgent?: string | undefined
  readonly clock?: Clock | undefined
}

/** An API server, with credentials and connections of its own. */
export interface KubernetesClient extends ApiClient {
  /**
   * Its address, as in `https://10.0.0.1:6443`; empty where the KubeConfig has none that can be
   * used.
   */
  readonly server: string
  /**
   * Ends whatever is under way, as aborted, and all connections. Nothing can be sent afterwards.
   */
  readonly close: () => void
}

/**
 * Makes a client of the current context's API server. Connects when something is sent.
 *
 * Guarantees: connections are kept and shared, a bounded number of them, and those of streams keep
 * no request waiting, nor do many requests a vital one. A token file is read again every few
 * seconds, and at once when its token was refused; programs and auth providers are asked again
 * every minute, and when what they gave was refused. A refused request is then sent once more,
 * provided that there is something new to send. A GET whose connection had died while nobody used
 * it is sent once more, too. Every other failure is the caller's, and so is every status. `send`
 * and `stream` never reject, and leave no timer, listener or connection behind that is not to be
 * used again. To an `http://` server no credentials are sent.
 *
 * Assumptions: a KubeConfig whose credentials come from a program is not shared with other clients,
 * since the library remembers what programs say by the name of the user.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const connectKubernetes = (options: KubernetesClientOptions): KubernetesClient => {
  const { kubeConfig, userAgent = 'edgewright', clock = systemClock } = options
  const line = lineOf(kubeConfig, userAgent, clock)
  const state = { isClosed: false }
  const surroundings: Surroundings = {
    clock,
    onAbort: abortTeller(),
    open: new Set(),
    isClosed: () => state.isClosed,
  }
  const put = (
    question: Question,
    bounds: { readonly signal: AbortSignal; readonly ms: number; readonly isSilence: boolean },
    sinkOf: (status: number, operation: Operation) => Sink,
  ): Promise<E.Either<ApiFailure, ApiReply>> => {
    if (E.isLeft(line)) return Promise.resolve(E.left({ _tag: 'Unreachable', message: line.left }))
    const what = showQuestion(question, line.right.server)
    return bounded(surroundings, { ...bounds, what }, (operation) =>
      ask(line.right, question, (status) => sinkOf(status, operation), operation),
    )
  }
  return {
    server: E.isLeft(line) ? '' : showServer(line.right.server),
    send: (request, signal) => () => {
      const bounds = { signal, ms: request.deadlineMs, isSilence: false }
      return put(questionOf(request), bounds, () => bodySink(maxBodyBytes))
    },
    stream: (watched, onLine, signal) => () => {
      const bounds = { signal, ms: watched.silenceMs, isSilence: true }
      return put(streamQuestionOf(watched), bounds, (status, { isOver }) =>
        status === 200 ? lineSink(onLine, isOver, maxLineBytes) : bodySink(maxBodyBytes),
      )
    },
    close: () => {
      state.isClosed = true
      for (const end of [...surroundings.open]) end()
      if (E.isRight(line)) line.right.pools.close()
    },
  }
}

const questionOf = (request: ApiRequest): Question => {
  const { method, path, query, body, contentType, isVital = false, isWanted } = request
  return { use: isVital ? 'vital' : 'request', method, path, query, body, contentType, isWanted }
}

const streamQuestionOf = ({ path, query }: ApiStream): Question => ({
  use: 'stream',
  method: 'GET',
  path,
  query,
  body: undefined,
  contentType: undefined,
  isWanted: undefined,
})

const lineOf = (
  kubeConfig: KubeConfig,
  userAgent: string,
  clock: Clock,
): E.Either<string, Line> => {
  const target = targetOf(kubeConfig)
  if (E.isLeft(target)) return target
  const { cluster, server } = target.right
  const credentials = credentialsFrom(kubeConfig, cluster, clock)
  return E.right({ server, credentials, pools: poolsFor(server), userAgent })
}
