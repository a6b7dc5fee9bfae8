import fc from 'fast-check'
import type { Roster, RosterEntry } from '../../src/core/roster.js'
import { type TypeUrl, typeUrls } from '../../src/core/type-url.js'
import { unsureOf } from '../../src/core/xds/holding.js'
import type { NodeMemory } from '../../src/core/xds/node-memory.js'
import * as PM from '../../src/core/persistent-map.js'

/** An entry of a node of which nothing special is known. */
export const anEntry = (id: string, fields: Partial<RosterEntry> = {}): RosterEntry => ({
  id,
  cluster: 'edge-envoy',
  sinceMs: 1_000,
  isShared: false,
  doubts: {},
  ...fields,
})

export const aRoster = (...entries: ReadonlyArray<RosterEntry>): Roster =>
  new Map(entries.map((entry) => [entry.id, entry]))

/** What a fleet remembers of a node. */
export const aMemory = (
  id: string,
  { cluster = 'edge-envoy', isShared = false, doubts = {} }: Partial<RosterEntry> = {},
): NodeMemory => ({
  name: id,
  node: { id, cluster },
  dataPlane: cluster === '' ? id : cluster,
  accepted: {},
  isUnknown: false,
  isShared,
  tables: undefined,
  doubts: Object.fromEntries(
    typeUrls.map((typeUrl) => [
      typeUrl,
      PM.fromEntries((doubts[typeUrl] ?? []).map((name) => unsureOf(name, {}))),
    ]),
  ),
  searches: {},
})

export const memories = (...nodes: ReadonlyArray<NodeMemory>): ReadonlyMap<string, NodeMemory> =>
  new Map(nodes.map((node) => [node.name, node]))

/** Few of them, so that they meet; some that a careless encoding would stumble over. */
export const nodeIds = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'd') },
  { weight: 1, arbitrary: fc.constantFrom('', '__proto__', 'a"b\n', 'é', '\u{1f6f0}', '\ud800') },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: 'binary' }) },
)

const doubts: fc.Arbitrary<RosterEntry['doubts']> = fc
  .array(
    fc.tuple(
      fc.constantFrom(...typeUrls),
      fc.uniqueArray(fc.constantFrom('x', 'y', 'z', ''), { minLength: 1 }),
    ),
    { maxLength: 3 },
  )
  .map((lists) => {
    const sorted: Partial<Record<TypeUrl, ReadonlyArray<string>>> = {}
    for (const [typeUrl, names] of lists) sorted[typeUrl] = [...names].sort()
    return sorted
  })

export const rosterEntries: fc.Arbitrary<RosterEntry> = fc.record({
  id: nodeIds,
  cluster: fc.constantFrom('', 'edge-envoy', 'other'),
  sinceMs: fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e13, noNaN: true })),
  isShared: fc.boolean(),
  doubts,
})

export const rosters: fc.Arbitrary<Roster> = fc
  .array(rosterEntries, { maxLength: 8 })
  .map((entries) => aRoster(...entries))
