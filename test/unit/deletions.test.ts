import { describe, expect, test } from 'vitest'
import { type Evidence, patienceMs, settleMs } from '../../src/core/deletion.js'
import {
  breakGlass,
  type Deletions,
  type DeletionsStep,
  lookAgain,
  nextDeletionsTimer,
  noDeletions,
  noteWritten,
  observe,
  routesInService,
  type Seen,
} from '../../src/core/deletions.js'
import { finalizer, type StoredObject } from '../../src/core/stored-object.js'
import { anObject, bare, deleting, routeOf } from '../support/stored-objects.js'

const clear = (): Evidence => ({ _tag: 'Clear', returns: 1 })
const owed = (): Evidence => ({ _tag: 'Owed', nodes: ['a'], nodeCount: 1 })

const stored = (...objects: ReadonlyArray<StoredObject>): Seen => ({
  routes: objects.map(routeOf),
  objects,
})
const plain = (...names: ReadonlyArray<string>): Seen => ({
  routes: names.map((name) => routeOf(anObject(name, bare))),
})

/** What is seen, one after another, a second apart, with somebody owed all the time. */
const after = (...all: ReadonlyArray<Seen>): Deletions =>
  all.reduce<Deletions>((state, seen, i) => observe(state, seen, owed, i * 1_000)[0], noDeletions)

const show = ({ records, pending }: Deletions): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...records].map(([uid, { state }]) => [uid, `${state._tag}${pending.has(uid) ? ' *' : ''}`]),
  )

const told = ([, facts]: DeletionsStep): ReadonlyArray<string> =>
  facts.map(({ record, fact }) => `${record.uid} ${fact._tag}`)

const inService = (state: Deletions, seen: Seen): ReadonlyArray<string> =>
  routesInService(state, seen).map(({ metadata }) => metadata.uid)

const a1 = anObject('a', { uid: 'a1' })
const a2 = anObject('a', { uid: 'a2' })

describe('by uid', () => {
  test('a new object under the name of one that waits is another one, and is served', () => {
    const waiting = after(stored(a1), stored({ ...a1, ...deleting }))
    const both = stored({ ...a1, ...deleting }, a2)
    expect(inService(waiting, both)).toEqual(['a2'])
    const [state] = observe(waiting, both, owed, 2_000)
    expect(show(state)).toEqual({ a1: 'Waiting *', a2: 'Serving' })
  })

  test('a new object without our finalizer is not served for having the name of one that has it', () => {
    const next = stored({ ...a2, ...bare })
    expect(inService(after(stored(a1)), next)).toEqual([])
    const step = observe(after(stored(a1)), next, owed, 1_000)
    expect(show(step[0])).toEqual({ a2: 'Guarding' })
    expect(told(step)).toEqual(['a1 GlassBroken'])
  })

  test('the evidence is asked for the uid that is deleted, and for no other one', () => {
    const asked: Array<string> = []
    const seen = stored({ ...a1, ...deleting }, a2)
    observe(after(stored(a1, a2)), seen, (uid) => (asked.push(uid), clear()), 1_000)
    expect(asked).toEqual(['a1'])
  })

  test('each settles for itself', () => {
    const b = anObject('b')
    const waiting = after(stored(a1, b), stored({ ...a1, ...deleting }, { ...b, ...deleting }))
    const of = (uid: string): Evidence => (uid === 'a1' ? clear() : owed())
    const [settling] = lookAgain(waiting, of, 5_000)
    expect(show(settling)).toEqual({ a1: 'Settling *', b: 'Waiting *' })
    expect(nextDeletionsTimer(settling)).toBe(5_000 + settleMs)
    const step = lookAgain(settling, of, 5_000 + settleMs)
    expect(show(step[0])).toEqual({ a1: 'Releasing *', b: 'Waiting *' })
    expect(told(step)).toEqual(['a1 Proven'])
  })
})

