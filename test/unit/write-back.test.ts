import * as E from 'fp-ts/lib/Either.js'
import { memoryLogger, memoryMetrics, virtualClock } from 'edgewright/memory'
import { afterEach, describe, expect, test } from 'vitest'
import type { DeletionState, NotYet } from '../../src/core/deletion.js'
import type { DeletionRecord } from '../../src/core/deletions.js'
import type { StoredObject } from '../../src/core/stored-object.js'
import type { Verdict } from '../../src/core/verdict.js'
import { backoffMs } from '../../src/host/backoff.js'
import { repeatEveryMs } from '../../src/host/repeated-lines.js'
import { storeAnswerMs } from '../../src/host/timed-store.js'
import {
  conditionsDelayMs,
  deletionDelayMs,
  lastWritesMs,
  maxWrites,
  writeBack,
} from '../../src/host/write-back.js'
import type { RouteStore } from '../../src/ports/route-store.js'
import { type Journal, scriptedStore, settled } from '../support/deletion-stage.js'
import { anObject, bare, deleting } from '../support/stored-objects.js'

const closing: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const guarding: DeletionState = { _tag: 'Guarding', failure: undefined }
const serving: DeletionState = { _tag: 'Serving', isGuarded: true, failure: undefined }
/** Both a finalizer and conditions are to be written. */
const unguarded: DeletionState = { _tag: 'Serving', isGuarded: false, failure: undefined }
const releasing = { _tag: 'Releasing', sinceMs: 0, returns: 0, failure: undefined } as const

const owed: NotYet = { _tag: 'Owed', nodes: ['envoy'], nodeCount: 1 }

const recordOf = (object: StoredObject, state: DeletionState): DeletionRecord => {
  const { key, uid, generation } = object
  return { key, uid, generation, object, state }
}

const verdictOf = ({ key, uid, generation }: StoredObject): Verdict => ({
  key,
  uid,
  generation,
  accepted: { _tag: 'Accepted' },
  unresolved: [],
})

/** Writes of objects whose states the test sets. */
const start = (storeOf = (store: RouteStore): RouteStore => store) => {
  const journal: Journal = []
  const world = scriptedStore(journal)
  const clock = virtualClock()
  const logger = memoryLogger()
  const metrics = memoryMetrics()
  const records = new Map<string, DeletionRecord>()
  const verdicts = new Map<string, Verdict>()
  const written: Array<string> = []
  const looks: Array<string> = []
  let onLook: (uid: string) => void = () => undefined
  const writes = writeBack({
    store: storeOf(world.store),
    ...{ clock, logger, metrics },
    random: () => 0,
    recordOf: (uid) => records.get(uid),
    verdictOf: (uid) => verdicts.get(uid),
    lookAt: (uid) => {
      looks.push(uid)
      onLook(uid)
    },
    onWritten: (uid, write, failure) => void written.push(`${write} ${uid} ${failure ?? 'ok'}`),
  })
  closing.push(async () => {
    await world.answer()
    await writes.close()
  })
  const put = (object: StoredObject, state: DeletionState): void => {
    world.put(object)
    records.set(object.uid, recordOf(object, state))
    verdicts.set(object.uid, verdictOf(object))
  }
  const pass = async (ms = 0): Promise<void> => {
    await settled()
    clock.advance(ms)
    await settled()
  }
  return {
    ...{ journal, world, clock, logger, metrics, records, written, looks, writes, put, pass },
    onLooks: (next: (uid: string) => void) => {
      onLook = next
    },
  }
}

describe('a finalizer', () => {
  test('is added and taken off as it is wanted when its turn comes, and that is told', async () => {
    const made = start()
    made.put(anObject('a', bare), guarding)
    made.put(anObject('b', deleting), releasing)
    made.put(anObject('c'), serving)
    for (const uid of ['a', 'b', 'c', 'nobody']) made.writes.finalizer(uid)
    await made.pass()
    expect(made.journal).toEqual(['guard a', 'release b'])
    expect(made.written).toEqual(['Guard a ok', 'Release b ok'])
  })

  test('is taken off only after one more look, which may show that it must not be', async () => {
    const made = start()
    made.put(anObject('a', deleting), releasing)
    made.put(anObject('b', bare), guarding)
    made.onLooks((uid) => made.records.delete(uid))
    made.writes.finalizer('a')
    made.writes.finalizer('b')
    await made.pass()
    expect(made.looks).toEqual(['a'])
    expect(made.journal).toEqual(['guard b'])
  })

  test('of an object in a source without a store is never written', async () => {
    const made = start()
    const record = recordOf(anObject('a', bare), guarding)
    made.records.set('a', { ...record, object: undefined })
    made.writes.finalizer('a')
    await made.pass()
    expect(made.journal).toEqual([])
  })

  test('that meets a conflict tells nothing, and is tried with what is there then', async () => {
    const made = start()
    made.put(anObject('a', bare), guarding)
    made.world.change('a', { generation: 2 })
    made.writes.finalizer('a')
    await made.pass()
    expect(made.written).toEqual([])
    const { objects } = made.world
    const present = objects.get('a') ?? anObject('none')
    made.records.set('a', recordOf(present, guarding))
    await made.pass(backoffMs(1, 0))
    expect(made.written).toEqual(['Guard a ok'])
    expect(made.logger.entries()).toEqual([])
  })
})

