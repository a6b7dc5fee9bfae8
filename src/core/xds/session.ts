import * as PM from '../persistent-map.js'
import { type Snapshot, type View, viewOf } from '../snapshot.js'
import { clusterType, endpointType, isTypeUrl, type TypeUrl, typeUrls } from '../type-url.js'
import { receiveDelta } from './delta.js'
import { holdClusters } from './hold.js'
import type { DiscoveryRequest, ErrorDetail, NodeIdentity, Response, Variant } from './messages.js'
import { countNames, type Names, noNames, withNames } from './names.js'
import { receiveSotw } from './sotw.js'
import { advance, markSent, owe, type Outgoing, type Watch } from './watch.js'

/** The protocol of one stream, as plain data. */
export interface Session {
  readonly variant: Variant
  readonly options: SessionOptions
  /** Who is at the other end; unknown until the first request. */
  readonly node: NodeIdentity | undefined
  /** What was published last; nothing is answered before there is something. */
  readonly snapshot: Snapshot | undefined
  /** Counts the responses of this stream: a nonce is unique in its stream and means nothing elsewhere. */
  readonly nonces: number
  readonly watches: Watches
  /**
   * The endpoints of clusters that were sent before the client has asked for any endpoints: what it says it
   * holds of them does not spare them from being sent.
   */
  readonly debts: Names
  /** The peer has broken the protocol: nothing that it says counts any more. */
  readonly closed: boolean
}

export type Watches = Readonly<Partial<Record<TypeUrl, Watch>>>

export interface SessionOptions {
  /**
   * The types of which a first request without names asks for every resource, as Envoy means it. A gRPC
   * client may mean nothing at all.
   */
  readonly legacyWildcard: ReadonlySet<TypeUrl>
}

/** What happens to one stream. */
export type SessionEvent =
  | { readonly _tag: 'RequestReceived'; readonly request: DiscoveryRequest }
  | { readonly _tag: 'SnapshotPublished'; readonly snapshot: Snapshot }

/** What is to be done, in this order. */
export type SessionEffect =
  | { readonly _tag: 'Send'; readonly response: Response }
  /** The stream has said who is at its other end. `known` is false where its data plane is not. */
  | {
      readonly _tag: 'NodeIdentified'
      readonly node: NodeIdentity
      readonly dataPlane: string
      readonly known: boolean
    }
  | {
      readonly _tag: 'Acked'
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
    }
  | {
      readonly _tag: 'Nacked'
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
      readonly error: ErrorDetail
    }
  /** The peer broke the protocol: end the stream with this status, and take no more from it. */
  | { readonly _tag: 'Close'; readonly code: CloseCode; readonly message: string }

/** gRPC status codes, by name. */
export type CloseCode = 'INVALID_ARGUMENT' | 'RESOURCE_EXHAUSTED'

export type SessionStep = readonly [state: Session, effects: ReadonlyArray<SessionEffect>]

/**
 * The most names of one type that a client may ask for. A large fleet has some 100,000 clusters; each name costs
 * about 200 bytes as long as the stream lives.
 */
const maxNames = 200_000

export const defaultSessionOptions: SessionOptions = { legacyWildcard: new Set(typeUrls) }

export const openSession = (
  variant: Variant,
  options: SessionOptions = defaultSessionOptions,
): Session => ({
  variant,
  options,
  node: undefined,
  snapshot: undefined,
  nonces: 0,
  watches: {},
  debts: noNames,
  closed: false,
})

/** The fleet that a node belongs to: what its `cluster` names, or its `id` where that is empty. */
export const dataPlaneOf = (node: NodeIdentity): string =>
  node.cluster === '' ? node.id : node.cluster

/**
 * Advances one stream by one event. Does no I/O and reads no clock.
 *
 * | event             | what it does                                                            |
 * | ----------------- | ----------------------------------------------------------------------- |
 * | RequestReceived   | the first names its node; notes its answer and its names, sends what is due |
 * | SnapshotPublished | makes it the target, sends what is due                                  |
 *
 * Due is, per type, what lies between what was sent and the target, while no response of that type is without
 * an answer: a refused response counts as sent, and is not sent again until there is something new to
 * say. Types follow each other in the order of `typeUrls`, on one stream; a cluster that the client's route
 * tables may still name leaves behind them. A request for a
 * type that is not served here gets no answer, and hinders no other type. After `Close` every event
 * changes nothing.
 */
export const step = (session: Session, event: SessionEvent): SessionStep => {
  if (session.closed) return [session, []]
  switch (event._tag) {
    case 'SnapshotPublished':
      return publish(session, event.snapshot)
    case 'RequestReceived':
      return receive(session, event.request)
  }
}

const publish = (session: Session, snapshot: Snapshot): SessionStep => {
  const next: Session = { ...session, snapshot }
  const isFirst = session.snapshot === undefined
  return andThen([next, isFirst ? identified(next) : []], flush)
}

const receive = (session: Session, request: DiscoveryRequest): SessionStep => {
  const { typeUrl } = request
  const [named, effects] = identify(session, request)
  if (named.closed || !isTypeUrl(typeUrl)) return [named, effects]
  const noted = andThen([named, effects], (of) => note(of, request, typeUrl))
  return andThen(noted, flush)
}

