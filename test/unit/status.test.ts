import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Programmed } from '../../src/core/programmed.js'
import { type Condition, conditionsOf, isServed, showVerdict } from '../../src/core/status.js'
import type { Acceptance, LostClaim, UnresolvedRef, Verdict } from '../../src/core/verdict.js'

const early = '2026-01-01T00:00:00Z'
const late = '2026-01-01T00:00:05Z'

const verdict = (
  accepted: Acceptance,
  unresolved: ReadonlyArray<UnresolvedRef> = [],
  generation = 1,
): Verdict => ({ key: { namespace: 'a', name: 'r' }, uid: 'u', generation, accepted, unresolved })

const lost = (path: string): LostClaim => ({
  claim: {
    host: 'shop.test',
    path: { _tag: 'Prefix', value: path },
    method: 'GET',
    headers: [{ _tag: 'Exact', name: 'x-a', value: '1' }],
    query: [{ _tag: 'Present', name: 'v' }],
  },
  winner: { namespace: 'b', name: 'first' },
})

const conflicted = (kept: number, lostCount = 1): Acceptance => ({
  _tag: 'Conflicted',
  lost: Array.from({ length: Math.min(lostCount, 16) }, (_, n) => lost(`/${n}`)),
  lostCount,
  kept,
})

const missing: UnresolvedRef = {
  path: 'spec.backends[0]',
  reason: 'ServiceNotFound',
  message: 'there is no Service a/web',
}

const rows: ReadonlyArray<readonly [Verdict, ReadonlyArray<string>, message: string]> = [
  [verdict({ _tag: 'Accepted' }), ['Accepted=True Accepted', 'ResolvedRefs=True ResolvedRefs'], ''],
  [verdict({ _tag: 'Terminating' }), ['Accepted=False Terminating'], 'it is being deleted'],
  [
    verdict({ _tag: 'Invalid', errors: [{ path: 'spec.matches', message: 'must not be empty' }] }),
    ['Accepted=False Invalid'],
    'spec.matches: must not be empty',
  ],
  [
    verdict({ _tag: 'UnknownDataPlane', dataPlane: 'x', known: ['edge-envoy'] }),
    ['Accepted=False UnknownDataPlane'],
    'known: edge-envoy',
  ],
  [
    verdict({ _tag: 'UnknownDataPlane', dataPlane: 'x', known: [] }),
    ['Accepted=False UnknownDataPlane'],
    'none is configured',
  ],
  [
    verdict(conflicted(0)),
    ['Accepted=False Conflicted'],
    'GET shop.test/0/… with header x-a=1 and query v belongs to b/first, which comes first',
  ],
  [
    verdict(conflicted(2, 20)),
    ['Accepted=False PartiallyConflicted', 'ResolvedRefs=True ResolvedRefs'],
    'and 17 more',
  ],
  [
    verdict({ _tag: 'Accepted' }, [missing]),
    ['Accepted=True Accepted', 'ResolvedRefs=False ServiceNotFound'],
    'spec.backends[0]: there is no Service a/web',
  ],
]

const inShort = ({ type, status, reason }: Condition): string => `${type}=${status} ${reason}`