test('a finalizer that met conflicts is tried at once with each version that is seen, and with none twice', async () => {
  const made = start()
  made.put(anObject('a', bare), guarding)
  for (let round = 1; round <= 8; round += 1) {
    made.world.change('a', { generation: round })
    made.writes.finalizer('a', true)
    await made.pass()
    expect(made.journal).toHaveLength(round)
    const seen = made.world.objects.get('a') ?? anObject('none')
    made.records.set('a', recordOf(seen, guarding))
  }
  expect(made.written).toEqual([])
  made.writes.finalizer('a', true)
  await made.pass()
  expect(made.written).toEqual(['Guard a ok'])
})

describe('a release that waits for its turn in the store', () => {
  /** A store in which releases wait for `let go`. */
  const waiting = () => {
    const turns: Array<() => void> = []
    const made = start((store) => ({
      ...store,
      release: (object, isProven) => async () => {
        await new Promise<void>((resolve) => turns.push(resolve))
        return isProven?.() === false
          ? E.left({ _tag: 'Unproven', message: 'not sent' })
          : store.release(object)()
      },
    }))
    made.put(anObject('a', deleting), releasing)
    made.writes.finalizer('a')
    const takeTurn = async (): Promise<void> => {
      await made.pass()
      for (const resolve of turns.splice(0)) resolve()
      await made.pass()
    }
    return { ...made, takeTurn }
  }

  test('is sent if the Envoys, asked once more, have still let go', async () => {
    const made = waiting()
    await made.takeTurn()
    expect(made.looks).toEqual(['a', 'a'])
    expect(made.journal).toEqual(['release a'])
    expect(made.written).toEqual(['Release a ok'])
  })

  test('is not sent if they have not, is no failure, and is sent once it is proven again', async () => {
    const made = waiting()
    await made.pass()
    made.onLooks((uid) => {
      const waits: DeletionState = { _tag: 'Waiting', sinceMs: 0, waitsFor: owed }
      made.records.set(uid, recordOf(anObject(uid, deleting), waits))
    })
    await made.takeTurn()
    await made.pass(60_000)
    expect([made.journal, made.written, made.logger.entries()]).toEqual([[], [], []])
    made.onLooks(() => undefined)
    made.put(anObject('a', deleting), releasing)
    made.writes.finalizer('a')
    await made.takeTurn()
    expect(made.written).toEqual(['Release a ok'])
  })

  test('is not sent if its object has gone meanwhile, or nothing is known any more', async () => {
    const made = waiting()
    await made.pass()
    made.records.delete('a')
    await made.takeTurn()
    expect(made.journal).toEqual([])
  })
})

describe('failures are told', () => {
  const failed = 'a write to the store failed, and is tried again'

  /** How many objects each line speaks for, by what was written. */
  const linesOf = ({ logger }: ReturnType<typeof start>): ReadonlyArray<string> =>
    logger
      .entries()
      .filter(({ message }) => message === failed)
      .map(({ fields }) => `${String(fields['write'])} ${String(fields['times'] ?? 'first')}`)

  test('of an outage by a few lines, which leave none out, however many writes fail', async () => {
    const fail = () => () =>
      Promise.resolve(E.left({ _tag: 'Unavailable', message: 'no answer' } as const))
    const made = start(() => ({ guard: fail, release: fail, writeConditions: fail }))
    const count = 500
    for (let i = 0; i < count; i += 1) {
      made.put(anObject(`object-${i}`, bare), unguarded)
      made.writes.finalizer(`object-${i}`)
      made.writes.conditions(`object-${i}`, false)
    }
    const failuresOf = (write: string): number =>
      made.metrics.value('edgewright_writes_total', { write, result: 'Unavailable' }) ?? 0
    for (let step = 0; step < 60; step += 1) await made.pass(repeatEveryMs / 20)
    await made.writes.close()
    expect(failuresOf('Guard')).toBeGreaterThan(count)
    for (const write of ['Guard', 'Conditions']) {
      const told = linesOf(made).filter((line) => line.startsWith(write))
      const times = told.map((line) => line.replace(`${write} `, '').replace('first', '1'))
      expect(told[0]).toBe(`${write} first`)
      expect(told.length).toBeLessThanOrEqual(5)
      expect(times.reduce((sum, each) => sum + Number(each), 0)).toBe(failuresOf(write))
    }
    expect(made.clock.waiting()).toBe(0)
  })

  test('at once for each kind of write and of failure', async () => {
    const made = start()
    made.world.meet('Unavailable', 'Refused')
    for (const uid of ['a', 'b']) {
      made.put(anObject(uid, bare), guarding)
      made.writes.finalizer(uid)
    }
    await made.pass()
    expect(made.logger.entries()).toMatchObject([
      {
        level: 'warn',
        message: failed,
        fields: { uid: 'a', problem: 'the store says Unavailable' },
      },
      { level: 'warn', message: failed, fields: { uid: 'b', problem: 'the store says Refused' } },
    ])
  })
})

