import { cutMessage } from '../../core/cut-message.js'
import type { DeletionState, NotYet } from '../../core/deletion.js'
import { compareStrings } from '../../core/order.js'
import { showNotYet } from '../../core/status.js'
import type {
  BreakGlassResult,
  Explanation,
  LastSaid,
  NodeRefusal,
  NodeReport,
} from '../operator.js'

/**
 * The version of these documents, and of the paths that they are served under (`/v1/…`). A field may be
 * added within a version; one that changes or goes makes another version.
 */
export const documentVersion = 1

interface Document {
  readonly version: typeof documentVersion
}

/** `GET /v1/routes/NAMESPACE/NAME`: every object that has, or had, that name. */
export interface RoutesDocument extends Document {
  /** When this was said, RFC 3339, by the clock that all times in it are of. */
  readonly now: string
  readonly routes: ReadonlyArray<RouteDocument>
}

export interface RouteDocument {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly state: DeletionState['_tag']
  /** It is in a store with finalizers, such as a cluster; absent where nobody says. */
  readonly stored: boolean | undefined
  /** Since when it is withdrawn, RFC 3339; absent while it is not. */
  readonly since: string | undefined
  /** Why the last write to the object did not succeed, if it did not; it is tried again. */
  readonly failure: string | undefined
  /** What its release waits for; only in the state `Waiting`. */
  readonly waitsFor: WaitsForDocument | undefined
  readonly conditions: ReadonlyArray<ConditionDocument>
  /** The Envoys that may still serve it, if it is being deleted; at most `maxOwed`. */
  readonly owed: ReadonlyArray<NodeDocument>
  readonly owedCount: number
}

export type WaitsForDocument =
  | { readonly reason: 'Owed'; readonly nodeCount: number }
  | { readonly reason: 'Starting'; readonly until: string }
  | { readonly reason: 'RosterUnsaved' | 'NotHolding'; readonly message: string }

/** A condition of the object, as `metav1.Condition`. */
export interface ConditionDocument {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  readonly observedGeneration: number
  readonly lastTransitionTime: string
}

/** `GET /v1/nodes`: those that hold something up first, of these the lost ones first, then by id. */
export interface NodesDocument extends Document {
  readonly now: string
  /** At most `maxNodes`. */
  readonly nodes: ReadonlyArray<NodeDocument>
  readonly nodeCount: number
}

export interface NodeDocument {
  readonly id: string
  readonly dataPlane: string
  readonly connected: boolean
  /** It has not been heard of since the control plane began, a moment ago: it may be about to come back. */
  readonly awaited: boolean
  /** Two connections had this id at once. */
  readonly shared: boolean
  /** Since when it is connected, or lost; absent of one that was lost before the control plane began. */
  readonly since: string | undefined
  /** What it has said last of a route table since it is connected. */
  readonly lastSaid: LastSaid | undefined
  /** It is connected, and has accepted every route table as it is published; it may have come with them. */
  readonly upToDate: boolean
  /** What it refuses that stands for no route, a listener above all; at most `maxRefusals`. */
  readonly refusals: ReadonlyArray<NodeRefusal>
  readonly refusalsCount: number
  /** The routes that wait for it, `namespace/name`; at most `maxHeldUp`. */
  readonly holdsUp: ReadonlyArray<string>
  readonly holdsUpCount: number
}

/** The states in which our finalizer is on an object that is being deleted. */
export const isTerminating = (state: RouteDocument['state']): boolean =>
  state === 'Waiting' || state === 'Settling' || state === 'Releasing'

/** `POST /v1/nodes/ID/forget`. */
export interface ForgottenDocument extends Document {
  readonly id: string
  /** The routes that had waited for it; at most `maxHeldUp`. */
  readonly heldUp: ReadonlyArray<string>
  readonly heldUpCount: number
  /** What else to know, for people; absent if there is nothing. */
  readonly warning: string | undefined
}

/** `POST /v1/routes/NAMESPACE/NAME/break-glass`. */
export interface BrokenDocument extends Document {
  /** The ids of the Envoys that had not confirmed; at most `maxOwed`. */
  readonly unconfirmed: ReadonlyArray<string>
  readonly unconfirmedCount: number
  /** Why nobody can say that it was gone from every Envoy; absent if it was proven. */
  readonly waitedFor: WaitedForDocument | undefined
}

export interface WaitedForDocument {
  readonly reason: WaitsForDocument['reason']
  /** For people. */
  readonly message: string
}

/** Whatever was not done, and why. */
export interface ErrorDocument extends Document {
  readonly error: { readonly reason: ErrorReason; readonly message: string }
}

