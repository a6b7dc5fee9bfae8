import type { DeltaRequest, SotwRequest } from './messages.js'
import { isSameRequest } from './subscription.js'
import type { InFlight, Watch } from './watch.js'

/**
 * What a request is, apart from the names that it brings.
 *
 * - `First`: the first of its type on this stream, whatever nonce it brings from another one.
 * - `Ack`, `Nack`: answers the response in flight. `error_detail` alone tells which (envoyproxy/envoy#14841).
 * - `NotApplied`: answers it without an error, but names an older version: the client has no use for the type
 *   (envoyproxy/envoy#10046). State of the world only.
 * - `Change`: answers nothing.
 * - `Repeat`: says again what was said before; the client waits for the resources once more
 *   (envoyproxy/envoy#13009). State of the world only.
 * - `Stale`: answers a response that is not the last one.
 */
export type RequestKind = 'First' | 'Ack' | 'Nack' | 'NotApplied' | 'Change' | 'Repeat' | 'Stale'

export interface Classified {
  readonly kind: RequestKind
  /** The request asks for other names than before, and they count. */
  readonly changesNames: boolean
}

/**
 * Tells what a state-of-the-world request is.
 *
 * | watch       | nonce     | error_detail | version  | names     | kind       |
 * | ----------- | --------- | ------------ | -------- | --------- | ---------- |
 * | none        | any       | any          | any      | any       | First      |
 * | any         | neither   | any          | any      | any       | Stale      |
 * | in flight   | last      | yes          | any      | any       | Nack       |
 * | in flight   | last      | no           | its own  | any       | Ack        |
 * | in flight   | last      | no           | another  | any       | NotApplied |
 * | at rest     | last      | yes          | any      | any       | Change     |
 * | at rest     | last      | no           | any      | others    | Change     |
 * | at rest     | last      | no           | any      | unchanged | Repeat     |
 *
 * A stale request has crossed the response in flight. Its names count, or a name that it drops and the next
 * one takes up again would be one that the client has dropped and that is not sent again. One that could not
 * have crossed anything is noise.
 */
export const classifySotw = (watch: Watch | undefined, request: SotwRequest): Classified => {
  if (watch === undefined) return { kind: 'First', changesNames: true }
  // Before the first response there is nothing that a request could be behind.
  const answered = watch.inFlight.find(({ nonce }) => nonce === request.responseNonce)
  const isStale =
    answered === undefined && watch.nonce !== '' && request.responseNonce !== watch.nonce
  const changesNames =
    !(isStale && watch.inFlight.length === 0) &&
    !isSameRequest(watch.subscription, request.resourceNames)
  if (isStale) return { kind: 'Stale', changesNames }
  return { kind: kindOfSotw(answered, request, changesNames), changesNames }
}

const kindOfSotw = (
  inFlight: InFlight | undefined,
  request: SotwRequest,
  changesNames: boolean,
): RequestKind => {
  const refuses = request.errorDetail !== undefined
  if (inFlight === undefined) return refuses || changesNames ? 'Change' : 'Repeat'
  if (refuses) return 'Nack'
  return request.versionInfo === inFlight.version ? 'Ack' : 'NotApplied'
}

/**
 * Tells what a delta request is.
 *
 * | watch     | nonce       | error_detail | kind   |
 * | --------- | ----------- | ------------ | ------ |
 * | none      | any         | any          | First  |
 * | in flight | of one      | yes          | Nack   |
 * | in flight | of one      | no           | Ack    |
 * | any       | none        | any          | Change |
 * | any       | another one | any          | Stale  |
 *
 * The names of a stale request count all the same.
 */
export const classifyDelta = (watch: Watch | undefined, request: DeltaRequest): Classified => ({
  kind: kindOfDelta(watch, request),
  changesNames: request.subscribe.length > 0 || request.unsubscribe.length > 0,
})

const kindOfDelta = (watch: Watch | undefined, request: DeltaRequest): RequestKind => {
  if (watch === undefined) return 'First'
  if (request.responseNonce === '') return 'Change'
  if (!watch.inFlight.some(({ nonce }) => nonce === request.responseNonce)) return 'Stale'
  return request.errorDetail === undefined ? 'Ack' : 'Nack'
}
