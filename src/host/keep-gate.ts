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
  let timer: { readonly atMs: number; readonly cancel: () => void } | undefined
  let closed = false
  const wind = (): void => {
    const atMs = closed ? undefined : nextGateTimer(state, clock.nowMs())
    if (atMs === timer?.atMs) return
    timer?.cancel()
    timer = atMs === undefined ? undefined : { atMs, cancel: wakeAt(atMs) }
  }
  const wakeAt = (atMs: number): (() => void) =>
    clock.after(Math.max(0, Math.ceil(atMs - clock.nowMs())), () => {
      timer = undefined
      wind()
      onChange()
    })
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
