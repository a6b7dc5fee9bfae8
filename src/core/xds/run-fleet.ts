import { alarm, type AlarmClock } from '../alarm.js'
import { inTurn } from '../in-turn.js'
import { type Ledger, ledgerOf } from '../ledger.js'
import { listeners } from '../listeners.js'
import type { Snapshot } from '../snapshot.js'
import type { XdsEvent } from './events.js'
import {
  type FleetEvent,
  type FleetState,
  type FleetStep,
  mayForget,
  rememberAll,
  type StreamId,
} from './fleet.js'
import type { DiscoveryRequest } from './messages.js'
import type { NodeMemories } from './node-memory.js'
import { type FleetStream, openStreams } from './open-streams.js'

/** The pure machine of all streams: `openFleet` and `step`. */
export interface FleetMachine {
  readonly initial: FleetState
  readonly step: (state: FleetState, event: FleetEvent, nowMs: number) => FleetStep
  readonly nextTimer: (state: FleetState) => number | undefined
}

/** Who hears of it. */
export interface FleetListeners {
  readonly observe: (event: XdsEvent) => void
  /** Must not throw. */
  readonly onFault: (fault: Fault) => void
}

/** Something that failed on our side, told apart by what it harms. */
export type Fault =
  /** This stream has ended with INTERNAL. */
  | { readonly _tag: 'StreamFailed'; readonly stream: StreamId; readonly error: unknown }
  /** Nothing: the observer does not know of this event, that is all. */
  | { readonly _tag: 'ObserverThrew'; readonly event: XdsEvent; readonly error: unknown }
  /** What an observer published has not become the target; what was the target still is. */
  | { readonly _tag: 'PublishFailed'; readonly error: unknown }

/** The machine at work. */
export interface RunningFleet {
  /** Throws only if the machine does, and then nothing is published. Nothing else here throws. */
  readonly publish: (snapshot: Snapshot) => void
  /** Takes a stream in, under an id that was never used before. It may be closed on return. */
  readonly open: (id: StreamId, stream: FleetStream) => void
  /** What comes on a stream that is not open is lost. */
  readonly receive: (id: StreamId, request: DiscoveryRequest) => void
  /** To be called when a stream has ended, by whomever; of several calls the first counts. */
  readonly close: (id: StreamId, reason: string) => void
  /** Ends every stream with OK. */
  readonly endAll: (reason: string) => void
  /** How many streams are open. */
  readonly streams: () => number
  /** What each node holds, as far as is known at the moment. Costs O(nodes) after a change. */
  readonly ledger: () => Ledger
  /** Calls a listener after every event, until the returned function is called. It must not throw. */
  readonly onLedgerChange: (listener: () => void) => () => void
  /** What is remembered of all nodes, those that are connected included. */
  readonly memory: () => NodeMemories
  /** Lets route tables go to the node of this id, where nodes wait for that. */
  readonly admit: (id: string) => void
  /** Forgets what a lost node may hold. */
  readonly forget: (id: string) => 'Forgotten' | 'Connected' | 'Unknown'
  /** Says whether a deletion waits for proof. */
  readonly demandAcks: (isOn: boolean) => void
  /** Waits for no time any more. */
  readonly stopTimers: () => void
}

/**
 * Runs the machine of all streams and holds its state: events in, one after another, and effects out
 * to the streams, in their order. The one loop behind every server; synchronous, and without I/O of
 * its own.
 *
 * Guarantees: a stream or an `observe` that throws harms the stream that it belongs to at most, and no
 * event is lost; a machine that throws harms the event that it was given. (The state is immutable, so
 * that a step that threw has changed nothing.) Of each stream, `observe` hears first that it opened and
 * last that it closed. It may publish and end streams: that is done behind what is being done.
 */
export const runFleet = (
  machine: FleetMachine,
  clock: AlarmClock,
  { observe, onFault }: FleetListeners,
): RunningFleet => {
  let state = machine.initial
  let stopped = false
  let known: { readonly state: FleetState; readonly ledger: Ledger } | undefined
  const changes = listeners()
  const tell = (event: XdsEvent): void => {
    try {
      observe(event)
    } catch (error) {
      onFault({ _tag: 'ObserverThrew', event, error })
    }
  }
  const streams = openStreams({
    onEvent: tell,
    onClosed: (stream, reason) => dispatch({ _tag: 'StreamClosed', stream, reason }),
    onFailure: (stream, error) => onFault({ _tag: 'StreamFailed', stream, error }),
  })
  const advance = (event: FleetEvent): void => {
    const [next, effects] = machine.step(state, event, clock.nowMs())
    state = next
    for (const { stream, effect } of effects) streams.perform(stream, effect)
    wind()
    changes.ring()
  }
  const wake = alarm(clock, () => dispatch({ _tag: 'TimePassed' }))
  const wind = (): void => wake.set(stopped ? undefined : machine.nextTimer(state))
  const dispatch = inTurn(
    (event: Turn) => {
      if (!('stream' in event)) return advance(event)
      streams.contain(event.stream, () => advance(event))
      if (event._tag !== 'RequestReceived') tell(event)
    },
    (_, error) => onFault({ _tag: 'PublishFailed', error }),
  )
  return {
    publish: (snapshot) => dispatch({ _tag: 'SnapshotPublished', snapshot }),
    open: (id, stream) => {
      streams.add(id, stream)
      dispatch({ _tag: 'StreamOpened', stream: id, variant: stream.variant, peer: stream.peer })
    },
    receive: (stream, request) => dispatch({ _tag: 'RequestReceived', stream, request }),
    close: streams.close,
    endAll: streams.endAll,
    streams: streams.count,
    ledger: () => {
      if (known?.state !== state) known = { state, ledger: ledgerOf(state) }
      return known.ledger
    },
    onLedgerChange: changes.listen,
    memory: () => rememberAll(state),
    admit: (id) => dispatch({ _tag: 'NodeAdmitted', id }),
    forget: (id) => {
      const result = mayForget(state, id)
      dispatch({ _tag: 'NodeForgotten', id })
      return result
    },
    demandAcks: (isOn) => dispatch({ _tag: 'AcksDemanded', isOn }),
    stopTimers: () => {
      stopped = true
      wind()
    },
  }
}

/** An event of the machine; that a stream opens or closes, with what else is to be told of it. */
type Turn =
  | Exclude<FleetEvent, { readonly _tag: 'StreamOpened' | 'StreamClosed' }>
  | Extract<XdsEvent, { readonly _tag: 'StreamOpened' | 'StreamClosed' }>
