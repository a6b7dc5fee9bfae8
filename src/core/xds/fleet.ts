import * as PM from '../persistent-map.js'
import type { Snapshot } from '../snapshot.js'
import type { DiscoveryRequest, Variant } from './messages.js'
import {
  defaultSessionOptions,
  openSession,
  type Session,
  type SessionEffect,
  type SessionEvent,
  type SessionOptions,
  step as stepSession,
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
}

interface StreamSession {
  readonly name: StreamId
  readonly session: Session
}

export type FleetStep = readonly [state: FleetState, effects: ReadonlyArray<FleetEffect>]

/** No streams, and nothing published: requests are kept and answered with the first snapshot. */
export const openFleet = (options: SessionOptions = defaultSessionOptions): FleetState => ({
  options,
  snapshot: undefined,
  sessions: undefined,
})

export const emptyFleet: FleetState = openFleet()

/**
 * Advances all streams by one event.
 *
 * | event             | what it does                                              |
 * | ----------------- | --------------------------------------------------------- |
 * | StreamOpened      | opens a session on the published snapshot                  |
 * | RequestReceived   | advances that session; of an unknown stream it is ignored  |
 * | StreamClosed      | forgets the session                                        |
 * | SnapshotPublished | advances every session, in the order of their ids          |
 *
 * A request costs what its session costs, a publish the sum over all streams; no stream waits for
 * another one.
 */
export const step = (state: FleetState, event: FleetEvent): FleetStep => {
  switch (event._tag) {
    case 'StreamOpened': {
      const session = openSession(event.variant, state.options)
      const { snapshot } = state
      const opened = snapshot === undefined ? session : { ...session, snapshot }
      return [withSession(state, event.stream, opened), []]
    }
    case 'RequestReceived':
      return advance(state, event.stream, event)
    case 'StreamClosed':
      return [{ ...state, sessions: PM.remove(state.sessions, event.stream) }, []]
    case 'SnapshotPublished':
      return publish({ ...state, snapshot: event.snapshot }, event)
  }
}

const advance = (state: FleetState, stream: StreamId, event: SessionEvent): FleetStep => {
  const found = PM.get(state.sessions, stream)
  if (found === undefined) return [state, []]
  const [session, effects] = stepSession(found.session, event)
  return [withSession(state, stream, session), effects.map((effect) => ({ stream, effect }))]
}

const publish = (state: FleetState, event: SessionEvent): FleetStep => {
  const effects: Array<FleetEffect> = []
  let next = state
  for (const { name } of PM.entries(state.sessions)) {
    const [advanced, more] = advance(next, name, event)
    next = advanced
    for (const effect of more) effects.push(effect)
  }
  return [next, effects]
}

const withSession = (state: FleetState, stream: StreamId, session: Session): FleetState => ({
  ...state,
  sessions: PM.set(state.sessions, { name: stream, session }),
})
