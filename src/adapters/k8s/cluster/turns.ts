import { alarm } from '../../../core/alarm.js'
import { inTurn } from '../../../core/in-turn.js'
import type { Clock } from '../../../ports/clock.js'

/** Does one thing after the other: what is asked for by something that is being done comes after it. */
export interface Turns {
  readonly run: (act: () => void) => void
  /** Calls back in turn. */
  readonly clock: Clock
}

/** What is thrown goes to `onThrow`. Nothing is done once `signal` has aborted. */
export const takeTurns = (
  clock: Clock,
  onThrow: (cause: unknown) => void,
  signal: AbortSignal,
): Turns => {
  const take = inTurn<() => void>(
    (act) => {
      if (signal.aborted) return
      try {
        act()
      } catch (cause) {
        onThrow(cause)
      }
    },
    (_, cause) => onThrow(cause),
  )
  return {
    run: take,
    clock: {
      nowMs: clock.nowMs,
      after: (delayMs, callback) => clock.after(delayMs, () => take(callback)),
    },
  }
}

/** Calls back once at the time that was set last, `undefined` for never, until `signal` aborts. */
export const alarmOf = (
  clock: Clock,
  onDue: () => void,
  signal: AbortSignal,
): ((atMs: number | undefined) => void) => {
  const due = alarm(clock, onDue)
  signal.addEventListener('abort', () => due.set(undefined))
  return (atMs) => {
    if (!signal.aborted) due.set(atMs)
  }
}
