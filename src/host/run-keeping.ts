import * as E from 'fp-ts/lib/Either.js'
import { alarm } from '../core/alarm.js'
import { inTurn } from '../core/in-turn.js'
import { listeners } from '../core/listeners.js'
import type { Roster } from '../core/roster.js'
import { stepKeeping } from '../core/roster/keeping.js'
import {
  type Keeping,
  type KeepingEffect,
  type KeepingEvent,
  nextKeepingTimer,
  openKeeping,
} from '../core/roster/keeping-state.js'
import type { Clock } from '../ports/clock.js'
import type { RosterStore } from '../ports/roster-store.js'
import { askedBackoffMs, maxBackoffMs } from './backoff.js'
import { attempted } from './load-roster.js'

/**
 * How long a write may take until the Envoys that wait for it are served all the same, in milliseconds. A disk
 * takes some, a busy API server some hundred.
 */
export const slowSaveMs = 5_000

/**
 * How often it is looked whether what was written is there still, in milliseconds: who crashes in between may
 * forget an Envoy that was lost.
 */
export const lookEveryMs = 10_000

/** What the machine is run with. */
export interface KeepingPorts {
  readonly store: RosterStore
  readonly clock: Clock
  readonly random: () => number
  /** Carries out what is not to be written. Must not throw. */
  readonly perform: (effect: OtherEffect) => void
  /** Something may have changed. Must not throw. */
  readonly onChange: (state: Keeping) => void
}

export type OtherEffect = Exclude<KeepingEffect, { readonly _tag: 'Save' }>

/** The machine at work. */
export interface RunningKeeping {
  readonly state: () => Keeping
  readonly dispatch: (event: KeepingEvent) => void
  /**
   * Resolves once all that has changed until now is written down, or with a failure if that takes longer than
   * `withinMs`; where nothing is to be tried again, at the next write that fails.
   */
  readonly written: (withinMs: number, tries: Tries) => Promise<Written>
  /** Hears and does nothing any more. */
  readonly stop: () => void
}

export type Written = 'Written' | { readonly failure: string }

/** Whether a write that fails is waited for again. */
export type Tries = 'Once' | 'Again'

/** Runs the machine on a roster that was read, and begins with writing it. */
export const runKeeping = (roster: Roster, ports: KeepingPorts): RunningKeeping => {
  const { clock } = ports
  let state = openKeeping(roster)
  let stopped = false
  const changes = listeners()
  const wake = alarm(clock, () => dispatch({ _tag: 'TimePassed' }))
  const wind = (): void => wake.set(stopped ? undefined : nextKeepingTimer(state))
  const dispatch = inTurn(
    (event: KeepingEvent) => {
      if (stopped) return
      const [next, effects] = stepKeeping(state, event, clock.nowMs())
      state = next
      for (const effect of effects)
        if (effect._tag === 'Save') void save(ports, effect.roster, () => state.failures, dispatch)
        else ports.perform(effect)
      wind()
      changes.ring()
      ports.onChange(state)
    },
    (_, error) =>
      ports.perform({ _tag: 'Tell', fact: { _tag: 'SaveFailed', message: String(error) } }),
  )
  const stopLooking = lookAgain(ports, () => state, dispatch)
  const stop = (): void => {
    stopped = true
    stopLooking()
    wind()
  }
  // The first write.
  dispatch({ _tag: 'TimePassed' })
  return {
    state: () => state,
    dispatch,
    written: (withinMs, tries) => whenWritten(clock, changes.listen, () => state, withinMs, tries),
    stop,
  }
}

/** Writes a roster, and says how that went, or that it takes long. */
const save = async (
  { store, clock, random }: KeepingPorts,
  roster: Roster,
  failures: () => number,
  dispatch: (event: KeepingEvent) => void,
): Promise<void> => {
  const message = `the write has not ended within ${slowSaveMs / 1000} s`
  const cancel = clock.after(slowSaveMs, () => dispatch({ _tag: 'SaveIsSlow', message }))
  const saved = await attempted(() => store.save(roster)())
  cancel()
  if (E.isRight(saved)) return dispatch({ _tag: 'SaveSucceeded' })
  const { _tag, message: failure, retryAfterMs } = saved.left
  const retryAtMs = clock.nowMs() + askedBackoffMs(failures() + 1, random(), retryAfterMs)
  const isSuperseded = _tag === 'Superseded'
  dispatch({ _tag: 'SaveFailed', message: failure, retryAtMs, isSuperseded })
}

/** Looks every now and then, while all is written, whether it is there still. */
const lookAgain = (
  { store: { isThere }, clock }: KeepingPorts,
  state: () => Keeping,
  dispatch: (event: KeepingEvent) => void,
): (() => void) => {
  if (isThere === undefined) return () => undefined
  let stopped = false
  const look = async (): Promise<void> => {
    const { saved, changes, saving } = state()
    let askedMs = 0
    if (saving === undefined && saved === changes) {
      const found = await attempted(isThere())
      if (E.isLeft(found)) askedMs = Math.min(found.left.retryAfterMs ?? 0, maxBackoffMs)
      else if (!found.right) dispatch({ _tag: 'FoundMissing' })
    }
    if (!stopped) cancel = clock.after(Math.max(lookEveryMs, askedMs), () => void look())
  }
  let cancel = clock.after(lookEveryMs, () => void look())
  return () => {
    stopped = true
    cancel()
  }
}

/** Looks after each change whether all that had changed before the call is written. */
const whenWritten = (
  clock: Clock,
  onChange: (look: () => void) => () => void,
  state: () => Keeping,
  withinMs: number,
  tries: Tries,
): Promise<Written> =>
  new Promise((resolve) => {
    const before = state()
    const look = (): void => {
      const result = writtenSince(before, state(), tries)
      if (result !== undefined) end(result)
    }
    const end = (result: Written): void => {
      stopListening()
      cancel()
      resolve(result)
    }
    const late = `it was not written within ${withinMs / 1000} s`
    const cancel = clock.after(withinMs, () => end({ failure: state().failure ?? late }))
    const stopListening = onChange(look)
    look()
  })

/** Whether what was to be written before is written now; `undefined` as long as it may still be. */
const writtenSince = (before: Keeping, now: Keeping, tries: Tries): Written | undefined => {
  if (now.saved >= before.changes) return 'Written'
  const hasFailed = now.isFailing && now.failures !== before.failures
  return hasFailed && tries === 'Once' ? { failure: now.failure ?? '' } : undefined
}
