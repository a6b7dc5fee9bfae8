import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  gateOf,
  nextGateTimer,
  openStartGate,
  type Standing,
  type StartEvent,
  stepStartGate,
} from '../../src/core/start-gate.js'
import { anEntry, aRoster } from '../support/roster.js'

const waitMs = 100

/** So few that all of them come now and then. */
const nodeIds = fc.constantFrom('a', 'b')
const rarely = fc.nat(5).map((n) => n === 0)
const rosters = fc
  .uniqueArray(fc.record({ id: nodeIds, isShared: rarely }), { selector: ({ id }) => id })
  .map((nodes) => aRoster(...nodes.map(({ id, isShared }) => anEntry(id, { isShared }))))

type Timed = readonly [afterMs: number, event: StartEvent]

const events: fc.Arbitrary<StartEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<StartEvent>({ _tag: 'SourcesRead' }) },
  { weight: 1, arbitrary: fc.constant<StartEvent>({ _tag: 'RosterFailed', message: 'broken' }) },
  { weight: 4, arbitrary: rosters.map<StartEvent>((roster) => ({ _tag: 'RosterRead', roster })) },
  {
    weight: 6,
    arbitrary: fc
      .record({ id: nodeIds, isShared: rarely })
      .map<StartEvent>((node) => ({ _tag: 'NodeHeard', ...node })),
  },
  { weight: 2, arbitrary: nodeIds.map<StartEvent>((id) => ({ _tag: 'NodeForgotten', id })) },
)

const histories = fc.array(
  fc.tuple(fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(60)), events),
  { maxLength: 25, size: 'max' },
)

const standings: fc.Arbitrary<Standing> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Standing>({ _tag: 'Alone' }) },
  {
    weight: 4,
    arbitrary: fc.nat(600).map<Standing>((sinceMs) => ({ _tag: 'Successor', sinceMs })),
  },
  { weight: 1, arbitrary: fc.constant<Standing>({ _tag: 'Unknown', message: 'who knows' }) },
)

/** The rule, read from all that has happened; nothing is kept up. */
const mayRelease = (
  history: ReadonlyArray<readonly [atMs: number, event: StartEvent]>,
  standing: Standing,
  nowMs: number,
): boolean => {
  if (standing._tag === 'Unknown') return false
  const read = history.findIndex(([, { _tag }]) => _tag === 'RosterRead')
  const [atMs, begun] = history[read] ?? []
  if (atMs === undefined || begun?._tag !== 'RosterRead') return false
  if (!history.some(([, { _tag }]) => _tag === 'SourcesRead')) return false
  const after = history.slice(read + 1).map(([, event]) => event)
  const { roster } = begun
  const isComplete = (until: number): boolean => {
    const seen = after.slice(0, until)
    const known = [...roster.values()].filter(
      ({ id }) => !seen.some((each) => each._tag === 'NodeForgotten' && each.id === id),
    )
    return (
      known.length > 0 &&
      known.every(({ id, isShared }) => {
        const heard = seen.filter((each) => each._tag === 'NodeHeard' && each.id === id)
        const alone = heard.every((each) => each._tag === 'NodeHeard' && !each.isShared)
        return heard.length > 0 && alone && !isShared
      })
    )
  }
  if (standing._tag === 'Successor') return nowMs >= Math.max(atMs, standing.sinceMs) + waitMs
  return nowMs >= atMs + waitMs || after.some((_, i) => isComplete(i + 1))
}

test('nothing may be released before the sources and the roster are read and the wait is over or, where nobody else may have served others, every known node has come', () => {
  let opened = { early: 0, late: 0 }
  fc.assert(
    fc.property(histories, standings, (timed: ReadonlyArray<Timed>, standing) => {
      let gate = openStartGate(waitMs)
      let nowMs = 0
      let wasOpen = false
      const history: Array<readonly [number, StartEvent]> = []
      for (const [afterMs, event] of timed) {
        nowMs += afterMs
        gate = stepStartGate(gate, event, nowMs)
        history.push([nowMs, event])
        const isOpen = gateOf(gate, standing, nowMs) === undefined
        expect(isOpen).toBe(mayRelease(history, standing, nowMs))
        if (wasOpen) expect(isOpen).toBe(true)
        wasOpen = isOpen
        if (isOpen && gate.haveAllCome) opened = { ...opened, early: opened.early + 1 }
        if (isOpen && !gate.haveAllCome) opened = { ...opened, late: opened.late + 1 }
        const timer = nextGateTimer(gate, standing, nowMs)
        if (timer === undefined) continue
        expect(gateOf(gate, standing, timer - 1)).toEqual({ _tag: 'Starting', untilMs: timer })
        expect(gateOf(gate, standing, timer)).toBeUndefined()
      }
    }),
    { numRuns: 1_000 },
  )
  expect(opened.early).toBeGreaterThan(100)
  expect(opened.late).toBeGreaterThan(100)
})
