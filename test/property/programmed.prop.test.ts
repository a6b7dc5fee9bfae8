import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  lagGraceMs,
  nextProgrammedTimer,
  nothingProgrammed,
  type Programmed,
  type ProgrammedState,
  stepProgrammed,
} from '../../src/core/programmed.js'
import { aLedger, type Forms, worldOf } from '../support/ledger-nodes.js'

const names = ['a', 'b', 'c'] as const
const ids = ['x', 'y', 'z'] as const

type Command =
  /** Adds a route, or changes it. */
  | { readonly _tag: 'Change'; readonly name: string }
  | { readonly _tag: 'Remove'; readonly name: string }
  | { readonly _tag: 'Join'; readonly id: string; readonly remembers: boolean }
  | { readonly _tag: 'Lose'; readonly id: string }
  | { readonly _tag: 'Accept'; readonly id: string; readonly names: ReadonlyArray<string> }
  | { readonly _tag: 'Refuse'; readonly id: string; readonly name: string }
  | { readonly _tag: 'Pass'; readonly ms: number }

const name = fc.constantFrom(...names)
const id = fc.constantFrom(...ids)
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant('Change' as const), name }) },
  fc.record({ _tag: fc.constant('Remove' as const), name }),
  fc.record({ _tag: fc.constant('Join' as const), id, remembers: fc.boolean() }),
  fc.record({ _tag: fc.constant('Lose' as const), id }),
  {
    weight: 5,
    arbitrary: fc.record({
      _tag: fc.constant('Accept' as const),
      id,
      names: fc.subarray([...names]),
    }),
  },
  fc.record({ _tag: fc.constant('Refuse' as const), id, name }),
  {
    weight: 3,
    arbitrary: fc.record({
      _tag: fc.constant('Pass' as const),
      ms: fc.constantFrom(1, lagGraceMs / 2, lagGraceMs - 1, lagGraceMs),
    }),
  },
)

/** An Envoy as the test makes it, and what the laws ask of it: kept by hand, in the plainest way. */
interface Envoy {
  stream: string | undefined
  holds: Record<string, number> | undefined
  refuses: Record<string, string>
  /** What it had not accepted when it was seen first on this stream, and has not since. */
  owes: Set<string> | undefined
  isSynced: boolean
  /** Since when a synced one has not accepted the present generation. */
  readonly since: Map<string, number>
}

class World {
  nowMs = 0
  streams = 0
  generations: Record<string, number> = {}
  forms: Record<string, number> = {}
  readonly envoys = new Map<string, Envoy>()

  run(of: Command): void {
    switch (of._tag) {
      case 'Change': {
        const generation = (this.generations[of.name] ?? 0) + 1
        this.generations[of.name] = generation
        this.forms[of.name] = generation
        return this.mend(of.name)
      }
      case 'Remove':
        delete this.forms[of.name]
        return this.mend(of.name)
      case 'Join': {
        const before = this.envoys.get(of.id)
        const holds = of.remembers ? before?.holds : undefined
        this.envoys.set(of.id, {
          stream: String((this.streams += 1)),
          holds,
          refuses: {},
          owes: undefined,
          isSynced: false,
          since: new Map(),
        })
        return
      }
      case 'Lose': {
        const envoy = this.envoys.get(of.id)
        if (envoy !== undefined) Object.assign(envoy, { stream: undefined, isSynced: false })
        return
      }
      case 'Accept':
        return this.accept(of.id, of.names)
      case 'Refuse': {
        const envoy = this.envoys.get(of.id)
        if (envoy?.stream === undefined || !this.isBehind(envoy, of.name)) return
        envoy.refuses[of.name] = `${of.id} does not like ${of.name}`
        return
      }
      case 'Pass':
        this.nowMs += of.ms
    }
  }

  /** A route that changes is refused no more. */
  mend(changed: string): void {
    for (const envoy of this.envoys.values()) {
      delete envoy.refuses[changed]
      envoy.since.delete(changed)
    }
  }

  accept(who: string, what: ReadonlyArray<string>): void {
    const envoy = this.envoys.get(who)
    if (envoy?.stream === undefined) return
    const holds = Object.entries(envoy.holds ?? {}).filter(([each]) => each in this.forms)
    const fresh = what.flatMap((each) => {
      const form = this.forms[each]
      return form === undefined || each in envoy.refuses ? [] : [[each, form] as const]
    })
    envoy.holds = Object.fromEntries([...holds, ...fresh])
  }

  isBehind(envoy: Envoy, of: string): boolean {
    return of in this.forms && (envoy.holds?.[of] ?? 0) !== this.forms[of]
  }

  connected(): ReadonlyArray<Envoy> {
    return [...this.envoys.values()].filter(({ stream }) => stream !== undefined)
  }

