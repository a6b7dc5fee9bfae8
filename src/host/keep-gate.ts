import { alarm } from '../core/alarm.js'
import type { NotYet } from '../core/deletion.js'
import {
  gateOf,
  nextGateTimer,
  openStartGate,
  type Standing,
  type StartEvent,
  stepStartGate,
  waitingSince,
} from '../core/start-gate.js'
import type { Clock } from '../ports/clock.js'

/** Says what is known of other control planes that keep the same roster. */
export interface StandingSource {
  /** Is asked each time that something may be released, and in the moment before it is. Must not throw. */
  readonly standing: () => Standing
  /** Calls the listener when `standing` may say something else, until the returned function is called. */
  readonly onStandingChange: (listener: () => void) => () => void
}

const alone: StandingSource = {
  standing: () => ({ _tag: 'Alone' }),
  onStandingChange: () => () => undefined,
}

/** The gate of a start, with a clock. */
export interface RunningGate {
  readonly step: (event: StartEvent) => void
  readonly gate: () => NotYet | undefined
  /** Since when Envoys may come back, in milliseconds; `undefined` if nobody waits for that. */
  readonly waitingSince: () => number | undefined
  readonly close: () => void
}

/** Calls `onChange`, which must not throw, when the gate may have changed, also when time has opened it. */
export const keepGate = (
  clock: Clock,
  waitMs: number,
  onChange: () => void,
  { standing, onStandingChange }: StandingSource = alone,
): RunningGate => {
  let state = openStartGate(waitMs)
  let closed = false
  const wake = alarm(clock, () => {
    wind()
    onChange()
  })
  const wind = (): void =>
    wake.set(closed ? undefined : nextGateTimer(state, standing(), clock.nowMs()))
  const stopListening = onStandingChange(() => {
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
    gate: () => gateOf(state, standing(), clock.nowMs()),
    waitingSince: () => waitingSince(state, standing(), clock.nowMs()),
    close: () => {
      closed = true
      stopListening()
      wind()
    },
  }
}
