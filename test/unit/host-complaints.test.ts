import { expect, test } from 'vitest'
import type { Verdict } from '../../src/core/verdict.js'
import { changesOf, complaintsOf, noComplaints } from '../../src/host/complaints.js'
import type { SourceProblem } from '../../src/ports/route-source.js'

const refused = (uid: string, message = 'no'): Verdict => ({
  key: { namespace: 'shop', name: 'checkout' },
  uid,
  generation: 1,
  accepted: { _tag: 'Invalid', errors: [{ path: 'spec', message }] },
  unresolved: [],
})

const problem = (where: string, message: string): SourceProblem => ({
  where,
  key: undefined,
  errors: [{ path: '', message }],
  keepsLastGood: false,
})

const told = (...parameters: Parameters<typeof complaintsOf>): ReadonlyArray<string> =>
  changesOf(noComplaints, complaintsOf(...parameters)).appeared.map(
    ({ about, where, message }) => `${about} ${where} ${message}`,
  )

test('a place that is called as an object is does not hide what is said of the object', () => {
  const seen = told([problem('shop/checkout', 'no map')], [refused('1')])
  expect(seen).toEqual([
    expect.stringMatching(/^source shop\/checkout .*no map/),
    expect.stringMatching(/^route shop\/checkout Invalid/),
  ])
})

test('a place whose words look like an object is still another thing than the object', () => {
  expect(told([problem('route:1', 'no map')], [refused('1')])).toHaveLength(2)
  expect(told([problem('1', 'no map')], [refused('source:1')])).toHaveLength(2)
})

test('of two objects with one name each has its own complaint', () => {
  const both = complaintsOf([], [refused('1', 'one'), refused('2', 'two')])
  expect(both.size).toBe(2)
  const { appeared, gone } = changesOf(both, complaintsOf([], [refused('2', 'two')]))
  expect(appeared).toEqual([])
  expect(gone.map(({ message }) => message)).toEqual([expect.stringContaining('one')])
})

test('of two problems in one place both are said', () => {
  const seen = told([problem('a.yaml', 'first'), problem('a.yaml', 'second')], [])
  expect(seen).toEqual([expect.stringMatching(/^source a\.yaml .*first.*second/)])
})

test('a complaint that says something else now appears again, and an equal one does not', () => {
  const before = complaintsOf([], [refused('1', 'no')])
  expect(changesOf(before, complaintsOf([], [refused('1', 'no')])).appeared).toEqual([])
  expect(changesOf(before, complaintsOf([], [refused('1', 'never')])).appeared).toHaveLength(1)
})
