import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ledgerOf, mayStillServe } from '../../src/core/ledger.js'
import * as PM from '../../src/core/persistent-map.js'
import { memoryOf, type Roster, rosterOf } from '../../src/core/roster.js'
import { decodeRoster, encodeRoster } from '../../src/core/roster/codec.js'
import { typeUrls } from '../../src/core/type-url.js'
import { openFleet } from '../../src/core/xds/fleet.js'
import type { NodeMemory } from '../../src/core/xds/node-memory.js'
import { aMemory, memories, rosters } from '../support/roster.js'

const textOf = (roster: Roster): string =>
  E.getOrElse((problem: string) => `not written: ${problem}`)(encodeRoster(roster))

const memoriesOf = (roster: Roster): ReadonlyMap<string, NodeMemory> =>
  memories(...[...roster.values()].map((entry) => aMemory(entry.id, entry)))

describe('a roster that is written down', () => {
  test('is read as it was', () => {
    fc.assert(
      fc.property(rosters, (roster) => {
        expect(decodeRoster(textOf(roster))).toEqual(E.right(roster))
      }),
    )
  })

  test('is the same text for equal rosters, whatever their order', () => {
    fc.assert(
      fc.property(rosters, (roster) => {
        expect(textOf(new Map([...roster].reverse()))).toBe(textOf(roster))
      }),
    )
  })

  test('is another text for another roster', () => {
    fc.assert(
      fc.property(rosters, rosters, (a, b) => {
        const isSame = [...a].every(
          ([id, entry]) => fc.stringify(b.get(id)) === fc.stringify(entry),
        )
        fc.pre(!isSame)
        expect(textOf(a)).not.toBe(textOf(b))
      }),
    )
  })

  test('is no roster any more when any part of its text is missing', () => {
    fc.assert(
      fc.property(rosters, fc.nat(), (roster, at) => {
        const text = textOf(roster)
        const cut = text.slice(0, at % (text.length - 1))
        expect(E.isLeft(decodeRoster(cut))).toBe(true)
      }),
    )
  })
})

describe('what a fleet remembers', () => {
  test('comes from a roster and goes back to it without loss', () => {
    fc.assert(
      fc.property(rosters, fc.nat(), (roster, nowMs) => {
        const memory = memoryOf(roster)
        expect(rosterOf(memory, roster, nowMs)).toBe(roster)
        const anew = rosterOf(memory, new Map(), nowMs)
        expect(anew.size).toBe(roster.size)
        for (const [id, entry] of roster) expect(anew.get(id)).toEqual({ ...entry, sinceMs: nowMs })
      }),
    )
  })

  test('is of each node of a roster that it may serve anything', () => {
    fc.assert(
      fc.property(rosters, (roster) => {
        const ledger = ledgerOf(openFleet(undefined, memoryOf(roster)))
        const owed = mayStillServe(ledger, 'any uid').map(({ id }) => id)
        expect(owed.sort()).toEqual([...roster.keys()].sort())
      }),
    )
  })

  test('is of each name in doubt that anything may stand under it', () => {
    fc.assert(
      fc.property(rosters, (roster) => {
        for (const [id, { doubts, isShared }] of roster) {
          const memory = memoryOf(roster).get(id)
          expect(memory?.isShared).toBe(isShared)
          for (const typeUrl of typeUrls) {
            const entries = [...PM.entries(memory?.doubts[typeUrl])]
            expect(entries.map(({ name }) => name)).toEqual(doubts[typeUrl] ?? [])
            expect(entries.every(({ isUnknown, isAtomic }) => isUnknown && !isAtomic)).toBe(true)
          }
        }
      }),
    )
  })
})

describe('what is written down anew', () => {
  const bothOf = fc.tuple(rosters, rosters)

  test('loses no node, forgets of none that it was shared, and keeps when it came', () => {
    fc.assert(
      fc.property(bothOf, fc.nat(), ([before, seen], nowMs) => {
        const after = rosterOf(memoriesOf(seen), before, nowMs)
        expect([...after.keys()].sort()).toEqual(
          [...new Set([...before.keys(), ...seen.keys()])].sort(),
        )
        for (const [id, entry] of after) {
          const [was, is] = [before.get(id), seen.get(id)]
          expect(entry.isShared).toBe(was?.isShared === true || is?.isShared === true)
          expect(entry.sinceMs).toBe(was?.sinceMs ?? nowMs)
          expect(entry.doubts).toEqual((is ?? was)?.doubts)
          expect(entry.cluster).toBe((is ?? was)?.cluster)
        }
      }),
    )
  })

  test('is the same when it is written again', () => {
    fc.assert(
      fc.property(bothOf, fc.nat(), ([before, seen], nowMs) => {
        const after = rosterOf(memoriesOf(seen), before, nowMs)
        expect(rosterOf(memoriesOf(seen), after, nowMs + 1)).toBe(after)
      }),
    )
  })

  test('leaves what has not changed as the same entry', () => {
    fc.assert(
      fc.property(bothOf, ([before, seen]) => {
        const after = rosterOf(memoriesOf(seen), before, 0)
        for (const [id, entry] of before)
          if (fc.stringify(after.get(id)) === fc.stringify(entry)) expect(after.get(id)).toBe(entry)
      }),
    )
  })
})
