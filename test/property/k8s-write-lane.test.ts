import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import {
  emptyLane,
  type Lane,
  type LaneEffect,
  type LaneLimits,
  step,
  wakeAtMs,
} from '../../src/adapters/k8s/write/lane.js'

/** Small figures, so that lanes are often full. */
const limits: fc.Arbitrary<LaneLimits> = fc.record({
  perSecond: fc.constantFrom(1, 3, 10, 1_000),
  burst: fc.integer({ min: 1, max: 4 }),
})

const maxWaiting = 5

/** What happens, and how long after what was before. */
type Move =
  | { readonly afterMs: number; readonly do: 'Ask'; readonly patienceMs: number }
  | { readonly afterMs: number; readonly do: 'Pause'; readonly forMs: number }

const afterMs = fc.oneof(fc.constant(0), fc.nat(400), fc.nat(4_000))

const moves: fc.Arbitrary<ReadonlyArray<Move>> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        afterMs,
        do: fc.constant('Ask' as const),
        patienceMs: fc.constantFrom(1, 500, 3_000),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ afterMs, do: fc.constant('Pause' as const), forMs: fc.nat(2_000) }),
    },
  ),
  { maxLength: 40 },
)

type Happening = LaneEffect & { readonly atMs: number }

interface Played {
  readonly happenings: ReadonlyArray<Happening>
  /** When which write asked. */
  readonly asked: ReadonlyMap<number, { readonly atMs: number; readonly untilMs: number }>
  readonly pauses: ReadonlyArray<{ readonly fromMs: number; readonly toMs: number }>
}

/** How many turns a lane may need until nobody waits: each brings at least one of them to an end. */
const maxTicks = 200

/** Plays the moves, waking the lane when it asks for it, until nobody waits; `look` is shown each of its states. */
const play = (
  given: LaneLimits,
  script: ReadonlyArray<Move>,
  look: (lane: Lane, nowMs: number) => void = () => undefined,
): Played => {
  // Somewhere in the time since 1970, where fractions of a millisecond are coarse.
  let nowMs = 1_790_000_000_000
  let lane = emptyLane
  let id = 0
  const happenings: Array<Happening> = []
  const asked = new Map<number, { readonly atMs: number; readonly untilMs: number }>()
  const pauses: Array<{ readonly fromMs: number; readonly toMs: number }> = []
  const take = (event: Parameters<typeof step>[3]): void => {
    const [next, effects] = step(given, maxWaiting, lane, event, nowMs)
    lane = next
    for (const effect of effects) happenings.push({ ...effect, atMs: nowMs })
    look(lane, nowMs)
  }
  const passUntil = (untilMs: number): void => {
    for (let ticks = 0; ; ticks += 1) {
      const atMs = wakeAtMs(given, lane)
      if (atMs === undefined || Math.ceil(atMs) > untilMs) break
      if (ticks === maxTicks) throw new Error('the lane does not come to rest')
      nowMs = Math.max(nowMs, Math.ceil(atMs))
      take({ _tag: 'Ticked' })
    }
    if (untilMs !== Infinity) nowMs = untilMs
  }
  for (const move of script) {
    passUntil(nowMs + move.afterMs)
    if (move.do === 'Pause') {
      pauses.push({ fromMs: nowMs, toMs: nowMs + move.forMs })
      take({ _tag: 'Paused', forMs: move.forMs })
    } else {
      id += 1
      const untilMs = nowMs + move.patienceMs
      asked.set(id, { atMs: nowMs, untilMs })
      take({ _tag: 'Asked', waiter: { id, untilMs } })
    }
  }
  passUntil(Infinity)
  return { happenings, asked, pauses }
}

const begunIn = ({ happenings }: Played): ReadonlyArray<Happening> =>
  happenings.filter(({ _tag }) => _tag === 'Begin')

/** Rounding, of times since 1970 in floating point, in milliseconds. */
const tinyMs = 0.01

describe('a lane of writes', () => {
  test.prop([limits, moves])(
    'in no window more begin than its length and the burst allow',
    (given, script) => {
      const times = begunIn(play(given, script)).map(({ atMs }) => atMs)
      times.forEach((fromMs, first) =>
        times.slice(first).forEach((toMs, more) => {
          const allowed = given.burst + ((toMs - fromMs + tinyMs) * given.perSecond) / 1_000
          expect(more + 1).toBeLessThanOrEqual(allowed)
        }),
      )
    },
  )

  test.prop([limits, moves])('each write begins or is turned away, once', (given, script) => {
    const { happenings, asked } = play(given, script)
    const ids = happenings.map(({ id }) => id).sort((a, b) => a - b)
    expect(ids).toEqual([...asked.keys()])
  })

  test.prop([limits, moves])('writes begin in the order in which they asked', (given, script) => {
    const ids = begunIn(play(given, script)).map(({ id }) => id)
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
  })

  test.prop([limits, moves])('none begins in a pause', (given, script) => {
    const played = play(given, script)
    for (const { atMs } of begunIn(played))
      for (const { fromMs, toMs } of played.pauses)
        expect(atMs <= fromMs || atMs >= toMs - tinyMs).toBe(true)
  })

  test.prop([limits, moves])(
    'none is turned away before its time, but where too many wait, and none later',
    (given, script) => {
      const sizes: Array<number> = []
      const { happenings, asked } = play(given, script, ({ waiting }) => sizes.push(waiting.length))
      expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(maxWaiting)
      const early = happenings.filter(
        ({ _tag, id, atMs }) => _tag === 'TurnAway' && atMs < (asked.get(id)?.untilMs ?? 0),
      )
      expect(early.length === 0 || sizes.includes(maxWaiting)).toBe(true)
      for (const { _tag, id, atMs } of happenings)
        if (_tag === 'TurnAway') expect(atMs).toBeLessThan((asked.get(id)?.untilMs ?? 0) + 1)
      for (const { id, atMs } of early) expect(atMs).toBe(asked.get(id)?.atMs)
    },
  )

  test.prop([limits, moves])(
    'none waits that may begin, and none beyond its time',
    (given, script) => {
      play(given, script, (lane, nowMs) => {
        for (const { untilMs } of lane.waiting) expect(untilMs).toBeGreaterThan(nowMs)
        const wakeMs = wakeAtMs(given, lane)
        if (wakeMs !== undefined) expect(wakeMs).toBeGreaterThan(nowMs)
      })
    },
  )

  test.prop([limits, fc.integer({ min: 1, max: 30 })])(
    'those who ask all at once begin at the pace of the lane, and no more slowly',
    (given, count) => {
      const patienceMs = 100_000
      const asks = Array.from({ length: Math.min(count, given.burst + maxWaiting) }, () => ({
        ...{ afterMs: 0, do: 'Ask' as const, patienceMs },
      }))
      const begun = begunIn(play(given, asks))
      expect(begun).toHaveLength(asks.length)
      const startMs = begun[0]?.atMs ?? 0
      begun.forEach(({ atMs }, i) => {
        const dueMs = (Math.max(0, i + 1 - given.burst) * 1_000) / given.perSecond
        // The lane is woken in whole milliseconds; without a burst each loses a part of one.
        expect(atMs - startMs).toBeGreaterThan(dueMs - tinyMs)
        expect(atMs - startMs).toBeLessThan(dueMs + i + 1 + tinyMs)
      })
    },
  )
})
