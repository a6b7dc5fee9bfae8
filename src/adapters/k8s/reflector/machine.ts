import { inTurn } from '../../../core/in-turn.js'
import { readingOf } from './perform.js'
import type { ReflectorPorts } from './ports.js'
import type { Reflector, ReflectorEffect, ReflectorEvent, ReflectorStep } from './state.js'
import { begin, step } from './step.js'
import { type Reading, readLine } from './wire.js'

/** The machine, with its state: one event after the other. */
export interface Machine<A> {
  readonly state: () => Reflector<A>
  /** How objects are read by what is known at that moment. */
  readonly reading: Reading<A>
  readonly begin: () => void
  readonly receive: (event: ReflectorEvent<A>) => void
  /** A line is read in its turn: what is wanted may have changed by what came before. */
  readonly hear: (attempt: number, line: string) => void
}

export interface MachineHandlers<A> {
  readonly isOver: () => boolean
  /** What it throws is a bug. */
  readonly onStep: (
    before: Reflector<A>,
    next: Reflector<A>,
    effects: ReadonlyArray<ReflectorEffect<A>>,
  ) => void
  readonly onBug: (error: unknown) => void
}

/** Makes a machine that takes in what comes until it is over. */
export const makeMachine = <A>(
  ports: ReflectorPorts<A>,
  { isOver, onStep, onBug }: MachineHandlers<A>,
): Machine<A> => {
  const { clock } = ports
  const beginning = begin<A>(ports, clock.nowMs())
  let [state] = beginning
  const reading = readingOf(ports, () => state)
  const run = inTurn<() => ReflectorStep<A>>(
    (take) => {
      if (isOver()) return
      try {
        const before = state
        const [next, effects] = take()
        state = next
        onStep(before, next, effects)
      } catch (error) {
        onBug(error)
      }
    },
    (_, error) => onBug(error),
  )
  const hear = (attempt: number, line: string): ReflectorStep<A> =>
    attempt === state.attempt
      ? step(state, readLine(reading, attempt, line), clock.nowMs())
      : [state, []]
  return {
    state: () => state,
    reading,
    begin: () => run(() => beginning),
    receive: (event) => run(() => step(state, event, clock.nowMs())),
    hear: (attempt, line) => run(() => hear(attempt, line)),
  }
}
