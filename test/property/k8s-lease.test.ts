import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { renewEveryMs, requestDeadlineMs } from '../../src/adapters/k8s/lease/limits.js'
import { microTimeOf } from '../../src/adapters/k8s/objects/micro-time.js'
import type { SeenLease } from '../../src/adapters/k8s/lease/record.js'
import {
  type Contender,
  isHeldAt,
  type LeaseCommand,
  type LeaseEvent,
  newContender,
  step,
} from '../../src/adapters/k8s/lease/state.js'

/** What becomes of a request: how long it and its answer are under way, and whether either is lost. */
interface Fate {
  readonly thereMs: number
  readonly backMs: number
  readonly isLost: 'No' | 'Request' | 'Answer'
}

const fates: fc.Arbitrary<ReadonlyArray<Fate>> = fc.array(
  fc.record({
    thereMs: fc.oneof(fc.nat(50), fc.nat(20_000)),
    backMs: fc.oneof(fc.nat(50), fc.nat(5_000)),
    isLost: fc.constantFrom('No', 'No', 'No', 'Request', 'Answer'),
  }),
  { maxLength: 60 },
)

interface Player {
  /** How far its clock is off. */
  readonly offsetMs: number
  readonly crashesAtMs: number
  /** When none of its requests reaches the server, and for how long. */
  readonly cutAtMs: number
  readonly cutForMs: number
  contender: Contender
}

const players: fc.Arbitrary<ReadonlyArray<Omit<Player, 'contender'>>> = fc.array(
  fc.record({
    offsetMs: fc.integer({ min: -1e9, max: 1e9 }),
    crashesAtMs: fc.oneof(
      { weight: 3, arbitrary: fc.constant(Infinity) },
      { weight: 1, arbitrary: fc.nat(120_000) },
    ),
    cutAtMs: fc.nat(70_000),
    cutForMs: fc.nat(30_000),
  }),
  { minLength: 2, maxLength: 3 },
)

/** After this all goes well. */
const troubleMs = 100_000
const endMs = troubleMs + 60_000
const good: Fate = { thereMs: 1, backMs: 1, isLost: 'No' }
const maxHappenings = 5_000

interface World {
  readonly at: (atMs: number, act: () => void) => void
  readonly nowMs: () => number
  readonly run: (look: () => void) => void
}

const world = (): World => {
  const agenda: Array<{ readonly atMs: number; readonly act: () => void }> = []
  let nowMs = 0
  return {
    nowMs: () => nowMs,
    at: (atMs, act) => {
      agenda.push({ atMs, act })
      agenda.sort((a, b) => a.atMs - b.atMs)
    },
    run: (look) => {
      for (let i = 0; i < maxHappenings; i += 1) {
        const next = agenda.shift()
        if (next === undefined || next.atMs > endMs) return
        nowMs = next.atMs
        next.act()
        look()
      }
      throw new Error('too much happens')
    },
  }
}

/** A server with one lease, which checks the state that a write is to replace. */
const serverOf = () => {
  let lease: SeenLease | undefined
  let version = 0
  return (command: LeaseCommand): SeenLease | 'Conflict' | undefined => {
    if (command._tag !== 'Write') return lease
    if (command.version !== lease?.version) return 'Conflict'
    version += 1
    lease = { version: String(version), record: { ...command.record, knowsAll: false } }
    return lease
  }
}

const play = (
  given: ReadonlyArray<Omit<Player, 'contender'>>,
  script: ReadonlyArray<Fate>,
  look: (holders: ReadonlyArray<Player>, nowMs: number) => void,
): void => {
  const { at, nowMs, run } = world()
  const server = serverOf()
  const rest = script.values()
  const fateOf = ({ cutAtMs, cutForMs }: Player): Fate => {
    if (nowMs() > troubleMs) return good
    if (nowMs() >= cutAtMs && nowMs() < cutAtMs + cutForMs) return { ...good, isLost: 'Request' }
    return rest.next().value ?? good
  }
  const all = given.map((each, i): Player => ({
    ...each,
    contender: newContender(`cp-${i}`),
  }))
  const isAlive = ({ crashesAtMs }: Player): boolean => nowMs() < crashesAtMs
  const start = (player: Player): void => {
    const local = (): number => nowMs() + player.offsetMs
    const take = (event: LeaseEvent): void => {
      const [contender, command] = step(player.contender, event)
      player.contender = contender
      if (command._tag === 'Rest') at(nowMs() + renewEveryMs, due)
      else send(command)
    }
    const due = (): void => {
      if (isAlive(player)) take({ _tag: 'Due', nowMs: local() })
    }
    const send = (command: LeaseCommand): void => {
      const { thereMs, backMs, isLost } = fateOf(player)
      const sentAtMs = local()
      let isAnswered = false
      const answer = (event: () => LeaseEvent): void => {
        if (isAnswered || !isAlive(player)) return
        isAnswered = true
        take(event())
      }
      const late = { _tag: 'Failed', message: 'late', isDenied: false } as const
      at(nowMs() + requestDeadlineMs, () => answer(() => late))
      if (isLost === 'Request') return
      at(nowMs() + thereMs, () => {
        const said = server(command)
        if (isLost === 'Answer') return
        at(nowMs() + backMs, () =>
          answer(() => {
            if (said === 'Conflict') return { _tag: 'Conflicted' }
            if (command._tag !== 'Write' || said === undefined)
              return { _tag: 'Read', seen: said, nowMs: local() }
            return { _tag: 'Written', seen: said, sentAtMs, nowMs: local() }
          }),
        )
      })
    }
    at(0, due)
  }
  all.forEach(start)
  // Time passes between the happenings, too.
  for (let ms = 0; ms <= endMs; ms += 1_000) at(ms, () => undefined)
  run(() => {
    const holders = all.filter(
      (each) => isAlive(each) && isHeldAt(each.contender, nowMs() + each.offsetMs),
    )
    look(holders, nowMs())
  })
}

describe('a lease', () => {
  test.prop([players, fates], { numRuns: 400 })(
    'has one holder at a time, whatever is late or lost, and however wrong their clocks are',
    (given, script) => {
      play(given, script, (holders) => expect(holders.length).toBeLessThanOrEqual(1))
    },
  )

  test.prop([players, fates])(
    'has one once all goes well, if anybody is alive',
    (given, script) => {
      const isAnybodyAlive = given.some(({ crashesAtMs }) => crashesAtMs === Infinity)
      let last: ReadonlyArray<Player> = []
      play(given, script, (holders) => {
        last = holders
      })
      expect(last.length).toBe(isAnybodyAlive ? 1 : 0)
    },
  )
})

test.prop([fc.double({ min: -1e15, max: 1e15, noNaN: false })])(
  'a MicroTime has six digits, and is the time that it was made of where there is one',
  (ms) => {
    const text = microTimeOf(ms)
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    if (Math.abs(ms) < 6e13) expect(Math.abs(Date.parse(text) - ms)).toBeLessThanOrEqual(1)
  },
)