describe('in a store that keeps finalizers', () => {
  test('an object is served from the time on that it is seen with ours', () => {
    const lacking = anObject('a', bare)
    expect(inService(noDeletions, stored(lacking))).toEqual([])
    const state = after(stored(lacking))
    expect(show(state)).toEqual({ a: 'Guarding' })
    expect(inService(state, stored(lacking))).toEqual([])
    expect(inService(state, stored(anObject('a')))).toEqual(['a'])
  })

  test('an object that is served, and loses ours, is served on', () => {
    const seen = stored(anObject('a', bare))
    expect(inService(after(stored(anObject('a'))), seen)).toEqual(['a'])
    expect(show(after(stored(anObject('a')), seen))).toEqual({ a: 'Serving' })
  })

  test('an object that is being deleted is served no more, and an older sighting does not bring it back', () => {
    const gone = anObject('a', deleting)
    expect(inService(after(stored(anObject('a'))), stored(gone))).toEqual([])
    const state = after(stored(anObject('a')), stored(gone))
    expect(inService(state, stored(anObject('a')))).toEqual([])
    expect(show(after(stored(anObject('a')), stored(gone), stored(anObject('a'))))).toEqual({
      a: 'Waiting *',
    })
  })

  test('an object that is being deleted without ours is no affair of ours', () => {
    const foreign = anObject('a', { ...deleting, finalizers: ['example.com/other'] })
    const step = observe(noDeletions, stored(foreign), owed, 0)
    expect([show(step[0]), told(step)]).toEqual([{}, []])
    expect(inService(noDeletions, stored(foreign))).toEqual([])
  })

  test('an object that waits, and vanishes, was taken by force: that is told once', () => {
    const waiting = after(stored(anObject('a')), stored(anObject('a', deleting)))
    const step = observe(waiting, stored(), owed, 2_000)
    expect([show(step[0]), told(step)]).toEqual([{}, ['a GlassBroken']])
    expect(step[0].pending.size).toBe(0)
    expect(told(observe(step[0], stored(), owed, 3_000))).toEqual([])
  })

  test('an object that others hold once ours is off is remembered as released, and is no more pending', () => {
    const held = (finalizers: ReadonlyArray<string>): Seen =>
      stored(anObject('a', { ...deleting, finalizers, resourceVersion: `${finalizers.length}` }))
    const [settling] = observe(after(stored(anObject('a'))), held([finalizer, 'other']), clear, 0)
    const [releasing] = lookAgain(settling, clear, settleMs)
    const step = observe(releasing, held(['other']), owed, 9_000)
    expect([show(step[0]), told(step)]).toEqual([{ a: 'Released' }, []])
    const [gone] = observe(step[0], stored(), owed, 9_000)
    expect(show(gone)).toEqual({})
  })

  test('of an object that others hold, and that ours was taken from by force, that is told once', () => {
    const waiting = after(stored(anObject('a')), stored(anObject('a', deleting)))
    const held = (resourceVersion: string): Seen =>
      stored(anObject('a', { ...deleting, finalizers: ['other'], resourceVersion }))
    const step = observe(waiting, held('2'), owed, 2_000)
    expect([show(step[0]), told(step)]).toEqual([{ a: 'Released' }, ['a GlassBroken']])
    expect(told(observe(step[0], held('3'), owed, 3_000))).toEqual([])
    expect(told(observe(step[0], stored(), owed, 3_000))).toEqual([])
  })

  test('the glass of a stored object is broken in the store, and not here', () => {
    const waiting = after(stored(anObject('a')), stored(anObject('a', deleting)))
    expect(breakGlass(waiting, 'a', owed)).toEqual([waiting, []])
  })

  test('an object whose spec is not valid has no route, and is guarded and let go like any other', () => {
    const seen = (object: StoredObject): Seen => ({ routes: [], objects: [object] })
    const guarded = after(seen(anObject('a')))
    expect(show(guarded)).toEqual({ a: 'Serving' })
    expect(inService(guarded, seen(anObject('a')))).toEqual([])
    expect(show(after(seen(anObject('a', bare))))).toEqual({ a: 'Guarding' })
    const [settling] = observe(guarded, seen(anObject('a', deleting)), clear, 1_000)
    expect(show(lookAgain(settling, clear, 1_000 + settleMs)[0])).toEqual({ a: 'Releasing *' })
  })

  test('what was seen last is what is written over', () => {
    const changed = anObject('a', { resourceVersion: '2', generation: 2 })
    const record = after(stored(anObject('a')), stored(changed)).records.get('a')
    expect([record?.object, record?.generation]).toEqual([changed, 2])
  })
})