  /** Brings the notes up to date with what can be seen now. */
  note(): void {
    for (const envoy of this.connected()) {
      const behind = names.filter((of) => this.isBehind(envoy, of) && !(of in envoy.refuses))
      envoy.owes = new Set(behind.filter((of) => envoy.owes === undefined || envoy.owes.has(of)))
      if (envoy.owes.size === 0 && envoy.holds !== undefined) envoy.isSynced = true
      for (const of of names)
        if (!envoy.isSynced || !behind.includes(of)) envoy.since.delete(of)
        else if (!envoy.since.has(of)) envoy.since.set(of, this.nowMs)
    }
  }
}

const isTrue = (statement: Programmed | undefined): boolean => statement?._tag === 'Programmed'

const checkFlips = (world: World, of: string, before: Programmed, after: Programmed): void => {
  if (!isTrue(before) || isTrue(after)) return
  const connected = world.connected()
  const isRefused = connected.some(({ refuses }) => of in refuses)
  const isLate = connected.some(
    ({ since }) => world.nowMs - (since.get(of) ?? Infinity) >= lagGraceMs,
  )
  expect(after._tag).toBe(isRefused ? 'Refused' : 'Lagging')
  expect(isRefused || isLate).toBe(true)
}

const checkStatement = (
  world: World,
  of: string,
  before: Programmed | undefined,
  after: Programmed,
) => {
  const connected = world.connected()
  const isHeld = connected.every((envoy) => !world.isBehind(envoy, of))
  const isSynced = connected.every(
    (envoy) => envoy.holds !== undefined && names.every((each) => !world.isBehind(envoy, each)),
  )
  const generation = world.forms[of]
  if (connected.length > 0 && isSynced && connected.every(({ refuses }) => !(of in refuses)))
    expect(after).toEqual({ _tag: 'Programmed', generation })
  const isNews = isTrue(after) && after.generation !== before?.generation
  if (isNews || (isTrue(after) && !isTrue(before))) {
    const counting = connected.filter((envoy) => envoy.isSynced)
    expect(counting.length).toBeGreaterThan(0)
    expect(counting.every((envoy) => !world.isBehind(envoy, of))).toBe(true)
  }
  if (connected.some(({ refuses }) => of in refuses)) expect(after._tag).toBe('Refused')
  if (before === undefined && !isHeld && connected.length > 0)
    expect(isTrue(after) && connected.every((envoy) => envoy.isSynced)).toBe(false)
}

/** Looks at the world in its present state; the same again, and with everything reckoned anew. */
const look = (state: ProgrammedState, world: World): ProgrammedState => {
  const forms: Forms = { ...world.forms }
  const isSame =
    JSON.stringify([...state.verdicts.values()].map((of) => [of.uid, of.generation])) ===
    JSON.stringify(Object.entries(forms).sort(([a], [b]) => (a < b ? -1 : 1)))
  const translated = worldOf(forms)
  const { snapshot, verdicts } =
    isSame && state.snapshot !== undefined
      ? { snapshot: state.snapshot, verdicts: state.verdicts }
      : translated
  const nodes = [...world.envoys].map(([of, { stream, holds, refuses }]) => ({
    id: of,
    stream,
    holds,
    refuses,
  }))
  const seen = { ledger: aLedger(snapshot, nodes), snapshot, verdicts, nowMs: world.nowMs }
  const [next, statements] = stepProgrammed(state, seen)
  const [, anew] = stepProgrammed(state, { ...seen, verdicts: new Map(verdicts) })
  expect(anew).toEqual(statements)
  expect(stepProgrammed(next, seen)[1]).toBe(statements)
  const due = nextProgrammedTimer(next)
  if (due !== undefined) {
    expect(due).toBeGreaterThan(world.nowMs)
    expect(stepProgrammed(next, { ...seen, nowMs: due - 1 })[1]).toBe(statements)
    expect(stepProgrammed(next, { ...seen, nowMs: due })[1]).not.toBe(statements)
  } else expect(stepProgrammed(next, { ...seen, nowMs: world.nowMs + 1e9 })[1]).toBe(statements)
  return next
}

test('no join, no loss and no lag within its grace takes back that a route is programmed, and what all have accepted is', () => {
  let flips = 0
  let programmed = 0
  const holds = fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
    const world = new World()
    let state = nothingProgrammed
    for (const each of commands) {
      world.run(each)
      world.note()
      const before = state.statements
      state = look(state, world)
      expect([...state.statements.keys()].sort()).toEqual(Object.keys(world.forms).sort())
      for (const [uid, after] of state.statements) {
        const previous = before.get(uid)
        checkStatement(world, uid, previous, after)
        if (previous !== undefined) checkFlips(world, uid, previous, after)
        if (isTrue(previous) && after._tag === 'Lagging') flips += 1
        if (!isTrue(previous) && isTrue(after)) programmed += 1
      }
    }
  })
  fc.assert(holds, { numRuns: 1_000 })
  expect(flips).toBeGreaterThan(20)
  expect(programmed).toBeGreaterThan(200)
})
