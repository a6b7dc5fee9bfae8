import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import type { Roster } from '../../src/core/roster.js'
import { maxRosterNodes } from '../../src/core/roster.js'
import { clusterType, routeType } from '../../src/core/type-url.js'
import type { RosterStore } from '../../src/ports/roster-store.js'
import { anEntry, aRoster } from '../support/roster.js'

/** A place for a roster, and those who use it one after another. */
export interface RosterStoreWorld {
  /** What a process uses that starts now. */
  readonly open: () => RosterStore
  /** Makes what is there unreadable. */
  readonly spoil: (text: string) => void | Promise<void>
  /** What is there. */
  readonly text: () => string | undefined | Promise<string | undefined>
  /** Makes every save fail from now on, or again succeed. */
  readonly breakSaves: (isBroken: boolean) => void | Promise<void>
}

const full = aRoster(
  anEntry('a', { isShared: true, doubts: { [clusterType]: ['x', 'y'], [routeType]: ['é'] } }),
  anEntry('', { cluster: '' }),
  anEntry('__proto__ "\n', { sinceMs: 1_722_000_000_000.5 }),
)

/** What every `RosterStore` promises. Run it for each adapter. */
export const rosterStoreContract = (
  name: string,
  make: () => RosterStoreWorld | Promise<RosterStoreWorld>,
): void => {
  const saved = (store: RosterStore, roster: Roster) => store.save(roster)()

  describe(`roster store: ${name}`, () => {
    test('is empty where nothing was ever saved', async () => {
      const { open } = await make()
      expect(await open().load()()).toEqual(E.right(new Map()))
    })

    test('gives what was saved last, to the next process too', async () => {
      const { open } = await make()
      const store = open()
      await store.load()()
      expect(await saved(store, full)).toEqual(E.right(undefined))
      expect(await store.load()()).toEqual(E.right(full))
      expect(await open().load()()).toEqual(E.right(full))
      expect(await saved(store, aRoster(anEntry('b')))).toEqual(E.right(undefined))
      expect(await open().load()()).toEqual(E.right(aRoster(anEntry('b'))))
    })

    test('does nothing before a task is run', async () => {
      const { open } = await make()
      const store = open()
      await store.load()()
      store.save(full)
      expect(await store.load()()).toEqual(E.right(new Map()))
    })

    test('keeps of saves that were begun together the last', async () => {
      const { open } = await make()
      const store = open()
      await store.load()()
      const ids = Array.from({ length: 20 }, (_, i) => `envoy-${i}`)
      const all = await Promise.all(ids.map((id) => saved(store, aRoster(anEntry(id)))))
      expect(all.every(E.isRight)).toBe(true)
      expect(await store.load()()).toEqual(E.right(aRoster(anEntry('envoy-19'))))
    })

    test('leaves what was there where a save fails, and goes on afterwards', async () => {
      const { open, breakSaves } = await make()
      const store = open()
      await store.load()()
      await saved(store, full)
      await breakSaves(true)
      expect(await saved(store, new Map())).toMatchObject({ left: { _tag: 'Unavailable' } })
      await breakSaves(false)
      expect(await open().load()()).toEqual(E.right(full))
      expect(await saved(store, new Map())).toEqual(E.right(undefined))
      expect(await store.load()()).toEqual(E.right(new Map()))
    })

    test('does not save what it could not load', async () => {
      const { open } = await make()
      const store = open()
      await store.load()()
      await saved(store, full)
      const ids = Array.from({ length: maxRosterNodes + 1 }, (_, i) => String(i))
      expect(await saved(store, aRoster(...ids.map((id) => anEntry(id))))).toMatchObject({
        left: { _tag: 'Unavailable', message: expect.stringContaining('forget') as unknown },
      })
      expect(await store.load()()).toEqual(E.right(full))
    })

    test.each([
      ['half of one', '{"version":1,"doubts":[],"nodes":[', /cut off/],
      ['nothing', '', /cut off/],
      ['something else', 'a: b', /no JSON/],
      [
        'one of a newer version',
        '{"version":2,"nodes":[]}',
        /run the edgewright that has written it/,
      ],
    ])('says of %s that it is unreadable, and what to do', async (_, text, reason) => {
      const { open, spoil, text: there } = await make()
      const store = open()
      await store.load()()
      await saved(store, full)
      await spoil(text)
      const loaded = await open().load()()
      expect(loaded).toMatchObject({ left: { _tag: 'Unreadable' } })
      expect(E.isLeft(loaded) && loaded.left.message).toMatch(reason)
      expect(await there()).toBe(text)
    })
  })
}
