import type { Clock } from '../../../ports/clock.js'
import { emptyLane, type LaneEvent, type LaneLimits, step, wakeAtMs } from './lane.js'
import { maxTurnWaitMs, maxWaiting } from './limits.js'

/** A lane at work. */
export interface Turns {
  /** Resolves to true when it is its turn, and to false if that does not come within `maxTurnWaitMs`. */
  readonly take: () => Promise<boolean>
  /** Gives nobody a turn for so long. */
  readonly pause: (forMs: number) => void
}

/**
 * Gives turns at the pace of `limits`; `onWaiting` is told how many wait, whenever that changes, and must not
 * throw.
 */
export const makeTurns = (
  clock: Clock,
  limits: LaneLimits,
  onWaiting: (count: number) => void,
): Turns => {
  const answers = new Map<number, (isMine: boolean) => void>()
  let lane = emptyLane
  let lastId = 0
  let cancel = (): void => undefined
  const receive = (event: LaneEvent): void => {
    const before = lane.waiting.length
    const [next, effects] = step(limits, maxWaiting, lane, event, clock.nowMs())
    lane = next
    for (const { _tag, id } of effects) {
      answers.get(id)?.(_tag === 'Begin')
      answers.delete(id)
    }
    if (next.waiting.length !== before) onWaiting(next.waiting.length)
    rest()
  }
  const rest = (): void => {
    cancel()
    const atMs = wakeAtMs(limits, lane)
    cancel =
      atMs === undefined
        ? () => undefined
        : clock.after(delayMs(atMs, clock.nowMs()), () => receive({ _tag: 'Ticked' }))
  }
  return {
    take: () =>
      new Promise((resolve) => {
        const id = (lastId += 1)
        answers.set(id, resolve)
        const waiter = { id, untilMs: clock.nowMs() + maxTurnWaitMs }
        receive({ _tag: 'Asked', waiter })
      }),
    pause: (forMs) => receive({ _tag: 'Paused', forMs }),
  }
}

/** Rounded up: a timer that comes a fraction too early would be set again and again. */
const delayMs = (atMs: number, nowMs: number): number => Math.max(1, Math.ceil(atMs - nowMs))