describe('conditions', () => {
  test('wait a moment, and longer for what is being deleted', async () => {
    const made = start()
    made.put(anObject('a'), serving)
    made.put(anObject('b'), serving)
    made.writes.conditions('a', false)
    made.writes.conditions('b', true)
    await made.pass(conditionsDelayMs - 1)
    expect(made.journal).toEqual([])
    await made.pass(1)
    expect(made.journal).toEqual(['conditions a'])
    await made.pass(deletionDelayMs - conditionsDelayMs)
    expect(made.journal).toEqual(['conditions a', 'conditions b'])
  })

  test('are written once more where others have put some of theirs beside them', async () => {
    const made = start()
    made.put(anObject('a'), serving)
    made.writes.conditions('a', false)
    await made.pass(conditionsDelayMs)
    await made.world.answer()
    const conditions = made.world.objects.get('a')?.conditions ?? []
    made.put(anObject('a', { conditions, resourceVersion: '2' }), serving)
    made.writes.conditions('a', false)
    await made.pass(conditionsDelayMs)
    expect(made.journal).toEqual(['conditions a'])
    const hasForeignConditions = true
    made.put(anObject('a', { conditions, resourceVersion: '3', hasForeignConditions }), serving)
    made.writes.conditions('a', false)
    await made.pass(conditionsDelayMs)
    expect(made.journal).toEqual(['conditions a', 'conditions a'])
    await made.world.answer()
    // What was given is not given again before it is seen.
    made.writes.conditions('a', false)
    await made.pass(conditionsDelayMs)
    expect(made.journal).toHaveLength(2)
  })

  test('ask no Envoy', async () => {
    const made = start()
    made.put(anObject('a', deleting), {
      _tag: 'Releasing',
      sinceMs: 0,
      returns: 0,
      failure: 'refused',
    })
    made.writes.conditions('a', true)
    await made.pass(deletionDelayMs)
    expect([made.journal, made.looks]).toEqual([['conditions a'], []])
  })

  test('wait for the finalizer that an object is about to get', async () => {
    const made = start()
    made.put(anObject('a', bare), guarding)
    made.writes.conditions('a', false)
    await made.pass(conditionsDelayMs)
    expect(made.journal).toEqual([])
    made.put(anObject('a', bare), { ...guarding, failure: 'it is forbidden' })
    made.writes.conditions('a', false)
    await made.pass(conditionsDelayMs)
    expect(made.journal).toEqual(['conditions a'])
  })

  test('give no new version to what is about to go, whose release would meet a conflict', async () => {
    const made = start()
    const settling = { _tag: 'Settling', sinceMs: 0, clearSinceMs: 0, returns: 0 } as const
    made.put(anObject('a', deleting), settling)
    made.put(anObject('b', deleting), releasing)
    for (const uid of ['a', 'b']) made.writes.conditions(uid, false)
    await made.pass(conditionsDelayMs)
    expect(made.journal).toEqual([])
    made.put(anObject('a', deleting), { _tag: 'Waiting', sinceMs: 0, waitsFor: owed })
    made.writes.conditions('a', false)
    await made.pass(conditionsDelayMs)
    expect(made.journal).toEqual(['conditions a'])
  })
})

test('what is released gets no conditions before it is seen that others hold it', async () => {
  const made = start()
  const released = { _tag: 'Released', sinceMs: 0 } as const
  made.put(anObject('a', deleting), released)
  made.writes.conditions('a', true)
  await made.pass(deletionDelayMs)
  expect(made.journal).toEqual([])
  made.put(anObject('a', { ...deleting, finalizers: ['other'] }), released)
  made.writes.conditions('a', true)
  await made.pass(deletionDelayMs)
  expect(made.journal).toEqual(['conditions a'])
})

