import { fc, test as propertyTest } from '@fast-check/vitest'
import { describe, expect, test } from 'vitest'
import type { Answered, Entry, Outcome } from '../support/churn/history.js'
import { judge, type Law, settleMs } from '../support/churn/judge.js'
import { type Form, planOf } from '../support/churn/plan.js'
import { summaryOf } from '../support/churn/report.js'

const published = (
  atMs: number,
  over: Partial<Extract<Entry, { _tag: 'Published' }>> = {},
): Entry => ({
  _tag: 'Published',
  atMs,
  uid: 'a',
  generation: 1,
  prefix: '/old',
  backends: ['one'],
  ...over,
})
const programmed = (atMs: number, generation = 1, envoy = 'sotw'): Entry => ({
  _tag: 'Programmed',
  atMs,
  envoy,
  uid: 'a',
  generation,
})
const withdrawn = (atMs: number): Entry => ({ _tag: 'Withdrawn', atMs, uid: 'a' })
const gone = (atMs: number): Entry => ({ _tag: 'Gone', atMs, envoy: 'sotw', uid: 'a' })

const status = (code: number): Outcome =>
  code === 200
    ? { _tag: 'Status', status: code, backend: 'one' }
    : { _tag: 'Status', status: code, body: 'why' }

const answered = (sentMs: number, outcome: Outcome, over: Partial<Answered> = {}): Answered => ({
  _tag: 'Answered',
  envoy: 'sotw',
  connection: 1,
  prefix: '/old',
  sentMs,
  doneMs: sentMs + 1,
  delayed: false,
  outcome,
  ...over,
})

const lawsBroken = (...entries: ReadonlyArray<Entry>): ReadonlyArray<Law> =>
  judge(entries).violations.map(({ law }) => law)

/** A route that is programmed at 20 and withdrawn at 1,000, gone at 1,010. */
const life = [published(10), programmed(20), withdrawn(1_000), gone(1_010)]

describe('the judge of a churn', () => {
  test('accepts 404 before a route is programmed, 200 while it is, and 404 after its removal', () => {
    expect(
      lawsBroken(
        ...life,
        answered(5, status(404)),
        answered(15, status(404)),
        answered(20 + settleMs - 1, status(404)),
        answered(20 + settleMs, status(200)),
        answered(998, status(200)),
        answered(1_001, status(200)),
        answered(1_002, status(404)),
        answered(1_010 + settleMs, status(404)),
      ),
    ).toEqual([])
  })

  test.each([
    ['503', status(503)],
    ['404', status(404)],
    ['204', { _tag: 'Status', status: 204 } as const],
    ['a reset', { _tag: 'Failed', reason: 'ECONNRESET' } as const],
  ])('does not accept %s of a route that is programmed', (_, outcome) => {
    expect(lawsBroken(...life, answered(20 + settleMs, outcome))).toEqual(['NotServed'])
    expect(lawsBroken(...life, answered(998, outcome))).toEqual(['NotServed'])
  })

  test('does not accept 503 of a delayed request that was sent before the removal and is answered after it', () => {
    const delayed = { delayed: true, doneMs: 1_399 }
    expect(lawsBroken(...life, answered(999, status(503), delayed))).toEqual(['Broken'])
    expect(lawsBroken(...life, answered(999, status(404), delayed))).toEqual([])
    expect(lawsBroken(...life, answered(999, status(200), delayed))).toEqual([])
    const early = answered(1_000 - settleMs, status(404), { delayed: true, doneMs: 1_300 })
    expect(lawsBroken(...life, early)).toEqual(['NotServed'])
  })

  test('does not accept 503 or a reset before a route is programmed, or of a prefix that nobody has', () => {
    const reset: Outcome = { _tag: 'Failed', reason: 'ECONNRESET' }
    expect(lawsBroken(...life, answered(15, status(503)))).toEqual(['Broken'])
    expect(lawsBroken(...life, answered(15, reset))).toEqual(['Broken'])
    expect(lawsBroken(...life, answered(15, status(503), { prefix: '/other' }))).toEqual(['Broken'])
  })

  test('goes by what the Envoy has ACKed that gave the answer', () => {
    const both = [...life, programmed(500, 1, 'delta')]
    expect(lawsBroken(...both, answered(300, status(404), { envoy: 'delta' }))).toEqual([])
    expect(lawsBroken(...both, answered(700, status(404), { envoy: 'delta' }))).toEqual([
      'NotServed',
    ])
  })

  test('owes 200 through changes that keep the prefix, whether they are programmed or not', () => {
    const changed = [published(10), programmed(20), published(500, { generation: 2 })]
    expect(lawsBroken(...changed, answered(600, status(404)))).toEqual(['NotServed'])
    expect(lawsBroken(...changed, programmed(550, 2), answered(900, status(503)))).toEqual([
      'NotServed',
    ])
  })

  const moved = [
    published(10),
    programmed(20),
    published(500, { generation: 2, prefix: '/new' }),
    programmed(510, 2),
  ]

  test('takes a change of the prefix for the end of the old one, and for the start of the new one', () => {
    const atNew = { prefix: '/new' }
    expect(lawsBroken(...moved, answered(498, status(404)))).toEqual(['NotServed'])
    expect(lawsBroken(...moved, answered(501, status(404)))).toEqual([])
    expect(lawsBroken(...moved, answered(509 + settleMs, status(404), atNew))).toEqual([])
    expect(lawsBroken(...moved, answered(510 + settleMs, status(404), atNew))).toEqual([
      'NotServed',
    ])
  })

  test('does not accept 200 after an Envoy has ACKed that the route, or its prefix, is gone', () => {
    expect(lawsBroken(...life, answered(1_010 + settleMs, status(200)))).toEqual(['StillServed'])
    expect(lawsBroken(...moved, answered(510 + settleMs, status(200)))).toEqual(['StillServed'])
    expect(lawsBroken(...moved, answered(100, status(200), { prefix: '/new' }))).toEqual([
      'StillServed',
    ])
  })

  test('does not accept an answer from a backend that the route does not name yet, or not any more', () => {
    const switched = [
      published(10),
      programmed(20),
      published(500, { generation: 2, backends: ['two'] }),
      programmed(510, 2),
    ]
    const from = (backend: string): Outcome => ({ _tag: 'Status', status: 200, backend })
    expect(lawsBroken(...switched, answered(300, from('two')))).toEqual(['WrongBackend'])
    expect(lawsBroken(...switched, answered(505, from('one')))).toEqual([])
    expect(lawsBroken(...switched, answered(505, from('two')))).toEqual([])
    expect(lawsBroken(...switched, answered(510 + settleMs, from('two')))).toEqual([])
    expect(lawsBroken(...switched, answered(510 + settleMs, from('one')))).toEqual(['WrongBackend'])
  })

  test('does not accept that a prefix comes back on one connection, in whatever order answers are noted', () => {
    const up = (ms: number, over: Partial<Answered> = {}): Entry => answered(ms, status(200), over)
    const down = (ms: number, over: Partial<Answered> = {}): Entry =>
      answered(ms, status(404), over)
    expect(lawsBroken(...life, down(12), up(14), up(1_001), down(1_002), down(1_003))).toEqual([])
    expect(lawsBroken(...life, up(1_001), down(1_002), up(1_003))).toEqual(['CameBack'])
    expect(lawsBroken(...life, up(1_003), down(1_002), up(1_001))).toEqual(['CameBack'])
    expect(lawsBroken(...life, down(12), up(13), down(14), up(15))).toEqual(['CameBack'])
    const other = up(1_003, { connection: 2 })
    expect(lawsBroken(...life, up(1_001), down(1_002), other)).toEqual([])
  })

  test('refuses a history in which two routes have had one prefix', () => {
    expect(() => judge([published(10), published(20, { uid: 'b' })])).toThrow('/old')
  })

  test('counts what each Envoy answered, and sums it up in one line', () => {
    const judgement = judge([
      ...life,
      answered(5, status(404)),
      answered(200, status(503)),
      answered(300, status(200), { delayed: true, doneMs: 701 }),
      answered(300, status(200), { envoy: 'delta' }),
    ])
    expect(judgement.tallies.get('sotw')).toEqual({
      answers: 3,
      delayed: 1,
      owed: 2,
      barred: 1,
      flips: 1,
      kinds: new Map([
        ['404', 1],
        ['503', 1],
        ['200', 1],
      ]),
      programmedForms: 1,
    })
    const summary = summaryOf(7, judgement)
    expect(summary).toContain('seed 7')
    expect(summary).toContain('sotw: 3 answers (1 × 200, 1 × 404, 1 × 503)')
    expect(summary).toContain('BROKEN: 1 × NotServed 503')
    expect(summary).toMatch(/delta: 1 answers \(1 × 200\).*no law broken/)
    expect(summary).not.toContain('\n')
  })
})

