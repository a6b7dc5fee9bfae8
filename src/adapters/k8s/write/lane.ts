/** How fast the writes of a lane may begin. */
export interface LaneLimits {
  /** In the long run. */
  readonly perSecond: number
  /** How many may begin at once after a quiet time; at least 1. */
  readonly burst: number
}

/** Where writes wait for their turn. */
export interface Lane {
  /** When all that has begun would have begun at an even pace: by as much as that is ahead, the burst is used up. */
  readonly paidUntilMs: number
  /** In the order in which they came. */
  readonly waiting: ReadonlyArray<Waiter>
}

export interface Waiter {
  readonly id: number
  /** It waits until then, and no longer. */
  readonly untilMs: number
}

export type LaneEvent =
  /** A write would like to begin. */
  | { readonly _tag: 'Asked'; readonly waiter: Waiter }
  /** The server asks to be left alone. */
  | { readonly _tag: 'Paused'; readonly forMs: number }
  | { readonly _tag: 'Ticked' }

/** What becomes of those who wait. */
export type LaneEffect =
  | { readonly _tag: 'Begin'; readonly id: number }
  /** There was no turn for it in time. */
  | { readonly _tag: 'TurnAway'; readonly id: number }

export type LaneStep = readonly [lane: Lane, effects: ReadonlyArray<LaneEffect>]

export const emptyLane: Lane = { paidUntilMs: -Infinity, waiting: [] }

/**
 * Advances a lane by one event (a leaky bucket as a meter, with a queue in front of it).
 *
 * | event  | lane                    | becomes                                                        |
 * | ------ | ----------------------- | -------------------------------------------------------------- |
 * | Asked  | with `maxWaiting`       | the same; the write is turned away                             |
 * | Asked  | any other               | with the write behind all others                               |
 * | Paused | any                     | with no burst left, and none to begin before the pause is over |
 * | any    | with some whose time is over | without them; they are turned away                        |
 * | any    | with a burst that is not used up | without as many of the first; they begin              |
 *
 * Laws: writes begin in the order in which they came; of a window of `t` seconds no more than
 * `burst + t * perSecond` begin in it; none waits that may begin; each one that came begins or is turned away once.
 * Costs O(waiting).
 */
export const step = (
  limits: LaneLimits,
  maxWaiting: number,
  lane: Lane,
  event: LaneEvent,
  nowMs: number,
): LaneStep => {
  switch (event._tag) {
    case 'Asked': {
      const [settled, effects] = settle(limits, lane, nowMs)
      if (settled.waiting.length >= maxWaiting)
        return [settled, [...effects, { _tag: 'TurnAway', id: event.waiter.id }]]
      const next = { ...settled, waiting: [...settled.waiting, event.waiter] }
      const [after, more] = settle(limits, next, nowMs)
      return [after, [...effects, ...more]]
    }
    case 'Paused': {
      const paidUntilMs = Math.max(lane.paidUntilMs, nowMs + event.forMs + creditMs(limits))
      return settle(limits, { ...lane, paidUntilMs }, nowMs)
    }
    case 'Ticked':
      return settle(limits, lane, nowMs)
  }
}

/** When something becomes of somebody who waits, if nothing happens before; `undefined` if nobody waits. */
export const wakeAtMs = (limits: LaneLimits, { paidUntilMs, waiting }: Lane): number | undefined =>
  waiting.length === 0
    ? undefined
    : Math.min(paidUntilMs - creditMs(limits), ...waiting.map(({ untilMs }) => untilMs))

const settle = (limits: LaneLimits, lane: Lane, nowMs: number): LaneStep => {
  const effects: Array<LaneEffect> = []
  const waiting: Array<Waiter> = []
  let { paidUntilMs } = lane
  for (const waiter of lane.waiting) {
    const { id, untilMs } = waiter
    if (untilMs <= nowMs) effects.push({ _tag: 'TurnAway', id })
    else if (paidUntilMs - creditMs(limits) > nowMs) waiting.push(waiter)
    else {
      paidUntilMs = Math.max(paidUntilMs, nowMs) + intervalMs(limits)
      effects.push({ _tag: 'Begin', id })
    }
  }
  return [{ paidUntilMs, waiting }, effects]
}

const intervalMs = ({ perSecond }: LaneLimits): number => 1_000 / perSecond

/** How far ahead of an even pace a lane may be. */
const creditMs = (limits: LaneLimits): number => (limits.burst - 1) * intervalMs(limits)
