import fc from 'fast-check'
import { orderedMapOf } from '../../src/core/ordered-map.js'
import { expect, test } from 'vitest'
import {
  lagGraceMs,
  nextProgrammedTimer,
  nothingProgrammed,
  type Observation,
  type Programmed,
  type ProgrammedState,
  stepProgrammed,
} from '../../src/core/programmed.js'
import { aLedger, worldOf } from '../support/ledger-nodes.js'
import {
  commands,
  connectedIn,
  emptyWorld,
  formsIn,
  isBehind,
  isClosed,
  type ModelWorld,
  nodesIn,
  stepWorld,
} from '../support/programmed-world.js'

const isTrue = (statement: Programmed | undefined): boolean => statement?._tag === 'Programmed'

/** What may be said of a route after this was said of it before. */
const check = (
  world: ModelWorld,
  uid: string,
  before: Programmed | undefined,
  after: Programmed,
): void => {
  const connected = connectedIn(world)
  const generation = world.routes.get(uid)
  const isRefused = connected.some((envoy) => envoy.refuses.has(uid) || isClosed(envoy))
  const isLate = connected.some(
    ({ since }) => world.nowMs - (since.get(uid) ?? Infinity) >= lagGraceMs,
  )
  const counting = connected.filter(({ isSynced }) => isSynced)
  const areDone = counting.every((envoy) => !isBehind(world, envoy, uid))
  if (counting.length > 0 && areDone && !isRefused)
    expect(after).toEqual({ _tag: 'Programmed', generation })
  expect(after._tag === 'NoEnvoy').toBe(world.envoys.size === 0)
  expect(after._tag === 'Refused' || !isRefused).toBe(true)
  if (isTrue(before) && !isTrue(after)) {
    expect(isRefused || isLate).toBe(true)
    expect(after._tag).toBe(isRefused ? 'Refused' : 'Lagging')
  }
  if (isTrue(before) && isLate) expect(isTrue(after)).toBe(false)
  if (isTrue(after) && (!isTrue(before) || after.generation !== before?.generation)) {
    expect(counting.length).toBeGreaterThan(0)
    expect(areDone).toBe(true)
  }
}

/** Looks at a world; and once more, and at the time that was asked for. */
const look = (state: ProgrammedState, world: ModelWorld, isSame: boolean): ProgrammedState => {
  const { snapshot, verdicts } =
    isSame && state.snapshot !== undefined
      ? { snapshot: state.snapshot, verdicts: state.verdicts }
      : worldOf(formsIn(world))
  const ledger = aLedger(snapshot, nodesIn(world))
  const seen: Observation = { ledger, snapshot, verdicts, nowMs: world.nowMs }
  const [next, statements] = stepProgrammed(state, seen)
  const copies = orderedMapOf([...verdicts].map(([uid, each]) => [uid, { ...each }]))
  const [, ofAll] = stepProgrammed(state, { ...seen, verdicts: copies })
  expect([...ofAll]).toEqual([...statements])
  expect(stepProgrammed(next, seen)[1]).toBe(statements)
  const due = nextProgrammedTimer(next)
  const quietUntil = due === undefined ? world.nowMs + 100 * lagGraceMs : due - 1
  expect(quietUntil).toBeGreaterThanOrEqual(world.nowMs)
  expect(stepProgrammed(next, { ...seen, nowMs: quietUntil })[1]).toBe(statements)
  if (due !== undefined)
    expect(stepProgrammed(next, { ...seen, nowMs: due })[1]).not.toBe(statements)
  return next
}

test('no Envoy that comes, goes, or is late within its grace takes back that a route is programmed; what all have accepted is', () => {
  const seen = { Programmed: 0, Pending: 0, Lagging: 0, Refused: 0, NoEnvoy: 0, Closed: 0 }
  const holds = fc.property(commands, (all) => {
    let world = emptyWorld
    let state = nothingProgrammed
    for (const each of all) {
      const before = state.statements
      const routes = world.routes
      world = stepWorld(world, each)
      state = look(state, world, routes === world.routes)
      expect(new Set(state.statements.keys())).toEqual(new Set(world.routes.keys()))
      for (const [uid, after] of state.statements) {
        const previous = before.get(uid)
        check(world, uid, previous, after)
        if (previous?._tag === after._tag) continue
        seen[after._tag] += 1
        if (after._tag === 'Refused' && after.listener !== undefined) seen.Closed += 1
      }
    }
  })
  fc.assert(holds, { numRuns: 250 })
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(5)
})
