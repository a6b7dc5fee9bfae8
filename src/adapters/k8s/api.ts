import type { TaskEither } from 'fp-ts/lib/TaskEither.js'

/** One request to an API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the root, as in `/apis/net.10xdev.io/v1/edgeroutes`; its parts are encoded already. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** What kind of JSON the body is; if absent `application/json`. */
  readonly contentType?: string
  /** How long the reply may take, to its last byte, in milliseconds. */
  readonly deadlineMs: number
  /**
   * Whether it must not wait behind others, as the renewal of a Lease must not behind lists: such requests have
   * connections of their own. Few may be, and all are small.
   */
  readonly isVital?: true
  /**
   * Asked once there is a connection for it, in the moment in which it goes out: if it says no, nothing is sent. A
   * client that lets no request wait need not ask. Must not throw.
   */
  readonly isWanted?: () => boolean
}

/** What an API server says to a request, whatever its status. */
export interface ApiReply {
  readonly status: number
  /** The JSON of its body; `undefined` where it is none. */
  readonly body: unknown
  /** How long it asks to wait before the next request (`Retry-After`), in milliseconds. */
  readonly retryAfterMs: number | undefined
}

/** Why there is no reply. The request may have taken effect all the same, unless it was `Unwanted`: not sent. */
export interface ApiFailure {
  readonly _tag: 'Unreachable' | 'TimedOut' | 'Aborted' | 'Unwanted'
  /** For people: where and what. */
  readonly message: string
}

/** A long reply in lines, such as a watch. */
export interface ApiStream {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** How long nothing at all may come, the first byte included, in milliseconds. */
  readonly silenceMs: number
}

/** An API server, with credentials. */
export interface ApiClient {
  readonly send: (request: ApiRequest, signal: AbortSignal) => TaskEither<ApiFailure, ApiReply>
  /**
   * Reads line by line until the stream ends; the reply it ends with has the status, and the body where that is
   * not 200, so that no line came. A slow `onLine` holds the stream up and is not run twice at once.
   */
  readonly stream: (
    stream: ApiStream,
    onLine: (line: string) => void,
    signal: AbortSignal,
  ) => TaskEither<ApiFailure, ApiReply>
}