describe('in a source without finalizers', () => {
  test('everything that is there is served', () => {
    expect(inService(noDeletions, plain('a', 'b'))).toEqual(['a', 'b'])
    expect(show(after(plain('a', 'b')))).toEqual({ a: 'Serving', b: 'Serving' })
  })

  test('what leaves is deleted, and forgotten once it is proven gone', () => {
    const gone = observe(after(plain('a', 'b')), plain('b'), owed, 1_000)
    expect([show(gone[0]), told(gone)]).toEqual([{ a: 'Waiting *', b: 'Serving' }, ['a Withdrawn']])
    const [settling] = lookAgain(gone[0], clear, 2_000)
    const proven = lookAgain(settling, clear, 2_000 + settleMs)
    expect([show(proven[0]), told(proven)]).toEqual([{ b: 'Serving' }, ['a Proven']])
    expect(proven[0].pending.size).toBe(0)
  })

  test('what comes back while it waits is served again, and deleted anew when it leaves anew', () => {
    const gone = after(plain('a'), plain())
    expect(inService(gone, plain('a'))).toEqual(['a'])
    const called = observe(gone, plain('a'), owed, 3_000)
    const [back] = called
    expect([show(back), told(called)]).toEqual([{ a: 'Serving' }, ['a CalledOff']])
    expect(told(observe(back, plain('a'), owed, 3_500))).toEqual([])
    const again = observe(back, plain(), owed, 4_000)
    expect(told(again)).toEqual(['a Withdrawn'])
    expect(again[0].records.get('a')?.state).toMatchObject({ _tag: 'Waiting', sinceMs: 4_000 })
  })

  test('somebody may wait no more; then it is over, and who had not confirmed is told', () => {
    const step = breakGlass(after(plain('a'), plain()), 'a', owed)
    expect([show(step[0]), told(step)]).toEqual([{}, ['a GlassBroken']])
  })

  test('nobody waits for what is served, or is not known: there is no glass to break', () => {
    const state = after(plain('a'))
    expect(breakGlass(state, 'a', owed)).toEqual([state, []])
    expect(breakGlass(state, 'b', owed)).toEqual([state, []])
  })
})

describe('a write', () => {
  const releasing = (): Deletions => {
    const [settling] = observe(
      after(stored(anObject('a'))),
      stored(anObject('a', deleting)),
      clear,
      0,
    )
    return lookAgain(settling, clear, settleMs)[0]
  }

  test('that succeeds is noted, and what is released is looked at no more', () => {
    const state = noteWritten(releasing(), 'a', 'Release', undefined)
    expect(show(state)).toEqual({ a: 'Released *' })
    const asked: Array<string> = []
    const [next] = lookAgain(state, (uid) => (asked.push(uid), owed()), 9_000)
    expect([next, asked]).toEqual([state, []])
    expect(next).toBe(state)
  })

  test('that is not wanted, or of an object that is not known, changes nothing', () => {
    const state = releasing()
    expect(noteWritten(state, 'a', 'Guard', 'no')).toBe(state)
    expect(noteWritten(state, 'b', 'Release', undefined)).toBe(state)
  })

  test('that is released counts as pending until it has vanished', () => {
    const state = noteWritten(releasing(), 'a', 'Release', undefined)
    const step = observe(state, stored(), owed, 9_000)
    expect([show(step[0]), told(step), step[0].pending.size]).toEqual([{}, [], 0])
  })
})

describe('what it costs', () => {
  const objects = [
    anObject('live'),
    anObject('bare', bare),
    anObject('gone', deleting),
    anObject('gone-too', deleting),
  ]

  test('what has not changed is the same reference, in an observation and in a look', () => {
    const before = after(stored(...objects))
    expect(observe(before, stored(...objects), owed, 9_000)[0]).toBe(before)
    expect(lookAgain(before, owed, 9_000)[0]).toBe(before)
  })

  test('only what has changed is another record', () => {
    const before = after(stored(...objects))
    const changed = anObject('live', { resourceVersion: '2' })
    const [next] = observe(before, stored(changed, ...objects.slice(1)), owed, 9_000)
    expect([...next.records].filter(([uid, of]) => before.records.get(uid) !== of)).toEqual([
      ['live', { ...before.records.get('live'), object: changed }],
    ])
    expect(next.pending).toBe(before.pending)
  })

  test('a look asks for what is pending, each once, and for one alone where that is meant', () => {
    const state = after(stored(...objects))
    const asked: Array<string> = []
    const of = (uid: string): Evidence => (asked.push(uid), owed())
    lookAgain(state, of, 9_000)
    expect(asked).toEqual(['gone', 'gone-too'])
    asked.length = 0
    lookAgain(state, of, 9_000, 'gone-too')
    lookAgain(state, of, 9_000, 'live')
    lookAgain(state, of, 9_000, 'nobody')
    expect(asked).toEqual(['gone-too'])
  })

  test('the states that were given out before stay as they were', () => {
    const before = after(stored(...objects))
    const shown = JSON.stringify([...before.records])
    observe(before, stored(), owed, 9_000)
    lookAgain(before, clear, 9_000)
    expect(JSON.stringify([...before.records])).toBe(shown)
    expect([...before.pending]).toEqual(['gone', 'gone-too'])
  })
})

test('the next timer is the first of those that settle, or that are to be told of', () => {
  const served = after(stored(anObject('a')))
  expect(nextDeletionsTimer(served)).toBeUndefined()
  expect(nextDeletionsTimer(after(stored(anObject('a', deleting))))).toBe(patienceMs)
  const [first] = observe(noDeletions, stored(anObject('a', deleting)), clear, 10)
  const both = stored(anObject('a', deleting), anObject('b', deleting))
  const [second] = observe(first, both, clear, 30)
  expect(nextDeletionsTimer(second)).toBe(10 + settleMs)
})
