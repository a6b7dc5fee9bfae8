import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSettled, wants } from '../../src/adapters/k8s/reflector/selection.js'
import { heldBy, plan, play } from '../support/k8s-reflector-play.js'

const named = (objects: ReadonlyArray<{ readonly name: string }>) =>
  Object.fromEntries(objects.map((object) => [object.name, object]))

test('whatever went wrong, after quiet what is held is what the server has, as far as it is wanted', () => {
  const holds = fc.property(plan, (each) => {
    const { last, server, isQuiet } = play(each)
    expect(isQuiet).toBe(true)
    expect(last.isSynced).toBe(true)
    const wanted = server.objects().filter(({ group }) => wants(last.selection, group))
    expect(named(heldBy(last))).toEqual(named(wanted))
    if (each.selects)
      for (const { group } of wanted) expect(isSettled(last.selection, group)).toBe(true)
  })
  fc.assert(holds, { numRuns: 2_000 })
})

test('nothing is told that never was: each object stood on the server in that form, under that uid', () => {
  const holds = fc.property(plan, (each) => {
    const { told, server } = play(each)
    for (const { changes, logLength } of told) {
      const was = new Map(
        server
          .log()
          .slice(0, logLength)
          .filter(({ type }) => type !== 'DELETED')
          .map(({ object }) => [object.resourceVersion, object]),
      )
      for (const { _tag, object } of changes) {
        if (_tag === 'Deleted') continue
        const { value: content, ...rest } = object
        expect({ ...rest, content }).toEqual(was.get(object.resourceVersion))
      }
    }
  })
  fc.assert(holds, { numRuns: 1_000 })
})

test('what is told adds up to what is held: added where nothing was, modified under its uid, deleted where it was', () => {
  const holds = fc.property(plan, (each) => {
    const known = new Map<string, { readonly uid: string; readonly resourceVersion: string }>()
    for (const { changes, state } of play(each).told) {
      for (const change of changes) {
        const before = known.get(change.object.name)
        switch (change._tag) {
          case 'Added':
            expect(before).toBeUndefined()
            known.set(change.object.name, change.object)
            break
          case 'Modified':
            expect(before).toBe(change.before)
            expect(before?.uid).toBe(change.object.uid)
            expect(before?.resourceVersion).not.toBe(change.object.resourceVersion)
            known.set(change.object.name, change.object)
            break
          case 'Deleted':
            expect(before).toBe(change.object)
            known.delete(change.object.name)
        }
      }
      expect(known.size).toBe(heldBy(state).length)
    }
  })
  fc.assert(holds, { numRuns: 1_000 })
})

test('an object is told as deleted only when the server has deleted it, and never comes back; forms never grow older', () => {
  const holds = fc.property(plan, (given) => {
    const { told, server } = play({ ...given, selects: false })
    const gone = new Set<string>()
    const newest = new Map<string, number>()
    const revisionOf = new Map(
      server.log().map(({ object, revision }) => [object.resourceVersion, revision]),
    )
    for (const { changes, logLength } of told)
      for (const { _tag, object } of changes) {
        const log = server.log().slice(0, logLength)
        expect(gone).not.toContain(object.uid)
        if (_tag === 'Deleted') {
          gone.add(object.uid)
          const ends = log.filter(({ type }) => type === 'DELETED')
          expect(ends.map((end) => end.object.uid)).toContain(object.uid)
          continue
        }
        const revision = revisionOf.get(object.resourceVersion) ?? 0
        expect(revision).toBeGreaterThan(newest.get(object.name) ?? 0)
        newest.set(object.name, revision)
      }
  })
  fc.assert(holds, { numRuns: 1_000 })
})

test('before the first complete list nothing is told, and afterwards what is held is never given up for a while', () => {
  const holds = fc.property(plan, (given) => {
    let wasSynced = false
    for (const { changes, state } of play({ ...given, selects: false }).told) {
      if (wasSynced) expect(state.isSynced).toBe(true)
      if (!state.isSynced) expect(changes).toEqual([])
      wasSynced = state.isSynced
    }
  })
  fc.assert(holds, { numRuns: 300 })
})

test('the same plan is played the same way, and news of a request that is over changes nothing', () => {
  const holds = fc.property(plan, (each) => {
    expect(play(each).told).toEqual(play(each).told)
  })
  fc.assert(holds, { numRuns: 200 })
})
