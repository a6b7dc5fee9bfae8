import * as PM from '../persistent-map.js'
import type { Snapshot } from '../snapshot.js'
import {
  clusterType,
  endpointType,
  isTypeUrl,
  listenerType,
  routeType,
  type TypeUrl,
  typeUrls,
} from '../type-url.js'
import { forgetBalks } from './balks.js'
import { receiveDelta } from './delta.js'
import { flush } from './flush.js'
import type { DiscoveryRequest } from './messages.js'
import { countNames, noNames, sharedNames } from './names.js'
import type { Noted } from './noted.js'
import { openType } from './open-type.js'
import { doubtUnproven } from './proving.js'
import type { Conviction } from './search.js'
import {
  andThen,
  type CloseCode,
  dataPlaneOf,
  ownersOf,
  type Session,
  type SessionEffect,
  type SessionEvent,
  type SessionStep,
  withWatch,
} from './session-state.js'
import { receiveSotw } from './sotw.js'
import { hasAccepted, warmTimeoutMs } from './timers.js'
import type { InFlight, Watch } from './watch.js'

export { nextTimer } from './timers.js'
export {
  type CloseCode,
  dataPlaneOf,
  defaultSessionOptions,
  openSession,
  type Session,
  type SessionEffect,
  type SessionEvent,
  type SessionOptions,
  type SessionStep,
  type Watches,
} from './session-state.js'

/**
 * The most names of one type that a client may ask for. A large fleet has some 100,000 clusters; each name costs
 * about 200 bytes as long as the stream lives.
 */
const maxNames = 200_000

/**
 * Advances one stream by one event, at a time in milliseconds that never goes back. Does no I/O and reads
 * no clock.
 *
 * | event             | what it does                                                            |
 * | ----------------- | ----------------------------------------------------------------------- |
 * | RequestReceived   | the first names its node; notes its answer and its names, sends what is due |
 * | SnapshotPublished | makes it the target, sends what is due                                  |
 * | Admitted          | lets route tables go                                                    |
 * | AcksDemanded      | doubts the tables that it has not accepted on this stream; refused ones are due |
 * | TimePassed        | sends what was to wait, gives up what has waited too long               |
 *
 * Due is, per type, what lies between what was sent and the target, while no response of that type is without
 * an answer. Types follow each other in the order of `typeUrls`, on one stream. The target is that of
 * `flush`: it never lets a route name a cluster that is not there, and leaves out what the client has
 * refused. A request for a type that is not served here gets no answer, and hinders no other type. After
 * `Close` every event changes nothing.
 */
export const step = (session: Session, event: SessionEvent, nowMs: number): SessionStep => {
  if (session.closed) return [session, []]
  const [next, effects] = stepOpen(session, event, nowMs)
  const convicted = newConvictions(session, next)
  return [next, convicted.length === 0 ? effects : [...effects, ...convicted]]
}

const stepOpen = (session: Session, event: SessionEvent, nowMs: number): SessionStep => {
  switch (event._tag) {
    case 'SnapshotPublished':
      return publish(session, event.snapshot, nowMs)
    case 'RequestReceived':
      return receive(session, event.request, nowMs)
    case 'Admitted':
      return flush({ ...session, isAdmitted: true }, nowMs)
    case 'AcksDemanded': {
      const next = { ...session, isProving: event.isOn }
      return event.isOn ? flush(withoutBalks(doubtUnproven(next)), nowMs) : [next, []]
    }
    case 'TimePassed':
      return flush(session, nowMs)
  }
}

/** What is to be proven is to be answered, whatever was said of it before. */
const withoutBalks = (session: Session): Session => {
  const watch = session.watches[routeType]
  return watch === undefined ? session : withWatch(session, routeType, forgetBalks(watch))
}

const newConvictions = (before: Session, after: Session): ReadonlyArray<SessionEffect> =>
  typeUrls.flatMap((typeUrl) => {
    const known = before.watches[typeUrl]?.search.convicted
    const convicted = after.watches[typeUrl]?.search.convicted
    if (convicted === undefined || convicted === known) return []
    return [...convicted]
      .filter(([key, { unit, times }]) => {
        const before = known?.get(key)
        return before?.times !== times || before.unit.version !== unit.version
      })
      .map(([, conviction]) => toEffect(after, typeUrl, conviction))
  })

