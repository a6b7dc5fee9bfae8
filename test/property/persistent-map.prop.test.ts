import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import { digest, digestStrings } from '../../src/core/digest.js'
import * as PM from '../../src/core/persistent-map.js'

interface Entry extends PM.Versioned {
  readonly version: string
}

type Operation =
  | { readonly _tag: 'Set'; readonly entry: Entry }
  | { readonly _tag: 'Remove'; readonly name: string }

const runs = { numRuns: 1000 }

/** Few names, so that entries are often replaced and removed; some that no locale orders alike. */
const name = fc.oneof(
  fc.constantFrom('a', 'b', 'B', 'ab', 'a/b', '', 'ä', 'z', '10', '9', '\u{1f600}', '\uffff'),
  fc.nat(30).map((n) => `name-${n}`),
)
const entry: fc.Arbitrary<Entry> = fc.record({ name, version: fc.constantFrom('1', '2', '3') })

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant('Set' as const), entry }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant('Remove' as const), name }) },
)
const operations = fc.array(operation, { maxLength: 60 })

const apply = (map: PM.PersistentMap<Entry>, one: Operation): PM.PersistentMap<Entry> =>
  one._tag === 'Set' ? PM.set(map, one.entry) : PM.remove(map, one.name)

const grown = (all: ReadonlyArray<Operation>): PM.PersistentMap<Entry> =>
  all.reduce<PM.PersistentMap<Entry>>(apply, undefined)