describe('at once', () => {
  test('no more than a few writes are under way', async () => {
    const made = start()
    made.world.hold()
    const uids = Array.from({ length: 3 * maxWrites }, (_, i) => `object-${i}`)
    for (const uid of uids) {
      made.put(anObject(uid, bare), guarding)
      made.writes.finalizer(uid)
    }
    await made.pass()
    expect(made.journal).toHaveLength(maxWrites)
    await made.world.answer()
    expect(made.journal).toHaveLength(uids.length)
  })

  test('one write of an object is under way, whichever comes first', async () => {
    for (const isFinalizerFirst of [true, false]) {
      const made = start()
      made.put(anObject('a', bare), unguarded)
      made.world.hold()
      if (isFinalizerFirst) made.writes.finalizer('a')
      made.writes.conditions('a', false)
      await made.pass(conditionsDelayMs)
      made.writes.finalizer('a')
      await made.pass(conditionsDelayMs)
      expect(made.journal).toHaveLength(1)
      await made.world.answer()
      expect(made.journal.length).toBeGreaterThan(1)
      expect(made.world.mostAtOnce()).toBe(1)
    }
  })

  test('no finalizer waits for the conditions of others, however many there are', async () => {
    const made = start()
    made.world.hold()
    for (let i = 0; i < 3 * maxWrites; i += 1) {
      made.put(anObject(`object-${i}`), serving)
      made.writes.conditions(`object-${i}`, false)
    }
    await made.pass(conditionsDelayMs)
    expect(made.journal).toHaveLength(maxWrites)
    made.put(anObject('last', deleting), releasing)
    made.writes.finalizer('last')
    await made.pass()
    expect(made.journal.slice(maxWrites)).toEqual(['release last'])
  })
})

test('once it is closed nothing begins, not even what waits for another write of its object', async () => {
  const made = start()
  made.put(anObject('a', bare), guarding)
  made.put(anObject('b', bare), guarding)
  made.world.hold()
  made.writes.finalizer('a')
  made.writes.conditions('a', false)
  made.writes.conditions('b', true)
  await made.pass(conditionsDelayMs)
  const closed = made.writes.close()
  made.writes.finalizer('b')
  await made.world.answer()
  await closed
  await made.pass(60_000)
  expect(made.journal).toEqual(['guard a'])
  expect(made.clock.waiting()).toBe(0)
})

describe('a store that never answers', () => {
  test('keeps nobody from a turn for longer than a write may take, and counts as unavailable', async () => {
    const made = start()
    made.world.hold()
    const uids = Array.from({ length: maxWrites + 1 }, (_, i) => `object-${i}`)
    for (const uid of uids) {
      made.put(anObject(uid, bare), guarding)
      made.writes.finalizer(uid)
    }
    await made.pass(storeAnswerMs - 1)
    expect(made.journal).toHaveLength(maxWrites)
    expect(made.written).toEqual([])
    await made.pass(1)
    expect(made.journal.slice(maxWrites)).toEqual([`guard object-${maxWrites}`])
    expect(made.written).toEqual(
      uids.slice(0, maxWrites).map((uid) => `Guard ${uid} no answer within 30 s`),
    )
  })

  test('does not hold up the end for longer than the last writes may take', async () => {
    const made = start()
    made.world.hold()
    made.put(anObject('a', bare), guarding)
    made.writes.finalizer('a')
    await made.pass()
    let isClosed = false
    void made.writes.close().then(() => (isClosed = true))
    await made.pass(lastWritesMs - 1)
    expect(isClosed).toBe(false)
    await made.pass(1)
    expect(isClosed).toBe(true)
    expect(made.clock.waiting()).toBe(0)
  })
})

test('a write that throws is told of, is tried again, and harms no other object', async () => {
  const broken = start()
  broken.onLooks(() => {
    throw new Error('a bug in the adapter')
  })
  broken.put(anObject('a', deleting), releasing)
  broken.put(anObject('b', bare), guarding)
  broken.writes.finalizer('a')
  broken.writes.finalizer('b')
  await broken.pass()
  expect(broken.journal).toEqual(['guard b'])
  expect(broken.logger.entries()).toMatchObject([
    { level: 'error', fields: { uid: 'a', error: 'Error: a bug in the adapter' } },
  ])
  broken.onLooks(() => undefined)
  await broken.pass(backoffMs(1, 0))
  expect(broken.journal).toEqual(['guard b', 'release a'])
})
