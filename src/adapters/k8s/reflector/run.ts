import { isSameTrouble } from './failure.js'
import type { Change } from './holdings.js'
import { makeMachine } from './machine.js'
import { performing } from './perform.js'
import type { ReflectorPorts } from './ports.js'
import { makeRequester } from './requester.js'
import { type Selecting, unsettledCount } from './selection.js'
import type { Reflector } from './state.js'
import { deadlineMs } from './step.js'
import { timerOf } from './timer.js'

/** What a reflector has to tell at one time. */
export interface Report<A> {
  readonly state: Reflector<A>
  /** In their order. None where only what is known of the server itself, or of a group, is another thing. */
  readonly changes: ReadonlyArray<Change<A>>
}

export interface RunningReflector<A> {
  readonly start: () => void
  readonly state: () => Reflector<A>
  /** Keeps other groups. The report of what leaves by that comes before the call returns, as a rule. */
  readonly select: (selecting: Selecting) => void
}

/**
 * Makes a reflector that, once started, does what the machine asks for against a server, one event after the other,
 * until `signal` aborts.
 *
 * Reports when everything was listed, after each change, and when a trouble begins or ends or a group is known;
 * before the first list of troubles only. What `onReport` throws ends it, and goes to `onBug`. Leaves no timer and
 * no request behind.
 */
export const makeReflector = <A>(
  ports: ReflectorPorts<A>,
  onReport: (report: Report<A>) => void,
  onBug: (error: unknown) => void,
  signal: AbortSignal,
): RunningReflector<A> => {
  let isOver = false
  const end = (): void => {
    isOver = true
    timer.stop()
    requester.stop()
    signal.removeEventListener('abort', end)
  }
  const fail = (error: unknown): void => {
    if (isOver) return
    end()
    onBug(error)
  }
  const machine = makeMachine(ports, {
    isOver: () => isOver || signal.aborted,
    onStep: (before, next, effects) => {
      effects.forEach(requester.perform)
      timer.set(deadlineMs(next))
      const changes = effects.flatMap((effect) => (effect._tag === 'Tell' ? effect.changes : []))
      if (changes.length > 0 || isNews(before, next)) onReport({ state: next, changes })
    },
    onBug: fail,
  })
  const timer = timerOf(ports.clock, () => machine.receive({ _tag: 'Ticked' }))
  const handlers = { onEvent: machine.receive, onLine: machine.hear, onBug: fail }
  const requester = makeRequester(performing(ports, machine.reading), handlers)
  return {
    start: () => {
      signal.addEventListener('abort', end)
      machine.begin()
    },
    state: machine.state,
    select: (selecting) => machine.receive({ _tag: 'Selected', ...selecting }),
  }
}

const isNews = (before: Reflector<unknown>, next: Reflector<unknown>): boolean =>
  before.isSynced !== next.isSynced ||
  !isSameTrouble(before.trouble, next.trouble) ||
  unsettledCount(next.selection) < unsettledCount(before.selection)
