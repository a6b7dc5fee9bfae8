import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isUnsaid, refusalsOf } from '../support/crd/agreement.js'
import { nearValidSpec } from '../support/crd/near-valid.js'
import { admitChange, admitNew } from '../support/crd/offline-server.js'

test('the schema and the codec take and refuse the same specs, save what no schema can say', () => {
  const seen = { both: 0, neither: 0 }
  fc.assert(
    fc.property(nearValidSpec, (spec) => {
      const { complaints } = admitNew(spec)
      const refusals = refusalsOf(spec)
      if (refusals.length === 0) expect(complaints).toEqual([])
      else if (!isUnsaid(refusals)) expect(complaints, JSON.stringify(refusals)).not.toEqual([])
      seen[complaints.length === 0 ? 'both' : 'neither'] += 1
    }),
    { numRuns: 400 },
  )
  expect(seen.both).toBeGreaterThan(80)
  expect(seen.neither).toBeGreaterThan(80)
})

test('what is stored of a spec that is taken means what was applied', () => {
  fc.assert(
    fc.property(nearValidSpec, (spec) => {
      const { complaints, spec: stored } = admitNew(spec)
      fc.pre(complaints.length === 0)
      expect(refusalsOf(stored)).toEqual(refusalsOf(spec))
      expect(admitNew(stored)).toEqual({ complaints, spec: stored })
    }),
    { numRuns: 100 },
  )
})

test('unknown fields are dropped, and what is absent is stored as its default', () => {
  const { spec, complaints } = admitNew({
    redirect: { host: 'a.test', hots: 1 },
    more: {},
  })
  expect(complaints).toEqual([])
  expect(spec).toEqual({
    dataPlane: 'edge-envoy',
    matches: [{ path: { prefix: '/' } }],
    redirect: { host: 'a.test', code: 301 },
  })
})

test('the data plane cannot be changed, and neither can the one that is there by default', () => {
  const respond = { code: 410 }
  const immutable = [
    {
      place: 'spec.dataPlane',
      what: expect.stringContaining('immutable') as unknown,
    },
  ]
  const change = (before?: string, after?: string) =>
    admitChange({ dataPlane: before, respond }, { dataPlane: after, respond }).complaints
  expect(change('a', 'b')).toEqual(immutable)
  expect(change(undefined, 'b')).toEqual(immutable)
  expect(change('a', undefined)).toEqual(immutable)
  expect(change('a', 'a')).toEqual([])
  expect(change(undefined, 'edge-envoy')).toEqual([])
})

test.each([
  ['1.5ms', false],
  ['0.0000000s', true],
  ['1\u00b5s1\u03bcs998us', true],
  ['+.25s', true],
  ['24h0.001s', false],
])('a duration of %s is taken by both or by neither', (request, isTaken) => {
  const spec = {
    backends: [{ service: { name: 'one', port: 80 } }],
    timeouts: { request },
  }
  expect(refusalsOf(spec).length === 0).toBe(isTaken)
  expect(admitNew(spec).complaints.length === 0).toBe(isTaken)
})
