import { alarm } from '../core/alarm.js'
import type { NotYet } from '../core/deletion.js'
import {
  gateOf,
  nextGateTimer,
  openStartGate,
  type StartEvent,
  stepStartGate,
} from '../core/start-gate.js'
import type { Clock } from '../ports/clock.js'

/** The gate of a start, with a clock. */
export interface RunningGate {
  readonly step: (event: StartEvent) => void
  readonly gate: () => NotYet | undefined
  readonly close: () => void
}

/** Calls `onChange`, which must not throw, when the gate may have changed, also when time has opened it. */
export const keepGate = (clock: Clock, waitMs: number, onChange: () => void): RunningGate => {
  let state = openStartGate(waitMs)
  let closed = false
  const wake = alarm(clock, () => {
    wind()
    onChange()
  })
  const wind = (): void => wake.set(closed ? undefined : nextGateTimer(state, clock.nowMs()))
  return {
    step: (event) => {
      const next = stepStartGate(state, event, clock.nowMs())
      if (next === state) return
      state = next
      wind()
      onChange()
    },
    gate: () => gateOf(state, clock.nowMs()),
    close: () => {
      closed = true
      wind()
    },
  }
}
