import { expect, test } from 'vitest'
import { orderedMapOf } from '../../src/core/ordered-map.js'
import type { Programmed } from '../../src/core/programmed.js'
import type { Verdict } from '../../src/core/verdict.js'
import {
  changesOf,
  type Complaints,
  complaintsAfter,
  noComplaints,
} from '../../src/host/complaints.js'
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

const complaintsOf = (problems: ReadonlyArray<SourceProblem>, verdicts: ReadonlyArray<Verdict>) =>
  complaintsAfter(noComplaints, problems, orderedMapOf(verdicts.map((each) => [each.uid, each])))

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
  expect(changesOf(noComplaints, both).appeared).toHaveLength(2)
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

const served = (programmed: Programmed): Verdict => ({
  key: { namespace: 'shop', name: 'checkout' },
  uid: '1',
  generation: 1,
  accepted: { _tag: 'Accepted' },
  unresolved: [],
  programmed,
})

const refusedBy = (nodes: ReadonlyArray<string>): Verdict =>
  served({ _tag: 'Refused', generation: 1, message: 'bad', nodes, nodeCount: nodes.length })

test('that an Envoy refuses a route is a complaint, and one only, however many do', () => {
  const before = complaintsOf([], [refusedBy(['a'])])
  expect(changesOf(noComplaints, before).appeared).toEqual([
    { about: 'route', where: 'shop/checkout', message: 'refused by an Envoy: bad' },
  ])
  expect(changesOf(before, complaintsOf([], [refusedBy(['a', 'b'])])).appeared).toEqual([])
})

test('that Envoys are on their way, late, or not there is none, nor does it change one', () => {
  const nodes = { nodes: ['a'], nodeCount: 1 }
  for (const _tag of ['Pending', 'Lagging'] as const) {
    const programmed: Programmed = { _tag, generation: 1, ...nodes }
    expect(told([], [served(programmed)])).toEqual([])
    const unresolved: Verdict['unresolved'] = [
      { path: 'spec.backends[0]', reason: 'NoReadyEndpoints', message: 'none' },
    ]
    expect(told([], [{ ...served(programmed), unresolved }])).toEqual([
      'route shop/checkout Accepted; NoReadyEndpoints: spec.backends[0]: none',
    ])
  }
  expect(told([], [served({ _tag: 'NoEnvoy', generation: 1, dataPlane: 'x' })])).toEqual([])
})

test('that an Envoy refuses a listener is one complaint, however many routes it was to carry', () => {
  const listener = { dataPlane: 'edge-envoy', name: 'http' }
  const nodes = { nodes: ['a'], nodeCount: 1 }
  const programmed: Programmed = {
    ...{ _tag: 'Refused', generation: 1, message: 'cannot bind' },
    ...{ ...nodes, listener },
  }
  const all = ['1', '2', '3'].map((uid) => ({ ...served(programmed), uid }))
  expect(told([], all)).toEqual([
    'listener listener http of edge-envoy refused by an Envoy: cannot bind',
  ])
  expect(changesOf(complaintsOf([], all), noComplaints).gone).toHaveLength(1)
})

test('nothing is remembered of routes, listeners and places that nobody complains of any more', () => {
  const listener = { dataPlane: 'edge-envoy', name: 'http' }
  const nodes = { nodes: ['a'], nodeCount: 1 }
  const said: Programmed = {
    ...{ _tag: 'Refused', generation: 1, message: 'cannot bind' },
    ...{ ...nodes, listener },
  }
  const sizes = ({ ofRoutes, ofListeners, ofSource, names }: Complaints) =>
    [ofRoutes, ofListeners, ofSource.messages, names].map(({ size }) => size)
  const before = complaintsOf([problem('a.yaml', 'no map')], [refused('2'), served(said)])
  expect(sizes(before)).toEqual([1, 1, 1, 1])
  expect(sizes(complaintsAfter(before, [], orderedMapOf([])))).toEqual([0, 0, 0, 0])
})

const words = (of: Partial<SourceProblem>, ...verdicts: ReadonlyArray<Verdict>) =>
  told([{ ...problem('a.yaml', 'is cut off'), ...of }], verdicts).at(0)

test('of what cannot be read it is said whether an earlier state of it is served, or nothing of it', () => {
  const key = { namespace: 'shop', name: 'checkout' }
  const nothing = '(no earlier state of it is known, so that nothing of it is served)'
  expect(words({})).toBe(`source a.yaml is cut off ${nothing}`)
  expect(words({ key })).toBe(`source a.yaml shop/checkout: is cut off ${nothing}`)
  expect(words({ keepsLastGood: true })).toContain('(what was read there before is still served)')
})

test('of an object that is served as it stands elsewhere it is not said that nothing of it is', () => {
  const key = { namespace: 'shop', name: 'checkout' }
  const elsewhere = served({ _tag: 'Programmed', generation: 1 })
  expect(words({ key }, elsewhere)).toBe('source a.yaml shop/checkout: is cut off')
})

test('that a route lacks our finalizer is a complaint only where it cannot be put on', () => {
  const of = (failure: string | undefined): Verdict => ({
    ...served({ _tag: 'Programmed', generation: 1 }),
    accepted: { _tag: 'Unguarded', failure },
  })
  expect(told([], [of(undefined)])).toEqual([])
  expect(told([], [of('RBAC says no')])).toEqual([
    expect.stringMatching(/^route shop\/checkout Unguarded: .*RBAC says no/),
  ])
})

test('a complaint of an object that is mended is resolved, and one of an object that is deleted is not', () => {
  const of = (verdicts: ReadonlyArray<Verdict>) =>
    changesOf(complaintsOf([], [refused('1')]), complaintsOf([], verdicts)).gone.map(
      ({ about, isWanted }) => [about, isWanted],
    )
  const mended: Verdict = { ...refused('1'), accepted: { _tag: 'Accepted' } }
  expect(of([mended])).toEqual([['route', true]])
  expect(of([])).toEqual([['route', false]])
  expect(of([{ ...mended, accepted: { _tag: 'Terminating' } }])).toEqual([['route', false]])
  expect(of([{ ...mended, uid: '2' }])).toEqual([['route', false]])
})

test('a place that nobody complains of any more is resolved', () => {
  const { gone } = changesOf(complaintsOf([problem('a.yaml', 'no')], []), noComplaints)
  expect(gone.map(({ where, isWanted }) => [where, isWanted])).toEqual([['a.yaml', true]])
})
