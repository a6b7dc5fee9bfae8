import * as t from 'io-ts'
import type {
  BrokenDocument,
  ErrorDocument,
  ForgottenDocument,
  NodesDocument,
  RoutesDocument,
} from '../../admin/document.js'

/** Reads an answer; fields that are not known are left alone. */
export type Decoder<A> = t.Decoder<unknown, A>

const text = t.string
const version = t.literal(1)
const texts = t.readonlyArray(text)

const optional = <A extends t.Mixed>(codec: A): t.UnionC<[A, t.UndefinedC]> =>
  t.union([codec, t.undefined])

const words = <A extends string>(...all: ReadonlyArray<A>): t.Type<A> =>
  new t.Type<A>(
    all.join(' | '),
    (value): value is A => all.some((each) => each === value),
    (value, context) => {
      const word = all.find((each) => each === value)
      return word === undefined ? t.failure(value, context) : t.success(word)
    },
    t.identity,
  )

/** A field that came later than the version: an endpoint that is older does not say it. */
const added = <A>(codec: t.Type<A>, absent: A): t.Type<A> =>
  new t.Type<A>(
    codec.name,
    codec.is,
    (value, context) => (value === undefined ? t.success(absent) : codec.validate(value, context)),
    t.identity,
  )

const node = t.type({
  id: text,
  dataPlane: text,
  connected: t.boolean,
  awaited: added(t.boolean, false),
  shared: t.boolean,
  since: optional(text),
  lastSaid: optional(
    t.type({ what: words('ACK', 'NACK'), at: text, version: text, message: text }),
  ),
  upToDate: added(t.boolean, false),
  refusals: added(t.readonlyArray(t.type({ type: text, name: text, message: text })), []),
  refusalsCount: added(t.number, 0),
  holdsUp: texts,
  holdsUpCount: t.number,
})

const waitsFor = t.union([
  t.type({ reason: t.literal('Owed'), nodeCount: t.number }),
  t.type({ reason: t.literal('Starting'), until: text }),
  t.type({ reason: words('RosterUnsaved', 'NotHolding'), message: text }),
])

const condition = t.type({
  type: text,
  status: words('True', 'False'),
  reason: text,
  message: text,
  observedGeneration: t.number,
  lastTransitionTime: text,
})

const route = t.type({
  namespace: text,
  name: text,
  uid: text,
  state: words('Guarding', 'Serving', 'Waiting', 'Settling', 'Releasing', 'Released'),
  stored: optional(t.boolean),
  since: optional(text),
  failure: optional(text),
  waitsFor: optional(waitsFor),
  conditions: t.readonlyArray(condition),
  owed: t.readonlyArray(node),
  owedCount: t.number,
})

export const routesDecoder: Decoder<RoutesDocument> = t.type({
  version,
  now: text,
  routes: t.readonlyArray(route),
})

export const nodesDecoder: Decoder<NodesDocument> = t.type({
  version,
  now: text,
  nodes: t.readonlyArray(node),
  nodeCount: t.number,
})

export const forgottenDecoder: Decoder<ForgottenDocument> = t.type({
  version,
  id: text,
  heldUp: texts,
  heldUpCount: t.number,
  warning: optional(text),
})

export const brokenDecoder: Decoder<BrokenDocument> = t.type({
  version,
  unconfirmed: texts,
  unconfirmedCount: t.number,
  waitedFor: optional(
    t.type({ reason: words('Owed', 'Starting', 'RosterUnsaved', 'NotHolding'), message: text }),
  ),
})

/** The word for programs is not read: an endpoint that is newer may have more of them. */
export const errorDecoder: Decoder<{ readonly error: Pick<ErrorDocument['error'], 'message'> }> =
  t.type({ version, error: t.type({ message: text }) })
