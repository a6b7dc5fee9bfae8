import { inTurn } from '../../../core/in-turn.js'
import type { Clock } from '../../../ports/clock.js'
import { isSameTrouble } from './failure.js'
import type { Change } from './holdings.js'
import { performing } from './perform.js'
import type { ReflectorPorts } from './ports.js'
import { type Selecting, unsettledCount } from './selection.js'
import type { Reflector, ReflectorEffect, ReflectorEvent, ReflectorStep } from './state.js'
import { begin, deadlineMs, step } from './step.js'
import { readLine } from './wire.js'

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
  const { clock } = ports
  const beginning = begin<A>(ports, clock.nowMs())
  let [state] = beginning
  let request = new AbortController()
  const fetches = new AbortController()
  let isOver = false
  const timer = timerOf(clock, () => receive({ _tag: 'Ticked' }))
  const requests = performing(ports, () => state)
  const end = (): void => {
    isOver = true
    timer.stop()
    request.abort()
    fetches.abort()
    signal.removeEventListener('abort', end)
  }
  const fail = (error: unknown): void => {
    if (isOver) return
    end()
    onBug(error)
  }
  const run = inTurn<() => ReflectorStep<A>>(
    (take) => {
      if (isOver || signal.aborted) return
      try {
        const before = state
        const [next, effects] = take()
        state = next
        effects.forEach(perform)
        timer.set(deadlineMs(next))
        const changes = effects.flatMap((effect) => (effect._tag === 'Tell' ? effect.changes : []))
        if (changes.length > 0 || isNews(before, next)) onReport({ state: next, changes })
      } catch (error) {
        fail(error)
      }
    },
    (_, error) => fail(error),
  )
  const receive = (event: ReflectorEvent<A>): void => {
    run(() => step(state, event, clock.nowMs()))
  }
  /** A line is read in its turn: what is wanted may have changed by what came before. */
  const hear = (attempt: number, line: string): void => {
    run(() =>
      attempt === state.attempt
        ? step(state, readLine(requests.reading, attempt, line), clock.nowMs())
        : [state, []],
    )
  }
  const renewed = (): AbortSignal => {
    request.abort()
    request = new AbortController()
    return request.signal
  }
  /** Never within the call: who has made this can look at it when it is first called back. */
  const ask = (request: () => Promise<ReflectorEvent<A>>): void => {
    void Promise.resolve().then(request).then(receive, fail)
  }
  const perform = (effect: ReflectorEffect<A>): void => {
    switch (effect._tag) {
      case 'List': {
        const signal = renewed()
        return ask(() => requests.list(effect, signal))
      }
      case 'Watch': {
        const signal = renewed()
        return ask(() => requests.watch(effect, (line) => hear(effect.attempt, line), signal))
      }
      case 'Stop':
        return request.abort()
      case 'Fetch':
        return ask(() => requests.fetch(effect.wish, fetches.signal))
      case 'Tell':
        return
    }
  }
  return {
    start: () => {
      signal.addEventListener('abort', end)
      run(() => beginning)
    },
    state: () => state,
    select: (selecting) => receive({ _tag: 'Selected', ...selecting }),
  }
}

const isNews = (before: Reflector<unknown>, next: Reflector<unknown>): boolean =>
  before.isSynced !== next.isSynced ||
  !isSameTrouble(before.trouble, next.trouble) ||
  unsettledCount(next.selection) < unsettledCount(before.selection)

interface Timer {
  /** Wakes at this time, or before. */
  readonly set: (atMs: number | undefined) => void
  readonly stop: () => void
}

/** The longest wait of a timer, in milliseconds: Node's overflow at 2^31. */
const maxTimerMs = 2 ** 30

/** One timer that is only ever set anew for an earlier time, since a deadline may move with each line of a watch. */
const timerOf = (clock: Clock, onDue: () => void): Timer => {
  let dueMs = Infinity
  let cancel = (): void => undefined
  const stop = (): void => {
    cancel()
    dueMs = Infinity
  }
  return {
    set: (atMs = Infinity) => {
      if (atMs >= dueMs) return
      stop()
      dueMs = atMs
      cancel = clock.after(Math.min(maxTimerMs, Math.max(0, atMs - clock.nowMs())), () => {
        dueMs = Infinity
        onDue()
      })
    },
    stop,
  }
}