/** One word for programs. */
export type ErrorReason =
  /** Nothing has this path, or no object has this name, or no node this id. */
  | 'NotFound'
  /** The request itself is wrong. */
  | 'BadRequest'
  /** It comes from a web page, or could: see `strangerOf`. */
  | 'Forbidden'
  /** A connected node is not forgotten. */
  | 'Connected'
  /** Only a route that is being deleted has a glass to break. */
  | 'NotTerminating'
  /** Another object has the name now than the one that was agreed to. */
  | 'Changed'
  /** The control plane has only just begun, waits for its Lease, or ends: ask again. */
  | 'Starting'
  /** It was tried, and failed. */
  | 'Failed'
  /** It takes too long: nobody knows whether it will be done. */
  | 'TimedOut'

/** A document is read by a person, or by a script that looks for the few that hold something up. */
export const maxNodes = 5_000
export const maxOwed = 1_000
/** Of one node: enough to see which routes these are, and 5,000 nodes stay within some megabytes. */
export const maxHeldUp = 20
/** Of one node: it has one listener or two, and a message may have 600 characters. */
export const maxRefusals = 3
/** Objects of one name: the present one, and those before it that still wait. */
const maxRoutes = 100

export const routesDocument = (
  explanations: ReadonlyArray<Explanation>,
  nowMs: number,
): RoutesDocument => ({
  version: documentVersion,
  now: dateOf(nowMs),
  routes: explanations.slice(0, maxRoutes).map(routeDocument),
})

const routeDocument = ({
  key,
  uid,
  state,
  isStored,
  conditions,
  owed,
}: Explanation): RouteDocument => ({
  ...key,
  uid,
  state: state._tag,
  stored: isStored,
  since: 'sinceMs' in state ? dateOf(state.sinceMs) : undefined,
  failure:
    'failure' in state && state.failure !== undefined ? cutMessage(state.failure) : undefined,
  waitsFor: state._tag === 'Waiting' ? waitsForDocument(state.waitsFor) : undefined,
  conditions,
  owed: inOrder(owed).slice(0, maxOwed).map(nodeDocument),
  owedCount: owed.length,
})

const waitsForDocument = (waitsFor: NotYet): WaitsForDocument => {
  switch (waitsFor._tag) {
    case 'Owed':
      return { reason: 'Owed', nodeCount: waitsFor.nodeCount }
    case 'Starting':
      return { reason: 'Starting', until: dateOf(waitsFor.untilMs) }
    case 'RosterUnsaved':
    case 'NotHolding':
      return { reason: waitsFor._tag, message: cutMessage(waitsFor.message) }
  }
}

export const nodesDocument = (nodes: ReadonlyArray<NodeReport>, nowMs: number): NodesDocument => ({
  version: documentVersion,
  now: dateOf(nowMs),
  nodes: inOrder(nodes).slice(0, maxNodes).map(nodeDocument),
  nodeCount: nodes.length,
})

const inOrder = (nodes: ReadonlyArray<NodeReport>): ReadonlyArray<NodeReport> =>
  [...nodes].sort((a, b) => rankOf(a) - rankOf(b) || compareStrings(a.id, b.id))

const rankOf = ({ holdsUp, connected }: NodeReport): number =>
  holdsUp.length === 0 ? 2 : connected ? 1 : 0

const nodeDocument = ({
  isAwaited,
  isShared,
  lastSaid,
  refusals,
  holdsUp,
  ...node
}: NodeReport): NodeDocument => ({
  id: node.id,
  dataPlane: node.dataPlane,
  connected: node.connected,
  awaited: isAwaited,
  shared: isShared,
  since: node.since,
  lastSaid: lastSaid && { ...lastSaid, message: cutMessage(lastSaid.message) },
  upToDate: node.isUpToDate,
  refusals: refusals.slice(0, maxRefusals).map(({ type, name, message }) => ({
    type,
    name,
    message: cutMessage(message),
  })),
  refusalsCount: refusals.length,
  holdsUp: holdsUp.slice(0, maxHeldUp),
  holdsUpCount: holdsUp.length,
})

export const forgottenDocument = (
  id: string,
  heldUp: ReadonlyArray<string>,
  warning?: string,
): ForgottenDocument => ({
  version: documentVersion,
  id,
  heldUp: heldUp.slice(0, maxHeldUp),
  heldUpCount: heldUp.length,
  warning,
})

export const brokenDocument = ({
  unconfirmed,
  waitedFor,
}: Extract<BreakGlassResult, { readonly _tag: 'Broken' }>): BrokenDocument => ({
  version: documentVersion,
  unconfirmed: unconfirmed.slice(0, maxOwed),
  unconfirmedCount: unconfirmed.length,
  waitedFor: waitedFor && {
    reason: waitedFor._tag,
    message: cutMessage(showNotYet(waitedFor)),
  },
})

export const errorDocument = (reason: ErrorReason, message: string): ErrorDocument => ({
  version: documentVersion,
  error: { reason, message },
})

/** The last moment that a date can be (ECMA-262), in milliseconds. */
const maxDateMs = 8.64e15

/** RFC 3339. */
const dateOf = (ms: number): string => new Date(Math.min(Math.max(ms, 0), maxDateMs)).toISOString()