const size = { stable: 8, changing: 50, steps: 500 }
const kinds = ['add', 'backend', 'prefix', 'remove', 'timeout', 'weights']

describe('the plan of a churn', () => {
  propertyTest.prop([fc.nat()], { numRuns: 30 })(
    'changes something in each step, in every way, and never uses a prefix twice',
    (seed) => {
      const { stable, initial, steps } = planOf(seed, size)
      const present = new Map(initial.map((form) => [form.slot, form]))
      const owners = new Map([...stable, ...initial].map(({ prefix, uid }) => [prefix, uid]))
      expect([stable.length, initial.length, owners.size]).toEqual([8, 50, 58])
      for (const { slot, kind, before, after } of steps) {
        expect(before).toEqual(present.get(slot))
        if (after === undefined) present.delete(slot)
        else {
          present.set(slot, after)
          if (after.prefix !== before?.prefix) {
            expect(owners.get(after.prefix)).toBeUndefined()
            owners.set(after.prefix, after.uid)
          }
        }
        expect(changedFields(before, after)).toEqual(expectedChange[kind])
      }
      expect([...new Set(steps.map(({ kind }) => kind))].sort()).toEqual(kinds)
      expect(steps).toHaveLength(500)
    },
  )

  test('is the same for the same seed, and another one for another', () => {
    expect(planOf(1, size)).toEqual(planOf(1, size))
    expect(planOf(1, size).steps).not.toEqual(planOf(2, size).steps)
  })
})

const expectedChange = {
  add: 'comes',
  remove: 'goes',
  backend: 'addresses',
  weights: 'weights',
  prefix: 'prefix',
  timeout: 'timeout',
}

const changedFields = (before: Form | undefined, after: Form | undefined): string => {
  if (before === undefined || after === undefined) return before === undefined ? 'comes' : 'goes'
  const addresses = ({ backends }: Form): string => backends.map(({ address }) => address).join()
  const weights = ({ backends }: Form): string => backends.map(({ weight }) => weight).join()
  const changed = [
    before.prefix === after.prefix ? [] : ['prefix'],
    before.requestTimeout === after.requestTimeout ? [] : ['timeout'],
    addresses(before) === addresses(after) ? [] : ['addresses'],
    addresses(before) !== addresses(after) || weights(before) === weights(after) ? [] : ['weights'],
    before.uid === after.uid && before.generation + 1 === after.generation ? [] : ['identity'],
  ]
  return changed.flat().join()
}
