import type * as PM from '../persistent-map.js'
import type { Snapshot } from '../snapshot.js'
import type { DiscoveryRequest, Variant } from './messages.js'
import type { NodeMemories } from './node-memory.js'
import {
  defaultSessionOptions,
  type Session,
  type SessionEffect,
  type SessionOptions,
} from './session.js'

/** Names one stream; never used again for another one. */
export type StreamId = string

/** What happens between the control plane and all of its clients. */
export type FleetEvent =
  | { readonly _tag: 'StreamOpened'; readonly stream: StreamId; readonly variant: Variant }
  | {
      readonly _tag: 'RequestReceived'
      readonly stream: StreamId
      readonly request: DiscoveryRequest
    }
  | { readonly _tag: 'StreamClosed'; readonly stream: StreamId }
  | { readonly _tag: 'SnapshotPublished'; readonly snapshot: Snapshot }
  /** The node of this id is on the roster. */
  | { readonly _tag: 'NodeAdmitted'; readonly id: string }
  /** What the lost node of this id may hold counts no more. */
  | { readonly _tag: 'NodeForgotten'; readonly id: string }
  /** A deletion waits for proof, or none does any more. */
  | { readonly _tag: 'AcksDemanded'; readonly isOn: boolean }
  /** It is as late as `nextTimer` has asked for, or later. */
  | { readonly _tag: 'TimePassed' }

/** An effect of one stream's session. */
export interface FleetEffect {
  readonly stream: StreamId
  readonly effect: SessionEffect
}

/** All streams of one control plane: one session each, whose state names its node. */
export interface FleetState {
  readonly options: SessionOptions
  readonly snapshot: Snapshot | undefined
  readonly sessions: PM.PersistentMap<StreamSession>
  /** What the nodes held whose streams have ended, by node id; of those that are lost the latest `maxRemembered`. */
  readonly memory: NodeMemories
  /** How many lost nodes were forgotten, since there were too many: of these nothing is known. */
  readonly forgotten: number
  /** The ids of the nodes that may be sent route tables, the latest `maxRemembered` of them. */
  readonly admitted: ReadonlySet<string>
  /** A deletion waits for proof. */
  readonly isProving: boolean
  /** How many streams have turned out to be of clients that came with something. */
  readonly returns: number
  /** The earliest time at which a session wants a `TimePassed`. */
  readonly due: number | undefined
}

/**
 * How many lost nodes are remembered. In a fleet whose Envoys come and go under ever new ids the memory would
 * grow for ever; what is remembered of one is a few references as long as it holds what others hold.
 */
export const maxRemembered = 10_000

export interface StreamSession {
  readonly name: StreamId
  readonly session: Session
  /** When it wants a `TimePassed`. */
  readonly due: number | undefined
  /** The ids of nodes whose streams have ended while this one was open and had not said who it is. */
  readonly outlived: ReadonlySet<string>
}

export type FleetStep = readonly [state: FleetState, effects: ReadonlyArray<FleetEffect>]

/** No streams, and nothing published: requests are kept and answered with the first snapshot. */
export const openFleet = (
  options: SessionOptions = defaultSessionOptions,
  memory: NodeMemories = new Map(),
): FleetState => ({
  options,
  snapshot: undefined,
  sessions: undefined,
  memory,
  forgotten: memory.forgotten ?? 0,
  admitted: new Set(),
  isProving: false,
  returns: 0,
  due: undefined,
})

export const emptyFleet: FleetState = openFleet()