const toEffect = (
  session: Session,
  typeUrl: TypeUrl,
  { unit, evidence: { message } }: Conviction,
): SessionEffect => ({
  _tag: 'Convicted',
  typeUrl,
  name: unit.name,
  owners: ownersOf(session, typeUrl, unit),
  message,
})

const publish = (session: Session, snapshot: Snapshot, nowMs: number): SessionStep => {
  const next: Session = { ...session, snapshot }
  const isFirst = session.snapshot === undefined
  return andThen([next, isFirst ? identified(next) : []], (of) => flush(of, nowMs))
}

const receive = (session: Session, request: DiscoveryRequest, nowMs: number): SessionStep => {
  const { typeUrl } = request
  const [named, effects] = identify(session, request)
  if (named.closed || !isTypeUrl(typeUrl)) return [named, effects]
  const namedAt = session.node === undefined ? nowMs : session.namedAt
  const wokeAt = nowMs - session.heardAt >= warmTimeoutMs ? nowMs : session.wokeAt
  const heard: Session = { ...named, namedAt, wokeAt, heardAt: nowMs }
  const noted = andThen([heard, effects], (of) => note(of, request, typeUrl, nowMs))
  // All that it has said until its first answer may be what it had to ask for.
  const [after] = noted
  const begins = hasAccepted(after) && !hasAccepted(heard)
  const awake: SessionStep = begins ? [{ ...after, wokeAt: nowMs }, noted[1]] : noted
  return andThen(awake, (of) => flush(of, nowMs))
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
const note = (
  session: Session,
  request: DiscoveryRequest,
  typeUrl: TypeUrl,
  nowMs: number,
): SessionStep => {
  const watch = session.watches[typeUrl]
  const asked = request._tag === 'Sotw' ? request.resourceNames : request.subscribe
  if (asked.length > maxNames) return tooManyNames(session)
  const received =
    request._tag === 'Sotw'
      ? receiveSotw(watch, request, typeUrl, session, nowMs)
      : receiveDelta(watch, request, typeUrl, session, nowMs)
  const noted = typeUrl === routeType ? withSharedNames(received, watch) : received
  const { subscription, owed, sent } = noted.watch
  const isTooMuch =
    countNames(subscription.names) > maxNames || countNames(owed) > maxNames + PM.size(sent)
  if (isTooMuch) return tooManyNames(session)
  const opened = watch === undefined ? openType(session, request, typeUrl, noted.watch) : undefined
  const known = opened ?? withWatch(session, typeUrl, noted.watch)
  const next = {
    ...known,
    isBare: session.isBare || saysBare(session, typeUrl, noted),
    brought: known.watches[clusterType]?.hasAccepted === true ? noNames : known.brought,
  }
  return [
    typeUrl === endpointType ? { ...next, debts: noNames } : next,
    noted.answered.map((response) => answerOf(response, request, typeUrl, noted.kind)),
  ]
}

/** Many Envoys ask for the same tables, and what they hold of them is read often. */
const withSharedNames = (noted: Noted, before: Watch | undefined): Noted => {
  const { subscription } = noted.watch
  const names =
    before?.subscription.names === subscription.names
      ? subscription.names
      : sharedNames(subscription.names)
  if (names === subscription.names) return noted
  return { ...noted, watch: { ...noted.watch, subscription: { ...subscription, names } } }
}

const saysBare = ({ watches }: Session, typeUrl: TypeUrl, { kind }: Noted): boolean =>
  (typeUrl === listenerType || (typeUrl === clusterType && watches[listenerType] === undefined)) &&
  kind !== 'Other' &&
  watches[routeType] === undefined

const answerOf = (
  { nonce, version }: InFlight,
  { errorDetail }: DiscoveryRequest,
  typeUrl: TypeUrl,
  kind: 'Ack' | 'Nack' | 'Other',
): SessionEffect => {
  const answered = { typeUrl, nonce, version }
  return kind === 'Nack' && errorDetail !== undefined
    ? { _tag: 'Nacked', ...answered, error: errorDetail }
    : { _tag: 'Acked', ...answered }
}
