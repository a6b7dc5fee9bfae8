import { silentLogger } from 'edgewright'
import { expect, test } from 'vitest'
import type { DeletionRecord } from '../../src/core/deletions.js'
import { orderedMapOf, type OrderedMap, withValues } from '../../src/core/ordered-map.js'
import type { Verdict } from '../../src/core/verdict.js'
import { dateConditions, nothingDated } from '../../src/host/dated-conditions.js'
import { handOut } from '../../src/host/hand-out.js'
import { nothingYet, type Reconciled } from '../../src/host/reconcile.js'
import { reporter } from '../../src/host/report.js'
import { noMetrics } from '../../src/ports/metrics.js'

const uids = Array.from({ length: 2_000 }, (_, n) => `uid-${n}`)

interface Looks {
  count: number
}

/** Counts each time that anything of a value is read. */
const counted = <A extends object>(looks: Looks, value: A): A =>
  new Proxy(value, {
    get: (of, property): unknown => {
      looks.count += 1
      return Reflect.get(of, property)
    },
  })

const verdictOf = (uid: string, generation: number): Verdict => ({
  ...{ key: { namespace: 'shop', name: uid }, uid, generation, unresolved: [] },
  accepted: { _tag: 'Accepted' },
})

const recordOf = (uid: string, generation: number): DeletionRecord => ({
  ...{ key: { namespace: 'shop', name: uid }, uid, generation, object: undefined },
  state: { _tag: 'Serving', isGuarded: true, failure: undefined },
})

const all = <A extends object>(looks: Looks, of: (uid: string, n: number) => A): OrderedMap<A> =>
  orderedMapOf(uids.map((uid) => [uid, counted(looks, of(uid, 1))]))

test('reports, dates and writes ask only the objects of which something has changed', () => {
  const looks: Looks = { count: 0 }
  const verdicts = all(looks, verdictOf)
  const published = {
    snapshot: { dataPlanes: new Map() },
    verdicts,
    routes: [],
    backends: undefined,
    hosts: new Map<string, number>(),
  }
  const before: Reconciled = {
    ...{ ...nothingYet, seen: { routes: [], problems: [] }, published, verdicts },
    deletions: { ...nothingYet.deletions, records: all(looks, recordOf) },
  }
  const asked = { onVerdicts: () => undefined, onDeletion: () => undefined }
  const { pass } = reporter({ logger: silentLogger, metrics: noMetrics, ...asked })
  const writes = { finalizer: () => undefined, conditions: () => undefined }
  pass(nothingYet, before, [])
  const dated = dateConditions(nothingDated, verdicts, 0)
  expect(looks.count).toBeGreaterThan(uids.length)

  const changed = withValues(verdicts, new Map([['uid-7', verdictOf('uid-7', 2)]]))
  const records = withValues(before.deletions.records, new Map([['uid-9', recordOf('uid-9', 2)]]))
  const after: Reconciled = {
    ...{ ...before, verdicts: changed, published: { ...published, verdicts: changed } },
    deletions: { ...before.deletions, records },
  }
  looks.count = 0
  pass(before, after, [])
  dateConditions(dated, changed, 1)
  handOut(writes, before, after)
  expect(looks.count).toBeLessThan(100)
})
