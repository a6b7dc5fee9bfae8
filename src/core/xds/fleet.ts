import type { Snapshot } from '../snapshot.js'
import type { DiscoveryRequest, Variant } from './messages.js'
import type { SessionEffect } from './session.js'

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

/** An effect of one stream's session. */
export interface FleetEffect {
  readonly stream: StreamId
  readonly effect: SessionEffect
}

export interface FleetState {
  readonly snapshot: Snapshot | undefined
}

export type FleetStep = readonly [state: FleetState, effects: ReadonlyArray<FleetEffect>]

/** No streams, and nothing published: requests are kept and answered with the first snapshot. */
export declare const emptyFleet: FleetState

/** Advances all streams by one event. */
export declare const step: (state: FleetState, event: FleetEvent) => FleetStep
