import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  type Course,
  type DeletionState,
  type Evidence,
  type NotYet,
  patienceMs,
  settleMs,
  type Sighting,
  stepDeletion,
} from '../../src/core/deletion.js'

const nowMs = 2 * patienceMs
const sinceMs = 500
const returns = 3

const notYet: ReadonlyArray<NotYet> = [
  { _tag: 'Owed', nodes: ['a'], nodeCount: 1 },
  { _tag: 'Owed', nodes: ['a', 'b'], nodeCount: 2 },
  { _tag: 'Starting', untilMs: nowMs + 1 },
  { _tag: 'RosterUnsaved', message: 'the disk is full' },
  { _tag: 'NotHolding', message: 'the Lease is not held' },
]

const evidences: ReadonlyArray<Evidence> = [
  { _tag: 'Clear', returns },
  { _tag: 'Clear', returns: returns + 1 },
  { _tag: 'Clear', returns: 0 },
  ...notYet,
]

const failures = [undefined, 'no right to write']

type Row = DeletionState['_tag'] | 'none'

const courses: ReadonlyArray<Course> = [
  { sinceMs },
  { sinceMs, toldMs: nowMs - 1 },
  { sinceMs, forgotten: { nodes: ['c'], nodeCount: 1 } },
]

/** Some states of each kind: all that the next step could depend on. */
const states: Readonly<Record<Row, ReadonlyArray<DeletionState | undefined>>> = {
  none: [undefined],
  Guarding: failures.map((failure) => ({ _tag: 'Guarding', failure })),
  Serving: failures.flatMap((failure) =>
    [true, false].map<DeletionState>((isGuarded) => ({ _tag: 'Serving', isGuarded, failure })),
  ),
  Waiting: notYet.flatMap((waitsFor) =>
    courses.map<DeletionState>((course) => ({ _tag: 'Waiting', ...course, waitsFor })),
  ),
  Settling: [0, 1, settleMs - 1, settleMs, settleMs + 1, 10 * settleMs].map((ago) => ({
    _tag: 'Settling',
    sinceMs,
    clearSinceMs: nowMs - ago,
    returns,
  })),
  Releasing: failures.map((failure) => ({ _tag: 'Releasing', sinceMs, returns, failure })),
  Released: [undefined, ...notYet].map((waitedFor) => ({
    _tag: 'Released',
    sinceMs,
    ...(waitedFor !== undefined && { waitedFor }),
  })),
}

interface Column {
  readonly sighting: Sighting
  readonly isFor: (evidence: Evidence) => boolean
}

const whatever = (): boolean => true
const isClear = ({ _tag }: Evidence): boolean => _tag === 'Clear'

const columns: Readonly<Record<string, Column>> = {
  Plain: { sighting: { _tag: 'Plain' }, isFor: whatever },
  Guarded: { sighting: { _tag: 'Live', isGuarded: true }, isFor: whatever },
  Unguarded: { sighting: { _tag: 'Live', isGuarded: false }, isFor: whatever },
  'Terminating, clear': { sighting: { _tag: 'Terminating' }, isFor: isClear },
  'Terminating, owed': {
    sighting: { _tag: 'Terminating' },
    isFor: (evidence) => !isClear(evidence),
  },
  Freed: { sighting: { _tag: 'Freed' }, isFor: whatever },
  Absent: { sighting: { _tag: 'Absent' }, isFor: whatever },
}

/** The table in the doc comment of `stepDeletion`, as lists of cells. */
const table = (): ReadonlyArray<ReadonlyArray<string>> => {
  const source = readFileSync('src/core/deletion.ts', 'utf8')
  const [doc = ''] = source
    .slice(0, source.indexOf('export const stepDeletion'))
    .split('/**')
    .slice(-1)
  return doc
    .split('\n')
    .flatMap((line) => /^ \* \|(.*)\|$/.exec(line)?.[1] ?? [])
    .map((line) => line.split('|').map((cell) => cell.trim()))
}

const [header = [], rule = [], ...rows] = table()

interface Outcome {
  readonly state: Row
  readonly facts: ReadonlyArray<string>
}

/** What a cell of the table says, with what its footnotes say, of one step. */
const outcomeOf = (
  cell: string,
  row: Row,
  before: DeletionState | undefined,
  evidence: Evidence,
): Outcome => {
  const [state = '', ...marks] = cell.split(', ')
  if (state === 'as it was') return { state: row, facts: [] }
  const isProvenLong = before?._tag !== 'Settling' || nowMs - before.clearSinceMs >= settleMs
  const isNewcomer =
    evidence._tag === 'Clear' &&
    (before?._tag === 'Settling' || before?._tag === 'Releasing') &&
    before.returns !== evidence.returns
  if (marks.includes('‡') && (isNewcomer || !isProvenLong)) return { state: 'Settling', facts: [] }
  const broken = marks.includes('†') && !isClear(evidence) ? ['GlassBroken'] : []
  // All of these have waited for long, and are to be told of unless that was done.
  const wasTold = before !== undefined && 'toldMs' in before
  const isOverdue = marks.includes('¶') && evidence._tag !== 'Starting' && !wasTold
  const overdue = isOverdue ? ['Overdue'] : []
  const withdrawn = marks.includes('∗') ? ['Withdrawn'] : []
  const proven = marks.filter((mark) => mark === 'Proven')
  const calledOff = marks.includes('§') ? ['CalledOff'] : []
  return {
    state: rowOf(state),
    facts: [...withdrawn, ...proven, ...overdue, ...calledOff, ...broken],
  }
}

const rowNames = Object.keys(states) as ReadonlyArray<Row>

const rowOf = (text: string): Row => {
  const found = rowNames.find((name) => name === text)
  if (found === undefined) throw new Error(`the table names a state that there is not: ${text}`)
  return found
}

describe('the table in the doc comment', () => {
  test('has a row for each state, and a column for each sighting', () => {
    expect(header).toEqual(['state', ...Object.keys(columns)])
    expect(rule.every((cell) => /^-+$/.test(cell))).toBe(true)
    expect(rows.map(([name]) => name)).toEqual(rowNames)
    expect(rows.map(({ length }) => length)).toEqual(rows.map(() => header.length))
  })

  const cells = rows.flatMap(([name = '', ...texts]) =>
    texts.map((cell, i) => ({ name, cell, column: header[i + 1] ?? '' })),
  )

  test.each(cells)('$name, seen $column: $cell', ({ name, cell, column }) => {
    const seen = columns[column]
    if (seen === undefined) throw new Error(`no such column: ${column}`)
    const row = rowOf(name)
    let steps = 0
    for (const before of states[row])
      for (const evidence of evidences.filter(seen.isFor)) {
        const [after, facts] = stepDeletion(before, seen.sighting, () => evidence, nowMs)
        const got = { state: after?._tag ?? 'none', facts: facts.map(({ _tag }) => _tag) }
        expect(got).toEqual(outcomeOf(cell, row, before, evidence))
        if (cell === 'as it was') expect(after).toBe(before)
        steps += 1
      }
    expect(steps).toBeGreaterThanOrEqual(2)
  })
})
