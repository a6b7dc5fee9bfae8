import * as PM from '../persistent-map.js'
import type { Uid } from '../resource.js'
import { type Snapshot, viewOf } from '../snapshot.js'
import { type TypeUrl, typeUrls } from '../type-url.js'
import { type Lingerers, noLingerers } from './linger.js'
import type { DiscoveryRequest, ErrorDetail, NodeIdentity, Response, Variant } from './messages.js'
import { type Names, noNames } from './names.js'
import type { NodeMemory } from './node-memory.js'
import type { Unit } from './search.js'
import type { Watch } from './watch.js'

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
  /**
   * The endpoints that it has asked for in its first request of any, until it accepts clusters: of those that it came
   * with, and of none that it was sent later.
   */
  readonly brought: Names
  /** What an earlier stream of this node has left behind; `undefined` of one that is new, or holds nothing. */
  readonly memory: NodeMemory | undefined
  readonly freshness: Freshness
  /**
   * It has answered listeners, or clusters without asking for listeners, and asked for no tables yet, so that it
   * came without any. One that goes on with a table, be it for a listener that is drained, asks for it before it
   * answers anything: it says all that it asks for in one burst (run).
   */
  readonly isBare: boolean
  readonly lingerers: Lingerers
  /** It may be sent route tables: its node is on the roster, or there is none. */
  readonly isAdmitted: boolean
  /** A deletion waits for proof: of route tables nothing counts but what is accepted on this stream. */
  readonly isProving: boolean
  /** When the first request came that named its node, in milliseconds. */
  readonly namedAt: number
  /** It was waited for long enough that it asks for clusters, see `clustersAwaited`. */
  readonly hasWaited: boolean
  /** It was waited for long enough that it says which tables it has, see `scopesAwaited`. */
  readonly hasHeardTables: boolean
  /** Its stream has lasted for so long that it drains nothing any more of what it came with, see `drainMs`. */
  readonly hasDrained: boolean
  /** When it last began to answer, in milliseconds: at first, or when it had said nothing for `warmTimeoutMs`. */
  readonly wokeAt: number
  /** When the last request came, in milliseconds. */
  readonly heardAt: number
  /** The peer has broken the protocol: nothing that it says counts any more. */
  readonly closed: boolean
}

export type Watches = Readonly<Partial<Record<TypeUrl, Watch>>>

/**
 * Whether a client comes with something. It is fresh if none of its first requests brings a version, and it
 * asks for no endpoints or route tables before it was sent clusters and listeners.
 */
export type Freshness = 'Unknown' | 'Fresh' | 'Held'

export interface SessionOptions {
  /**
   * The types of which a first request without names asks for every resource, as Envoy means it. A gRPC
   * client may mean nothing at all.
   */
  readonly legacyWildcard: ReadonlySet<TypeUrl>
  /** Route tables wait until the node is admitted, since it is to be on the roster first; if absent they do not. */
  readonly keepsRoster?: boolean
}

/** What happens to one stream. */
export type SessionEvent =
  | { readonly _tag: 'RequestReceived'; readonly request: DiscoveryRequest }
  | { readonly _tag: 'SnapshotPublished'; readonly snapshot: Snapshot }
  /** Its node is on the roster. */
  | { readonly _tag: 'Admitted' }
  /** A deletion waits for proof, or none does any more. */
  | { readonly _tag: 'AcksDemanded'; readonly isOn: boolean }
  /** It is as late as `nextTimer` has asked for, or later. */
  | { readonly _tag: 'TimePassed' }

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
  /**
   * What the client does not take was found: it goes on in its last accepted form, or without. `name` is a
   * resource, or the uid of an object in a route table.
   */
  | {
      readonly _tag: 'Convicted'
      readonly typeUrl: TypeUrl
      readonly name: string
      readonly owners: ReadonlyArray<Uid>
      readonly message: string
    }
  /** The peer broke the protocol: end the stream with this status, and take no more from it. */
  | { readonly _tag: 'Close'; readonly code: CloseCode; readonly message: string }

/** gRPC status codes, by name. */
export type CloseCode = 'INVALID_ARGUMENT' | 'RESOURCE_EXHAUSTED'

export type SessionStep = readonly [state: Session, effects: ReadonlyArray<SessionEffect>]

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
  brought: noNames,
  memory: undefined,
  freshness: 'Unknown',
  isBare: false,
  lingerers: noLingerers,
  isAdmitted: options.keepsRoster !== true,
  isProving: false,
  namedAt: 0,
  hasWaited: false,
  hasHeardTables: false,
  hasDrained: false,
  wokeAt: 0,
  heardAt: 0,
  closed: false,
})

/** The fleet that a node belongs to: what its `cluster` names, or its `id` where that is empty. */
export const dataPlaneOf = (node: NodeIdentity): string =>
  node.cluster === '' ? node.id : node.cluster

/** Envoy tells its build; no other client does. */
export const isEnvoy = ({ node }: Session): boolean => node?.buildVersion !== undefined

/** The objects that stand in what was convicted, as far as the published snapshot has it. */
export const ownersOf = (
  { node, snapshot }: Pick<Session, 'node' | 'snapshot'>,
  typeUrl: TypeUrl,
  { kind, name }: Pick<Unit, 'kind' | 'name'>,
): ReadonlyArray<Uid> => {
  if (kind !== 'Resource') return [name]
  if (node === undefined || snapshot === undefined) return []
  return PM.get(viewOf(snapshot, dataPlaneOf(node))[typeUrl], name)?.owners ?? []
}

/** True of an Envoy that goes on with what it had when its stream began. */
export const isEnvoyBack = (session: Session): boolean =>
  session.freshness === 'Held' && isEnvoy(session)

export const withWatch = (session: Session, typeUrl: TypeUrl, watch: Watch): Session =>
  session.watches[typeUrl] === watch
    ? session
    : { ...session, watches: { ...session.watches, [typeUrl]: watch } }

export const andThen = (
  [session, effects]: SessionStep,
  next: (session: Session) => SessionStep,
): SessionStep => {
  const [after, more] = next(session)
  return [after, more.length === 0 ? effects : [...effects, ...more]]
}