/** What the map should hold, in the order of code units. */
const model = (all: ReadonlyArray<Operation>): ReadonlyArray<Entry> => {
  const map = new Map<string, Entry>()
  for (const one of all)
    if (one._tag === 'Set') map.set(one.entry.name, one.entry)
    else map.delete(one.name)
  return [...map.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const listed = (map: PM.PersistentMap<Entry>): ReadonlyArray<Entry> => [...PM.entries(map)]

/** The whole tree, in words. */
const shape = (map: PM.PersistentMap<Entry>): string =>
  map === undefined
    ? '.'
    : `(${shape(map.left)} ${JSON.stringify(map.entry)} ${shape(map.right)} ${map.size} ${PM.digestOf(map)})`

test.prop([operations], runs)(
  'after any sets and removals a map holds what a native map holds, ordered by code units',
  (all) => {
    const map = grown(all)
    const expected = model(all)
    expect(listed(map)).toStrictEqual(expected)
    expect(PM.size(map)).toBe(expected.length)
    for (const one of expected) expect(PM.get(map, one.name)).toBe(one)
  },
)

test.prop([operations, name], runs)('a name that no entry has is not found', (all, absent) => {
  const map = PM.remove(grown(all), absent)
  expect(PM.get(map, absent)).toBeUndefined()
  expect(listed(map)).toStrictEqual(model(all).filter((one) => one.name !== absent))
})

test.prop([operations], runs)('a map has the same shape whatever its history', (all) => {
  const content = model(all)
  const inOneGo = PM.fromEntries(content)
  const backwards = [...content]
    .reverse()
    .reduce<PM.PersistentMap<Entry>>((map, one) => PM.set(map, one), undefined)
  expect(shape(inOneGo)).toBe(shape(grown(all)))
  expect(shape(backwards)).toBe(shape(inOneGo))
})

test.prop([fc.array(entry, { maxLength: 30 })], runs)(
  'of two entries with one name the last counts',
  (all) => {
    const sets = all.map((one): Operation => ({ _tag: 'Set', entry: one }))
    expect(shape(PM.fromEntries(all))).toBe(shape(grown(sets)))
  },
)

/** Two maps that are often equal, or nearly so. */
const twoHistories = fc
  .tuple(operations, fc.array(operation, { maxLength: 3 }), fc.boolean())
  .map(([all, more, before]) => [all, before ? [...more, ...all] : [...all, ...more]] as const)

test.prop([twoHistories], runs)(
  'two maps have one digest if and only if they have one content',
  ([one, other]) => {
    const sameDigest = PM.digestOf(grown(one)) === PM.digestOf(grown(other))
    expect(sameDigest).toBe(JSON.stringify(model(one)) === JSON.stringify(model(other)))
  },
)

const naiveDiff = (
  before: ReadonlyArray<Entry>,
  after: ReadonlyArray<Entry>,
): ReadonlyArray<PM.Difference<Entry>> =>
  [...new Set([...before, ...after].map((one) => one.name))]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((one) => ({
      name: one,
      before: before.find((old) => old.name === one),
      after: after.find((now) => now.name === one),
    }))
    .filter((one) => one.before?.version !== one.after?.version)

test.prop([twoHistories], runs)(
  'the difference of two maps is every name whose versions differ, in order',
  ([one, other]) => {
    const found = PM.diff(grown(one), grown(other))
    expect(found).toStrictEqual(naiveDiff(model(one), model(other)))
  },
)

test.prop([operations, operations], runs)(
  'the difference of unrelated maps is the naive one',
  (one, other) => {
    const found = PM.diff(grown(one), grown(other))
    expect(found).toStrictEqual(naiveDiff(model(one), model(other)))
  },
)

test.prop([operations, operations], runs)(
  'no map is touched by what is made of it',
  (all, more) => {
    const map = grown(all)
    const before = shape(map)
    const after = more.reduce(apply, map)
    PM.diff(map, after)
    PM.diff(after, map)
    expect(shape(map)).toBe(before)
  },
)

test.prop([operations], runs)(
  'to set what is there, or remove what is not, gives the same map',
  (all) => {
    const map = grown(all)
    for (const one of PM.entries(map)) expect(PM.set(map, one)).toBe(map)
    expect(PM.remove(map, 'never a name')).toBe(map)
  },
)

test.prop([operations, operation], runs)(
  'a change keeps all but one path: what lies beside it is the same reference',
  (all, one) => {
    const map = grown(all)
    const known = subtrees(map)
    const fresh = [...subtrees(apply(map, one))].filter((tree) => !known.has(tree))
    expect(fresh.length).toBeLessThanOrEqual(depth(map) + depth(apply(map, one)))
  },
)

const subtrees = (
  map: PM.PersistentMap<Entry>,
  found = new Set<PM.PersistentMap<Entry>>(),
): ReadonlySet<PM.PersistentMap<Entry>> => {
  if (map === undefined) return found
  subtrees(map.left, found)
  subtrees(map.right, found)
  return found.add(map)
}

const depth = (map: PM.PersistentMap<Entry>): number =>
  map === undefined ? 0 : 1 + Math.max(depth(map.left), depth(map.right))

test('ten thousand names in order make no deep tree', () => {
  const all = Array.from({ length: 10_000 }, (_, n) => ({ name: `shop/route-${n}`, version: '1' }))
  // A random tree of so many entries is about 30 deep; one that degenerates is 10,000 deep.
  expect(depth(PM.fromEntries(all))).toBeLessThan(60)
})

const part = fc.oneof(
  fc.constantFrom('', '1:', '1:a', 'a', '0:', '2:aa'),
  fc.string({ maxLength: 3 }),
)

test.prop([fc.array(part, { maxLength: 4 }), fc.array(part, { maxLength: 4 })], runs)(
  'two lists of parts have one digest if and only if they are the same list',
  (one, other) => {
    expect(digest(one) === digest(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
  },
)

/** Every way to cut a text in two has the same bytes in a row. */
test.prop([fc.string({ unit: 'grapheme-ascii', maxLength: 12 })], runs)(
  'where parts are cut shows in the digest',
  (text) => {
    const places = Array.from({ length: text.length + 1 }, (_, at) => at)
    const digests = places.map((at) => digest([text.slice(0, at), text.slice(at)]))
    expect(new Set(digests).size).toBe(places.length)
  },
)

test.prop([fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 })], runs)(
  'text and its UTF-8 bytes have the same digest',
  (parts) => {
    const encoder = new TextEncoder()
    expect(digest(parts.map((one) => encoder.encode(one)))).toBe(digest(parts))
    expect(digest(parts)).toMatch(/^[0-9a-f]{32}$/)
  },
)

test.prop([fc.array(part, { maxLength: 5 })], runs)(
  'the faster digest of texts is the digest of these texts',
  (parts) => {
    expect(digestStrings(...parts)).toBe(digest(parts))
  },
)