/** Only the first request is sure to say who sends it; from then on the stream belongs to that node. */
const identify = (session: Session, { _tag, node, typeUrl }: DiscoveryRequest): SessionStep => {
  if ((_tag === 'Delta') !== (session.variant === 'delta'))
    return violation(session, `a ${_tag} request came on a ${session.variant} stream`)
  if (typeUrl === '')
    return violation(session, 'type_url must not be empty on an aggregated stream')
  if (session.node === undefined) {
    if (node === undefined)
      return violation(session, 'the first request of a stream must name its node')
    const next: Session = { ...session, node }
    return [next, next.snapshot === undefined ? [] : identified(next)]
  }
  if (node !== undefined && node.id !== session.node.id)
    return violation(
      session,
      `this stream belongs to node ${JSON.stringify(session.node.id)}, not ${JSON.stringify(node.id)}`,
    )
  return [session, []]
}

const identified = ({ node, snapshot }: Session): ReadonlyArray<SessionEffect> => {
  if (node === undefined || snapshot === undefined) return []
  const dataPlane = dataPlaneOf(node)
  return [{ _tag: 'NodeIdentified', node, dataPlane, known: snapshot.dataPlanes.has(dataPlane) }]
}

const close = (session: Session, code: CloseCode, message: string): SessionStep => [
  { ...session, closed: true },
  [{ _tag: 'Close', code, message }],
]

const tooManyNames = (session: Session): SessionStep =>
  close(session, 'RESOURCE_EXHAUSTED', `at most ${maxNames} names of one type are taken`)

const violation = (session: Session, message: string): SessionStep =>
  close(session, 'INVALID_ARGUMENT', message)

/** Takes in what a request says of its type. */
const note = (session: Session, request: DiscoveryRequest, typeUrl: TypeUrl): SessionStep => {
  const watch = session.watches[typeUrl]
  const asked = request._tag === 'Sotw' ? request.resourceNames : request.subscribe
  if (asked.length > maxNames) return tooManyNames(session)
  const noted =
    request._tag === 'Sotw'
      ? receiveSotw(watch, request, typeUrl, session.options)
      : receiveDelta(watch, request, typeUrl, session)
  const { subscription, owed, sent } = noted.watch
  const isTooMuch =
    countNames(subscription.names) > maxNames || countNames(owed) > maxNames + PM.size(sent)
  if (isTooMuch) return tooManyNames(session)
  const next = withWatch(session, typeUrl, noted.watch)
  return [
    typeUrl === endpointType ? { ...next, debts: noNames } : next,
    answerOf(watch, noted.kind, request, typeUrl),
  ]
}

const answerOf = (
  before: Watch | undefined,
  kind: 'Ack' | 'Nack' | 'Other',
  request: DiscoveryRequest,
  typeUrl: TypeUrl,
): ReadonlyArray<SessionEffect> => {
  const inFlight = before?.inFlight
  if (inFlight === undefined || kind === 'Other') return []
  const answered = { typeUrl, nonce: inFlight.nonce, version: inFlight.version }
  return kind === 'Nack' && request.errorDetail !== undefined
    ? [{ _tag: 'Nacked', ...answered, error: request.errorDetail }]
    : [{ _tag: 'Acked', ...answered }]
}

/** Sends what is due, of all types, each behind the types that it refers to. */
const flush = (session: Session): SessionStep => {
  const { node, snapshot } = session
  if (node === undefined || snapshot === undefined) return [session, []]
  const view = holdClusters(session.watches, viewOf(snapshot, dataPlaneOf(node)))
  return typeUrls.reduce<SessionStep>(
    (soFar, typeUrl) => andThen(soFar, (of) => flushType(of, typeUrl, view)),
    [session, []],
  )
}

const flushType = (session: Session, typeUrl: TypeUrl, view: View): SessionStep => {
  const watch = session.watches[typeUrl]
  if (watch === undefined) return [session, []]
  const [advanced, outgoing] = advance(watch, typeUrl, session.variant, view[typeUrl])
  if (outgoing === undefined) return [withWatch(session, typeUrl, advanced), []]
  const nonces = session.nonces + 1
  const nonce = String(nonces)
  const { version, resources, removed } = outgoing
  const response: Response = { typeUrl, nonce, version, resources, removed }
  const sent = withWatch(session, typeUrl, markSent(advanced, response))
  const behind = typeUrl === clusterType ? oweEndpoints(sent, outgoing) : sent
  return [{ ...behind, nonces }, [{ _tag: 'Send', response }]]
}

/**
 * A cluster that is sent again warms until its endpoints are sent again too, and in delta Envoy does not
 * even ask for them (envoyproxy/envoy#13009): so they follow, changed or not.
 */
const oweEndpoints = (session: Session, { renewed }: Outgoing): Session => {
  const watch = session.watches[endpointType]
  const names = renewed.flatMap(({ refs }) =>
    refs.flatMap((ref) => (ref.typeUrl === endpointType ? [ref.name] : [])),
  )
  if (watch !== undefined) return withWatch(session, endpointType, owe(watch, names))
  // In state of the world a first request is answered in full.
  const isSpared = session.variant === 'sotw' || names.length === 0
  return isSpared ? session : { ...session, debts: withNames(session.debts, names) }
}

const withWatch = (session: Session, typeUrl: TypeUrl, watch: Watch): Session =>
  session.watches[typeUrl] === watch
    ? session
    : { ...session, watches: { ...session.watches, [typeUrl]: watch } }

const andThen = (
  [session, effects]: SessionStep,
  next: (session: Session) => SessionStep,
): SessionStep => {
  const [after, more] = next(session)
  return [after, more.length === 0 ? effects : [...effects, ...more]]
}
