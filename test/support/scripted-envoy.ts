import { showTypeUrl, type TypeUrl } from '../../src/core/type-url.js'
import type { DiscoveryRequest, Variant } from '../../src/core/xds/messages.js'

/**
 * An Envoy whose control plane is the test: it is sent what the test says, and nothing else.
 *
 * Nonces are given out by `send`, and are never repeated.
 */
export interface EnvoyUnderTest {
  readonly variant: Variant
  /**
   * Two servers that answer every request with 200 and their name, and with the key of a shard where it reaches
   * them.
   */
  readonly backends: Readonly<Record<'a' | 'b', Backend>>
  /** A port that a listener may take. */
  readonly freePort: () => Promise<number>
  /** Sends a response on the present stream. */
  readonly send: (response: Outgoing) => Sent
  /**
   * The next request of a type on the present stream that was not taken yet. Rejects when none comes
   * within `withinMs`, a few seconds if absent.
   */
  readonly nextRequest: (typeUrl: TypeUrl, withinMs?: number) => Promise<DiscoveryRequest>
  /** Waits for so long, and rejects if a request of the type is there then. */
  readonly noRequest: (typeUrl: TypeUrl, ms: number) => Promise<void>
  /** Breaks the stream, and waits for the next; requests that were not taken are lost. */
  readonly reconnect: () => Promise<void>
  /**
   * Sends a request on a connection of its own: `200` and the body, another status by its number, or
   * `refused` where nobody listens.
   */
  readonly request: (port: number, path: string, headers?: Headers) => Promise<string>
  /** A connection that is kept open; it opens with its first request. */
  readonly connect: (port: number) => Connection
  /** Takes a port away, until what it returns is called. */
  readonly occupy: (port: number) => Promise<() => Promise<void>>
  /** Lets time pass, real or not. */
  readonly wait: (ms: number) => Promise<void>
  /** How long it takes at most until a request sees what was accepted, in milliseconds. */
  readonly settleMs: number
  readonly stop: () => Promise<void>
}

export interface Backend {
  readonly address: string
  readonly port: number
}

export interface Connection {
  /** As `request` answers, or `closed` where the connection is. */
  readonly request: (path: string, headers?: Headers) => Promise<string>
}

/** Headers of a request, in lower case; `host` is among them where it matters. */
export type Headers = Readonly<Record<string, string>>

export interface Outgoing {
  readonly typeUrl: TypeUrl
  /** Of the response, and of each resource that has none of its own. */
  readonly version: string
  readonly resources?: ReadonlyArray<Item>
  readonly removed?: ReadonlyArray<string>
}

/** A resource as it stands in a response. */
export interface Item {
  readonly name: string
  readonly version?: string
  /** Of its Any; that of the response if absent. */
  readonly typeUrl?: string
  readonly bytes: Uint8Array
}

/** A response that is on its way. */
export interface Sent extends Outgoing {
  readonly nonce: string
}

export interface EnvoyUnderTestOptions {
  readonly variant: Variant
  /** How long an Envoy drains what it no longer listens with, in seconds. */
  readonly drainSeconds?: number
}

export type StartEnvoyUnderTest = (options: EnvoyUnderTestOptions) => Promise<EnvoyUnderTest>

/**
 * A host name that no DNS server answers for: cluster with it warms for as long as Envoy has
 * patience.
 */
export const silentHost = 'silent.test'

/** Takes in requests, and hands them out by type. */
export interface Inbox {
  readonly put: (request: DiscoveryRequest) => void
  /** The oldest of a type. */
  readonly take: (typeUrl: TypeUrl) => DiscoveryRequest | undefined
  readonly clear: () => void
  /** Says what is there, for a person. */
  readonly show: () => string
}

export const inbox = (): Inbox => {
  let requests: ReadonlyArray<DiscoveryRequest> = []
  return {
    put: (request) => {
      requests = [...requests, request]
    },
    take: (typeUrl) => {
      const found = requests.find((request) => request.typeUrl === typeUrl)
      requests = requests.filter((request) => request !== found)
      return found
    },
    clear: () => {
      requests = []
    },
    show: () => requests.map((request) => showRequest(request)).join('; ') || 'no request at all',
  }
}

/**
 * A request in one line, without the text of a refusal, in which Envoys may differ: `Cluster [a,b]
 * v=1 n=2`, or in delta `Cluster +[a] -[b] held a=1 n=2`, and `refused`.
 */
export const showRequest = (request: DiscoveryRequest): string =>
  [
    showTypeUrl(request.typeUrl as TypeUrl),
    ...(request._tag === 'Sotw'
      ? [`[${sorted(request.resourceNames)}]`, ...field('v', request.versionInfo)]
      : [
          ...list('+', request.subscribe),
          ...list('-', request.unsubscribe),
          ...heldOf(request.initialResourceVersions),
        ]),
    ...field('n', request.responseNonce),
    ...(request.errorDetail === undefined ? [] : ['refused']),
  ].join(' ')

const sorted = (names: ReadonlyArray<string>): string => [...names].sort().join()

const field = (name: string, value: string): ReadonlyArray<string> =>
  value === '' ? [] : [`${name}=${value}`]

const list = (sign: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0 ? [] : [`${sign}[${sorted(names)}]`]

const heldOf = (versions: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  versions.size === 0
    ? []
    : ['held', sorted([...versions].map(([name, version]) => `${name}=${version}`))]
