import type { Roster } from '../core/roster.js'
import {
  isConnected,
  isEnlisted,
  type Keeping,
  type KeepingEvent,
  rosterIn,
  sizeOf,
} from '../core/roster/keeping-state.js'
import type { Clock } from '../ports/clock.js'
import type { Metrics } from '../ports/metrics.js'
import type { RosterStore } from '../ports/roster-store.js'
import type { XdsEvent } from '../ports/xds-observer.js'
import { type LostNodes, watchLost } from './forget-lost.js'
import type { RunningGate } from './keep-gate.js'
import type { ForgetResult } from './operator.js'
import type { ForgottenBy, RosterFact } from './report-roster.js'
import { doorToFleet, type FleetDoor, type RosterFleet } from './roster-fleet.js'
import { type OtherEffect, type RunningKeeping, runKeeping, type Tries } from './run-keeping.js'

/**
 * How long the last write may take after the abort, and a person is kept waiting for one, in milliseconds:
 * longer than a slow write, and well below the 30 s that Kubernetes gives a Pod to end.
 */
export const closeWaitMs = 6_000

export interface KeptRosterPorts {
  readonly store: RosterStore
  readonly clock: Clock
  readonly random: () => number
  readonly metrics: Metrics
  readonly start: RunningGate
  readonly forgetNodeAfterMs: number | undefined
  readonly tell: (fact: RosterFact) => void
  readonly onChange: () => void
}

/** A roster that was read, and is kept up with its fleet. */
export interface KeptRoster {
  readonly hear: (event: XdsEvent) => void
  readonly attach: (fleet: RosterFleet) => void
  /** Why it is not safe; `undefined` if it is. */
  readonly failure: () => string | undefined
  readonly roster: () => Roster
  readonly forget: (id: string, by: ForgottenBy) => Promise<ForgetResult>
  /** Writes it a last time. */
  readonly close: () => Promise<void>
}

/** Keeps a roster up, from its first write on, until it is closed. */
export const keptRoster = (roster: Roster, ports: KeptRosterPorts): KeptRoster => {
  const { clock, start, tell } = ports
  const door = doorToFleet()
  const strike = (id: string, by: ForgottenBy): void => {
    lost.settle(id)
    start.step({ _tag: 'NodeForgotten', id })
    keeping.dispatch({ _tag: 'NodeForgotten', id })
    tell({ _tag: 'NodeForgotten', id, by })
  }
  const lost = watchLost(clock, ports.forgetNodeAfterMs, (id) => {
    if (door.forget(id) !== 'Connected') strike(id, 'Time')
  })
  const perform = performer({ door, lost, start, tell }, (event) => keeping.dispatch(event))
  const onChange = (state: Keeping): void => {
    measure(ports.metrics, state)
    ports.onChange()
  }
  const keeping = runKeeping(roster, { ...ports, perform, onChange })
  return {
    hear: (event) => {
      const heard = keepingEventOf(event)
      if (heard !== undefined) keeping.dispatch(heard)
    },
    attach: (fleet) => {
      door.attach(fleet)
      loseAbsent(keeping.state(), lost)
    },
    failure: () => keeping.state().failure,
    roster: () => rosterIn(keeping.state()),
    forget: (id, by) => forget(id, keeping, door, (struck) => strike(struck, by)),
    close: async () => {
      keeping.dispatch({ _tag: 'MemoryRead', memory: door.memory() })
      const written = await writeNow(keeping, 'Again')
      lost.close()
      keeping.stop()
      if (written !== 'Written') tell({ _tag: 'LastSaveFailed', message: written.failure })
    },
  }
}

/** Those who are told what becomes of nodes. */
interface Concerned extends Pick<KeptRosterPorts, 'start' | 'tell'> {
  readonly door: FleetDoor
  readonly lost: LostNodes
}

const performer =
  ({ door, lost, start, tell }: Concerned, dispatch: (event: KeepingEvent) => void) =>
  (effect: OtherEffect): void => {
    switch (effect._tag) {
      case 'Admit':
        return door.admit(effect.id)
      case 'Heard':
        // Of a shared id nobody knows whether the one that has come is the one that was lost.
        if (!effect.isShared) lost.settle(effect.id)
        return start.step({ ...effect, _tag: 'NodeHeard' })
      case 'Lost':
        return lost.lose(effect.id)
      case 'ReadMemory':
        return dispatch({ _tag: 'MemoryRead', memory: door.memory() })
      case 'Tell':
        return tell(effect.fact)
    }
  }

const measure = (metrics: Metrics, state: Keeping): void => {
  metrics.set('edgewright_roster_nodes', {}, sizeOf(state))
  metrics.set('edgewright_roster_unsaved', {}, state.failure === undefined ? 0 : 1)
}

/** Nodes of the roster are lost from the time on from which they could come back; of a shared id some may be. */
const loseAbsent = (state: Keeping, { lose }: LostNodes): void => {
  for (const { id, isShared } of rosterIn(state).values())
    if (isShared || !isConnected(state, id)) lose(id)
}

const forget = async (
  id: string,
  keeping: RunningKeeping,
  door: FleetDoor,
  strike: (id: string) => void,
): Promise<ForgetResult> => {
  if (!door.isAttached())
    return { failure: 'the control plane has only just begun: try again in a moment' }
  const outcome = door.forget(id)
  if (outcome === 'Connected') return outcome
  if (outcome === 'Unknown' && !isEnlisted(keeping.state(), id)) return outcome
  strike(id)
  const written = await writeNow(keeping, 'Once')
  return written === 'Written' ? 'Forgotten' : written
}

const writeNow = (keeping: RunningKeeping, tries: Tries): ReturnType<RunningKeeping['written']> => {
  const written = keeping.written(closeWaitMs, tries)
  keeping.dispatch({ _tag: 'SaveWanted' })
  return written
}

const keepingEventOf = (event: XdsEvent): KeepingEvent | undefined => {
  switch (event._tag) {
    case 'NodeIdentified':
      return { _tag: 'NodeIdentified', stream: event.stream, node: event.node }
    case 'ResponseAcked':
      return { _tag: 'Acked', stream: event.stream }
    case 'ResponseNacked':
      return { _tag: 'Nacked', stream: event.stream }
    case 'StreamClosed':
      return { _tag: 'StreamClosed', stream: event.stream }
    case 'StreamOpened':
    case 'ResponseSent':
    case 'RefusalFound':
      return undefined
  }
}
