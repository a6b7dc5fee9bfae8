import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import { changedOwners, compose, formsIn } from '../../src/core/compose.js'
import * as PM from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import { sortedChanges } from '../../src/core/sorted-changes.js'
import { routeType } from '../../src/core/type-url.js'
import { observations, tellings } from '../support/programmed-changes.js'

const runs = { numRuns: 150 }

/** Each table of each snapshot in turn, and what a client may hold in its place. */
const tablesOf = (told: Parameters<typeof observations>[0]): ReadonlyArray<Resource> => {
  const tables: Array<Resource> = []
  for (const { snapshot } of observations(told))
    for (const view of snapshot.dataPlanes.values())
      for (const table of PM.entries(view[routeType])) {
        const base = tables.at(-1)
        tables.push(table)
        tables.push(compose(table, base, new Map([['r1', 'Previous']])))
        tables.push(
          compose(
            table,
            base,
            new Map([
              ['r2', 'Unavailable'],
              ['r3', 'Absent'],
            ]),
          ),
        )
      }
  return tables
}

test.prop([tellings], runs)(
  'an object is another one in two tables exactly if its form in them is',
  (told) => {
    const tables = tablesOf(told).slice(-24)
    for (const a of [undefined, ...tables])
      for (const b of [undefined, ...tables]) {
        const before = a === undefined ? new Map<string, string>() : formsIn(a)
        const after = b === undefined ? new Map<string, string>() : formsIn(b)
        const uids = [...new Set([...before.keys(), ...after.keys()])]
        const expected = uids.filter((uid) => before.get(uid) !== after.get(uid))
        expect(new Set(changedOwners(a, b))).toEqual(new Set(expected))
      }
  },
)

interface Entry {
  readonly key: string
}

const entries = fc.uniqueArray(fc.nat(20), { maxLength: 12 })

test.prop([entries, entries, fc.array(fc.nat(20))], { numRuns: 1000 })(
  'what is not the very same in two sorted lists is found, once, in the order of its keys',
  (one, two, shared) => {
    const common = new Map<string, Entry>(shared.map((at) => [keyOf(at), { key: keyOf(at) }]))
    const listOf = (places: ReadonlyArray<number>): ReadonlyArray<Entry> =>
      [...places]
        .map(keyOf)
        .sort()
        .map((key) => common.get(key) ?? { key })
    const before = listOf(one)
    const after = listOf(two)
    const keys = [...new Set([...one, ...two].map(keyOf))].sort()
    const expected = keys
      .map((key) => ({
        before: before.find((each) => each.key === key),
        after: after.find((each) => each.key === key),
      }))
      .filter((each) => each.before !== each.after)
    const actual = sortedChanges(before, after, ({ key }) => key)
    expect(actual).toEqual(expected)
    actual.forEach((change, at) => {
      expect(change.before).toBe(expected[at]?.before)
      expect(change.after).toBe(expected[at]?.after)
    })
    expect(sortedChanges(before, [...before], ({ key }) => key)).toEqual([])
  },
)

const keyOf = (at: number): string => String(at).padStart(2, '0')
