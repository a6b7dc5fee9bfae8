/** The bounds of a server towards its clients. */
export interface XdsLimits {
  /** Milliseconds without a sign of life after which a connection is pinged. */
  readonly keepaliveMs: number
  /** Milliseconds that a client has to answer a ping before its connection is dropped. */
  readonly keepaliveTimeoutMs: number
  /** The largest request, in bytes. */
  readonly maxRequestBytes: number
  /** Streams that one connection may have open at a time. */
  readonly maxStreamsPerConnection: number
  /** Responses of one stream that wait in memory before no more of its requests are read. */
  readonly maxQueuedResponses: number
  /** Milliseconds that a stop may take. */
  readonly stopGraceMs: number
}

export const defaultXdsLimits: XdsLimits = {
  // A half-open connection would leave an Envoy with what it had, for hours: nothing else ends it.
  // With the timeout it is found within 40 s, and a hundred Envoys cost three pings a second.
  keepaliveMs: 30_000,
  // Long enough for an Envoy that takes in a large configuration, and answers no ping meanwhile.
  keepaliveTimeoutMs: 10_000,
  // A reconnecting client names each resource that it holds, with its version: some 100 bytes each,
  // so that gRPC's default of 4 MiB ends at 40,000 resources, and this at 600,000.
  maxRequestBytes: 64 * 1024 * 1024,
  // An Envoy needs one stream, or one for each type; Node's own default is practically no bound.
  maxStreamsPerConnection: 100,
  // An honest client has one unanswered response of each of the four types at most, and is never
  // held up by this. Twice that many are reached only by answering what was not read.
  maxQueuedResponses: 8,
  // Streams are ended at once, so only clients that do not react use it up. Well below the 30 s
  // that Kubernetes gives a Pod to end.
  stopGraceMs: 5_000,
}