describe('the conditions of a verdict', () => {
  test.each(rows)('%# say what became of the route, and why', (of, expected, message) => {
    const conditions = conditionsOf(of, [], early)
    expect(conditions.map(inShort)).toEqual(expected)
    expect(conditions.map((condition) => condition.message).join()).toContain(message)
    expect(showVerdict(of)).toContain(message)
    expect(expected.length === 2).toBe(isServed(of.accepted))
  })

  const served = ['Accepted=True Accepted', 'ResolvedRefs=True ResolvedRefs']
  const nodes = { nodes: ['e1', 'e2'], nodeCount: 5 }
  const words: ReadonlyArray<readonly [Programmed, string, string]> = [
    [{ _tag: 'Programmed', generation: 1 }, 'Programmed=True Programmed', ''],
    [
      { _tag: 'Pending', generation: 1, ...nodes },
      'Programmed=False Pending',
      'not yet accepted by e1, e2 and 3 more',
    ],
    [
      { _tag: 'Pending', generation: 1, nodes: [], nodeCount: 0 },
      'Programmed=False Pending',
      'no Envoy is connected at the moment',
    ],
    [
      { _tag: 'Lagging', generation: 1, nodes: ['e1'], nodeCount: 1 },
      'Programmed=False Lagging',
      'for too long not accepted by e1',
    ],
    [
      { _tag: 'Refused', generation: 1, message: 'no such filter', ...nodes },
      'Programmed=False Refused',
      'refused by e1, e2 and 3 more: no such filter',
    ],
    [
      { _tag: 'NoEnvoy', generation: 1, dataPlane: 'edge' },
      'Programmed=False NoEnvoy',
      'no Envoy of the data plane edge has connected',
    ],
  ]

  test.each(words)('%# say how far the Envoys are', (programmed, expected, message) => {
    const of = { ...verdict({ _tag: 'Accepted' }), programmed }
    const conditions = conditionsOf(of, [], early)
    expect(conditions.map(inShort)).toEqual([...served, expected])
    expect(conditions[2]?.message).toBe(message)
    expect(showVerdict(of)).toContain(message)
  })

  test('say nothing of the Envoys where the route is not served', () => {
    const of = verdict(conflicted(0))
    const [only, ...others] = conditionsOf(
      { ...of, programmed: { _tag: 'Programmed', generation: 1 } },
      [],
      early,
    )
    expect([only?.type, others]).toEqual(['Accepted', []])
  })

  test('name, where they speak of the Envoys, the generation that these were asked of', () => {
    const programmed: Programmed = { _tag: 'Programmed', generation: 3 }
    const conditions = conditionsOf(
      { ...verdict({ _tag: 'Accepted' }, [], 4), programmed },
      [],
      early,
    )
    expect(conditions.map(({ observedGeneration }) => observedGeneration)).toEqual([4, 4, 3])
  })

  test('are cut to a length that a person reads, and never within a character', () => {
    for (let length = 1_000; length < 1_040; length++) {
      const errors = [{ path: '', message: `${'x'.repeat(length)}${'😀'.repeat(100)}` }]
      const [condition] = conditionsOf(verdict({ _tag: 'Invalid', errors }), [], early)
      const { message = '' } = condition ?? {}
      expect(message.length).toBeLessThanOrEqual(1_024)
      expect(message).not.toMatch(/\p{Surrogate}/u)
      expect(message.endsWith('…')).toBe(true)
    }
  })

  const acceptance = fc.constantFrom<Acceptance>(
    { _tag: 'Accepted' },
    { _tag: 'Terminating' },
    { _tag: 'Invalid', errors: [{ path: 'spec', message: 'is wrong' }] },
    { _tag: 'UnknownDataPlane', dataPlane: 'x', known: [] },
    conflicted(0),
    conflicted(3),
  )
  const verdicts = fc
    .tuple(
      acceptance,
      fc.constantFrom([], [missing]),
      fc.nat(3),
      fc.constantFrom(undefined, ...words.map(([programmed]) => programmed)),
    )
    .map(([accepted, unresolved, generation, programmed]) => ({
      ...verdict(accepted, unresolved, generation),
      ...(programmed === undefined ? {} : { programmed: { ...programmed, generation } }),
    }))

  test('move their time only when their status flips, and name the generation that they speak of', () => {
    const holds = fc.property(verdicts, verdicts, (first, second) => {
      const before = conditionsOf(first, [], early)
      for (const after of conditionsOf(second, before, late)) {
        const old = before.find(({ type }) => type === after.type)
        const stays = old?.status === after.status
        expect(after.lastTransitionTime).toBe(stays ? early : late)
        expect(after.observedGeneration).toBe(second.generation)
      }
    })
    fc.assert(holds, { numRuns: 1_000 })
  })

  test('stay as they are when nothing has changed', () => {
    const holds = fc.property(verdicts, (same) => {
      const before = conditionsOf(same, [], early)
      expect(conditionsOf(same, before, late)).toEqual(before)
    })
    fc.assert(holds, { numRuns: 1_000 })
  })
})
