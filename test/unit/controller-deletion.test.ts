import { memoryControlPlane, memoryLogger, virtualClock } from 'edgewright/memory'
import { startController } from 'edgewright/host'
import { afterEach, describe, expect, test } from 'vitest'
import { type NotYet, settleMs } from '../../src/core/deletion.js'
import { listeners } from '../../src/core/listeners.js'
import { lagGraceMs } from '../../src/core/programmed.js'
import type { ConditionType } from '../../src/core/status.js'
import { finalizer } from '../../src/core/stored-object.js'
import { backoffMs, maxBackoffMs } from '../../src/host/backoff.js'
import { proofDelayMs } from '../../src/host/follow-ledger.js'
import { conditionsDelayMs, deletionDelayMs } from '../../src/host/write-back.js'
import type { DeletionProof } from '../../src/ports/deletion-proof.js'
import type { SourceProblem } from '../../src/ports/route-source.js'
import { scriptedSource, settled, type Stage, stage } from '../support/deletion-stage.js'
import { anObject, bare, deleting, routeOf } from '../support/stored-objects.js'
import { uidsIn } from '../support/uids-in.js'

const running: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const stop of running.splice(0)) await stop()
})

const started = (...given: Parameters<typeof stage>): Stage => {
  const made = stage(...given)
  running.push(made.stop)
  return made
}

/** These objects are guarded and served, an Envoy has them, and everything is said of them. */
const served = async (...names: ReadonlyArray<string>): Promise<Stage> => {
  const made = started()
  for (const name of names) made.world.put(anObject(name))
  await made.sync()
  made.envoys.holds(...names)
  await made.pass(deletionDelayMs)
  await made.sync()
  await made.pass(deletionDelayMs)
  made.done()
  made.logger.clear()
  return made
}

const del = async ({ world, sync }: Stage, ...names: ReadonlyArray<string>): Promise<void> => {
  for (const name of names) world.change(name, deleting)
  await sync()
}

const stateOf = ({ controller }: Stage, uid: string): string | undefined =>
  controller.state().deletions.records.get(uid)?.state._tag

const conditionsOf = ({ world }: Stage, uid: string): ReadonlyArray<string> =>
  (world.objects.get(uid)?.conditions ?? []).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  )

const writesIn = (done: ReadonlyArray<string>): ReadonlyArray<string> =>
  done.filter((entry) => !entry.startsWith('publish') && !entry.startsWith('demand'))

describe('serving', () => {
  test('begins when the object is seen with our finalizer, which is asked for first', async () => {
    const made = started()
    made.world.put(anObject('a', bare))
    await made.sync()
    expect(made.done()).toEqual(['publish ', 'guard a'])
    await made.sync()
    expect(made.done()[0]).toBe('publish a')
    expect(made.world.objects.get('a')?.finalizers).toEqual([finalizer])
  })

  test('is not taken back by a restart: what is said to be programmed is, until an Envoy says otherwise', async () => {
    const before = await served('a', 'b')
    const said = [...before.world.objects.values()]
    expect(conditionsOf(before, 'a')).toContain('Programmed=True Programmed')
    const made = started()
    for (const object of said) made.world.put(object)
    made.envoys.lost()
    await made.sync()
    await made.pass(conditionsDelayMs)
    expect(made.done()).toEqual(['publish a,b'])
    made.envoys.holds('a', 'b')
    await made.pass(lagGraceMs)
    await made.pass(conditionsDelayMs)
    expect(made.done()).toEqual([])
    made.world.change('a', { generation: 2 })
    await made.sync()
    await made.pass(lagGraceMs)
    await made.pass(lagGraceMs)
    expect(conditionsOf(made, 'a')).toContain('Programmed=False Lagging')
  })

  test('is of its own data planes: what others serve it does not write to, nor let go of', async () => {
    const made = started()
    const dataPlane = 'internal'
    made.world.put(anObject('a'))
    made.world.put(anObject('b', { ...bare, dataPlane }))
    made.world.put(anObject('c', { dataPlane }))
    made.world.put(anObject('d', { ...deleting, dataPlane }))
    const spoilt = { namespace: 'test', name: 'c' }
    await made.sync([{ where: 'test/c', key: spoilt, errors: [], keepsLastGood: false }])
    await made.pass(conditionsDelayMs)
    await made.pass(deletionDelayMs + settleMs)
    expect(made.done()).toEqual(['publish a', 'conditions a'])
    expect([...made.world.objects.keys()]).toEqual(['a', 'b', 'c', 'd'])
    expect(made.logger.entries().filter(({ level }) => level !== 'info')).toEqual([])
  })

  test('waits where the finalizer cannot be written, and the object says so', async () => {
    const made = started()
    made.world.put(anObject('a', bare))
    made.world.meet('Refused', 'Refused')
    await made.sync()
    await made.pass(backoffMs(1, 0))
    await made.pass(conditionsDelayMs - backoffMs(1, 0))
    expect(conditionsOf(made, 'a')).toEqual(['Accepted=False Unguarded'])
    expect(made.world.objects.get('a')?.conditions[0]?.message).toContain('the store says Refused')
    expect(made.done()).toEqual(['publish ', 'guard a', 'guard a', 'conditions a'])
  })

  test('goes on for an object that loses our finalizer, which it gets back', async () => {
    const made = await served('a')
    made.world.change('a', bare)
    await made.sync()
    expect(made.done()).toEqual(['guard a'])
    expect(made.world.objects.get('a')?.finalizers).toEqual([finalizer])
    expect(stateOf(made, 'a')).toBe('Serving')
  })

  test('one guard is enough: what is written is not written again before it is seen', async () => {
    const made = started()
    const lacking = anObject('a', bare)
    made.world.put(lacking)
    await made.sync()
    made.emit({
      routes: [routeOf(anObject('b'))],
      objects: [lacking, anObject('b')],
      problems: [],
    })
    await made.pass()
    await made.pass(proofDelayMs)
    expect(stateOf(made, 'a')).toBe('Guarding')
    expect(stateOf(made, 'b')).toBe('Serving')
    expect(made.done().filter((entry) => entry === 'guard a')).toHaveLength(1)
  })

  test('an object that is not valid is guarded, and told what is wrong', async () => {
    const made = started()
    made.world.put(anObject('a'))
    const errors = [{ path: 'spec.matches', message: 'must not be empty' }]
    const problem: SourceProblem = {
      where: 'test/a',
      key: { namespace: 'test', name: 'a' },
      errors,
      keepsLastGood: false,
    }
    await made.sync([problem])
    await made.pass(conditionsDelayMs)
    expect(conditionsOf(made, 'a')).toEqual(['Accepted=False Invalid'])
  })
})

describe('a deletion', () => {
  test('is published before any Envoy is asked, and its proof is demanded before the answer counts', async () => {
    const made = await served('a')
    made.journal.length = 0
    await del(made, 'a')
    expect(made.journal[0]).toBe('publish ')
    const demand = made.journal.indexOf('demand true')
    expect(demand).toBeGreaterThan(0)
    expect(made.journal.indexOf('evidence', demand)).toBeGreaterThan(demand)
    expect(stateOf(made, 'a')).toBe('Waiting')
  })

  test('does not count what was taken for proven before its proof was demanded', async () => {
    const made = started()
    const { envoys, world } = made
    world.put(anObject('a'))
    await made.sync()
    const demandAcks: DeletionProof['demandAcks'] = (isOn) => isOn && envoys.holds('a')
    const strict = started({
      deletion: { proof: { ...envoys.proof, demandAcks }, store: world.store },
    })
    strict.emit({ routes: [routeOf(anObject('a'))], objects: [anObject('a')], problems: [] })
    await strict.pass()
    strict.emit({ routes: [], objects: [anObject('a', deleting)], problems: [] })
    await strict.pass()
    expect(stateOf(strict, 'a')).toBe('Waiting')
  })

  test('is released when the Envoy has let go, and has had its moment, and not sooner', async () => {
    const made = await served('a')
    await del(made, 'a')
    await made.pass(10_000)
    expect(writesIn(made.done())).toEqual(['conditions a'])
    await made.sync()
    made.envoys.holds()
    await made.pass(proofDelayMs)
    expect(stateOf(made, 'a')).toBe('Settling')
    await made.pass(settleMs - 1)
    expect(made.done()).toEqual([])
    expect(made.world.objects.has('a')).toBe(true)
    await made.pass(1)
    expect(made.done()).toEqual(['release a'])
    expect(made.world.objects.has('a')).toBe(false)
    await made.sync()
    expect(made.done()).toEqual(['demand false'])
    expect(made.controller.state().deletions.records.size).toBe(0)
  })

  test('that no Envoy ever had settles all the same', async () => {
    const made = started()
    made.world.put(anObject('a'))
    await made.sync()
    await del(made, 'a')
    expect(stateOf(made, 'a')).toBe('Settling')
    await made.pass(settleMs)
    expect(made.world.objects.has('a')).toBe(false)
  })

  test('settles anew for an Envoy that comes meanwhile', async () => {
    const made = await served('a')
    await del(made, 'a')
    made.envoys.holds()
    await made.pass(proofDelayMs)
    await made.pass(settleMs / 2)
    made.envoys.join()
    await made.pass(proofDelayMs)
    await made.pass(settleMs - 1)
    expect(stateOf(made, 'a')).toBe('Settling')
    expect(writesIn(made.done())).toEqual([])
    await made.pass(1)
    expect(writesIn(made.done())).toEqual(['release a'])
  })

  test('is not released for what was proven: an Envoy that is back when its turn comes stops it', async () => {
    const made = await served('a')
    await del(made, 'a')
    made.envoys.holds()
    await made.pass(proofDelayMs)
    made.world.meet('Unavailable')
    await made.pass(settleMs)
    expect(writesIn(made.done())).toEqual(['release a'])
    made.envoys.holds('a')
    // Nobody has looked since when the pause is over: what is asked then counts.
    made.clock.advance(backoffMs(1, 0))
    await settled()
    expect(made.done()).toEqual([])
    expect(stateOf(made, 'a')).toBe('Waiting')
    made.envoys.holds()
    await made.pass(proofDelayMs)
    await made.pass(settleMs)
    await made.pass(maxBackoffMs)
    expect(made.world.objects.has('a')).toBe(false)
  })

  test('that is due when an Envoy comes back in the very same moment is not released', async () => {
    const made = await served('a')
    await del(made, 'a')
    made.envoys.holds()
    await made.pass(proofDelayMs)
    await settled()
    made.clock.advance(settleMs)
    // It is due now, and its turn comes when this turn is over.
    expect(stateOf(made, 'a')).toBe('Releasing')
    made.envoys.holds('a')
    await settled()
    expect(writesIn(made.done())).toEqual([])
    expect(stateOf(made, 'a')).toBe('Waiting')
  })

  test('of one waits for no other one', async () => {
    const made = await served('a', 'b')
    await del(made, 'a', 'b')
    made.envoys.holds('a')
    await made.pass(proofDelayMs)
    await made.pass(settleMs)
    expect(writesIn(made.done())).toEqual(['release b'])
    expect(stateOf(made, 'a')).toBe('Waiting')
  })

  test('demands proof once, and no more when nothing waits', async () => {
    const made = await served('a', 'b')
    const demands = (): ReadonlyArray<string> =>
      made.done().filter((entry) => entry.startsWith('demand'))
    await del(made, 'a')
    await del(made, 'b')
    expect(demands()).toEqual(['demand true'])
    made.envoys.holds()
    await made.pass(proofDelayMs)
    await made.pass(settleMs)
    expect(demands()).toEqual([])
    await made.sync()
    expect(demands()).toEqual(['demand false'])
  })

  test('of an object whose name is taken again is released, and the new object is served', async () => {
    const made = await served('a')
    await del(made, 'a')
    made.envoys.holds()
    await made.pass(proofDelayMs)
    await made.pass(settleMs)
    made.world.put(anObject('a', { uid: 'a2' }))
    await made.sync()
    expect(writesIn(made.done())).toEqual(['release a'])
    expect(made.controller.state().deletions.records.get('a2')?.state._tag).toBe('Serving')
    expect(stateOf(made, 'a')).toBeUndefined()
  })

  test('is not taken back by an older sighting', async () => {
    const made = await served('a')
    await del(made, 'a')
    made.done()
    made.emit({ routes: [routeOf(anObject('a'))], objects: [anObject('a')], problems: [] })
    await made.pass()
    expect(made.done()).toEqual([])
    expect(stateOf(made, 'a')).toBe('Waiting')
  })

  test('is settled by a process that knows nothing of it yet', async () => {
    const made = started()
    made.world.put(anObject('a', deleting))
    await made.sync()
    expect(made.done()).toEqual(['publish ', 'demand true'])
    await made.pass(settleMs)
    expect(made.done()).toEqual(['release a'])
  })

  test('keeps other people’s finalizers, and is no more pending without ours', async () => {
    const made = await served('a')
    const other = 'example.com/other'
    made.world.change('a', { finalizers: [finalizer, other], ...deleting })
    made.envoys.holds()
    await made.sync()
    await made.pass(settleMs)
    await made.sync()
    expect(made.world.objects.get('a')?.finalizers).toEqual([other])
    expect(stateOf(made, 'a')).toBe('Released')
    expect(made.controller.state().deletions.pending.size).toBe(0)
    expect(made.done().at(-1)).toBe('demand false')
  })
})

describe('what keeps everything from being released', () => {
  test('is named, and is asked again when it says so', async () => {
    const bell = listeners()
    let closed: NotYet | undefined = { _tag: 'RosterUnsaved', message: 'the disk is full' }
    const made = started({}, { notYet: () => closed, onChange: bell.listen })
    made.world.put(anObject('a', deleting))
    await made.sync()
    await made.pass(deletionDelayMs)
    expect(conditionsOf(made, 'a')).toEqual([
      'Accepted=False Terminating',
      'Deprogrammed=False RosterUnsaved',
    ])
    await made.sync()
    await made.pass(10_000)
    expect(writesIn(made.done())).toEqual(['conditions a'])
    closed = undefined
    bell.ring()
    await made.pass(proofDelayMs)
    await made.pass(settleMs)
    expect(made.world.objects.has('a')).toBe(false)
  })

  test('does not keep the process busy where its time has passed already', async () => {
    const closed: NotYet = { _tag: 'Starting', untilMs: 0 }
    const made = started({}, { notYet: () => closed, onChange: () => () => undefined })
    made.world.put(anObject('a', deleting))
    await made.sync()
    await made.pass(deletionDelayMs)
    await made.sync()
    await made.pass(deletionDelayMs)
    made.journal.length = 0
    await made.pass(60_000)
    expect(made.journal).toEqual([])
    // For the next audit, and nothing else.
    expect(made.clock.waiting()).toBe(1)
  })
})

describe('a write that fails', () => {
  const due = async (...names: ReadonlyArray<string>): Promise<Stage> => {
    const made = await served(...names)
    await del(made, ...names)
    made.envoys.holds()
    await made.pass(proofDelayMs)
    made.done()
    return made
  }

  test('is tried again with pauses that grow, while others go on', async () => {
    const made = await due('a', 'b')
    made.world.meet('Unavailable')
    await made.pass(settleMs)
    expect(made.done()).toEqual(['release a', 'release b'])
    expect([...made.world.objects.keys()]).toEqual(['a'])
    made.world.meet('Unavailable')
    await made.pass(backoffMs(1, 0))
    expect(made.done()).toEqual(['release a'])
    await made.pass(backoffMs(2, 0) - 1)
    expect(writesIn(made.done())).not.toContain('release a')
    await made.pass(1)
    expect(made.world.objects.has('a')).toBe(false)
  })

  test('is said by the object, and in the log and the figures', async () => {
    const made = await due('a')
    made.world.meet('Refused')
    await made.pass(settleMs)
    expect(made.controller.state().deletions.records.get('a')?.state).toMatchObject({
      _tag: 'Releasing',
      failure: 'the store says Refused',
    })
    expect(made.logger.entries().filter(({ level }) => level === 'warn')).toMatchObject([
      {
        message: 'a write to the store failed, and is tried again',
        fields: { where: 'test/a', uid: 'a', write: 'Release', problem: 'the store says Refused' },
      },
    ])
    const labels = { write: 'Release', result: 'Refused' }
    expect(made.metrics.value('edgewright_writes_total', labels)).toBe(1)
  })

  test('for a conflict counts as nothing: the object is held until a write over its present form succeeds', async () => {
    const made = await due('a')
    made.world.change('a', { generation: 2 })
    await made.pass(settleMs)
    expect(made.done()).toEqual(['release a'])
    expect(stateOf(made, 'a')).toBe('Releasing')
    expect(made.world.objects.has('a')).toBe(true)
    await made.sync()
    await made.pass(backoffMs(1, 0))
    expect(writesIn(made.done())).toContain('release a')
    expect(made.world.objects.has('a')).toBe(false)
  })

  test('is no proof that the object has gone, whatever kind of failure it was', async () => {
    for (const fate of ['Conflict', 'Refused', 'Unavailable'] as const) {
      const made = await due('a')
      made.world.meet(fate)
      await made.pass(settleMs)
      expect(stateOf(made, 'a')).toBe('Releasing')
      await made.pass(maxBackoffMs)
      expect(made.world.objects.has('a')).toBe(false)
    }
  })

  test('because the object is gone ends it', async () => {
    const made = await due('a')
    made.world.meet('NotFound')
    await made.pass(settleMs)
    expect(stateOf(made, 'a')).toBe('Released')
    await made.pass(maxBackoffMs)
    expect(writesIn(made.done()).filter((entry) => entry === 'release a')).toHaveLength(1)
  })

  test('and took effect all the same is found out by looking', async () => {
    const made = await due('a')
    made.world.meet('Lost')
    await made.pass(settleMs)
    expect([stateOf(made, 'a'), made.world.objects.has('a')]).toEqual(['Releasing', false])
    await made.sync()
    expect(stateOf(made, 'a')).toBeUndefined()
    expect(made.facts.map(({ fact }) => fact._tag)).toEqual(['Withdrawn', 'Proven'])
  })
})

describe('conditions', () => {
  test('are written where they differ, and then not again', async () => {
    const made = started()
    made.world.put(anObject('a'))
    await made.sync()
    made.envoys.holds('a')
    await made.pass(conditionsDelayMs)
    await made.pass(conditionsDelayMs)
    expect(writesIn(made.done())).toEqual(['conditions a'])
    expect(conditionsOf(made, 'a')).toEqual([
      'Accepted=True Accepted',
      'ResolvedRefs=True ResolvedRefs',
      expect.stringMatching(/^Programmed=/),
    ])
  })

  test('that were written are not written again while the source has not shown them', async () => {
    const made = started()
    made.world.put(anObject('a'))
    await made.sync()
    await made.pass(conditionsDelayMs)
    made.done()
    const [seen] = [anObject('a')]
    for (let i = 0; i < 3; i += 1) {
      made.emit({ routes: [routeOf(seen)], objects: [{ ...seen }], problems: [] })
      await made.pass(10 * conditionsDelayMs)
    }
    expect(made.done()).toEqual([])
    await made.sync()
    await made.pass(10 * conditionsDelayMs)
    expect(made.done()).toEqual([])
  })

  test('that somebody else has changed are put right', async () => {
    const made = await served('a')
    made.world.change('a', { conditions: [] })
    await made.sync()
    await made.pass(conditionsDelayMs)
    expect(made.done()).toEqual(['conditions a'])
  })

  test('of others are left alone, and are no reason to write', async () => {
    const made = await served('a')
    const { conditions = [] } = made.world.objects.get('a') ?? {}
    // A store may have any: other controllers have types that are not among ours.
    const other: string = 'Other'
    const foreign = conditions.map((ours) => ({ ...ours, type: other as ConditionType }))
    made.world.change('a', { conditions: [...conditions, ...foreign] })
    await made.sync()
    await made.pass(conditionsDelayMs)
    expect(made.done()).toEqual([])
  })

  test('of a deletion that is over within a moment are never written', async () => {
    const made = await served('a')
    await del(made, 'a')
    made.envoys.holds()
    await made.pass(proofDelayMs)
    await made.pass(settleMs)
    await made.sync()
    await made.pass(60_000)
    expect(writesIn(made.done())).toEqual(['release a'])
  })

  test('of a deletion say whom it waits for, at most once in a second, and change nothing while that stays', async () => {
    const made = await served('a')
    await del(made, 'a')
    for (let i = 0; i < 50; i += 1) {
      made.envoys.ring()
      await made.pass(deletionDelayMs / 10)
    }
    expect(writesIn(made.done())).toEqual(['conditions a'])
    expect(conditionsOf(made, 'a')).toEqual([
      'Accepted=False Terminating',
      'Deprogrammed=False WaitingForAck',
    ])
    expect(made.world.objects.get('a')?.conditions[1]?.message).toContain('envoy')
  })

  test('that cannot be written are tried again; a conflict is, too', async () => {
    for (const fate of ['Unavailable', 'Refused', 'Conflict'] as const) {
      const made = started()
      made.world.put(anObject('a'))
      made.world.meet(fate)
      await made.sync()
      await made.pass(conditionsDelayMs)
      expect(writesIn(made.done())).toEqual(['conditions a'])
      await made.pass(maxBackoffMs)
      expect(writesIn(made.done())).toEqual(['conditions a'])
      expect(conditionsOf(made, 'a')).not.toEqual([])
    }
  })

  test('of an object that is gone are no reason to try again', async () => {
    const made = started()
    made.world.put(anObject('a'))
    await made.sync()
    made.world.objects.clear()
    await made.pass(conditionsDelayMs)
    await made.pass(maxBackoffMs)
    expect(writesIn(made.done())).toEqual(['conditions a'])
  })

  test('wait for a write of our finalizer that is under way: of one object one write is, at a time', async () => {
    const made = await served('a')
    made.world.hold()
    made.world.change('a', bare)
    await made.sync()
    made.world.change('a', { conditions: [] })
    await made.sync()
    await made.pass(20_000)
    expect(made.done()).toEqual(['guard a'])
    await made.world.answer()
    expect(made.world.mostAtOnce()).toBe(1)
    expect(made.done()).toContain('conditions a')
  })
})

test('a write that met conflicts is tried at once when the object is seen in another version', async () => {
  const made = started()
  made.world.put(anObject('a', bare))
  made.world.meet(...Array.from({ length: 6 }, () => 'Conflict' as const))
  await made.sync()
  for (let generation = 2; generation < 8; generation += 1) {
    made.world.change('a', { generation })
    await made.sync()
  }
  expect(made.done().filter((entry) => entry === 'guard a')).toHaveLength(7)
  expect(made.clock.nowMs()).toBe(0)
})

describe('once the signal has aborted', () => {
  test('nothing is written any more, and it ends when what is under way is done', async () => {
    const made = await served('a', 'b')
    await del(made, 'a', 'b')
    made.envoys.holds('b')
    await made.pass(proofDelayMs)
    made.world.hold()
    await made.pass(settleMs)
    expect(writesIn(made.done())).toEqual(['release a'])
    let hasEnded = false
    void made.controller.finished.then(() => (hasEnded = true))
    made.abort.abort()
    made.envoys.holds()
    await made.pass(4_000)
    expect(hasEnded).toBe(false)
    await made.world.answer()
    await made.pass(60_000)
    expect(hasEnded).toBe(true)
    expect(made.done()).toEqual([])
    expect(made.clock.waiting()).toBe(0)
  })

  test('not even what was due in that moment is written', async () => {
    const made = await served('a')
    await del(made, 'a')
    made.envoys.holds()
    await made.pass(proofDelayMs)
    made.done()
    await settled()
    made.clock.advance(settleMs)
    expect(stateOf(made, 'a')).toBe('Releasing')
    made.abort.abort()
    await made.pass(60_000)
    expect(made.done()).toEqual([])
  })
})

describe('what is told', () => {
  test('of a deletion: that it was withdrawn, and that it is proven, in the log and in figures', async () => {
    const made = await served('a')
    await del(made, 'a')
    expect(made.metrics.value('edgewright_terminating')).toBe(1)
    made.envoys.holds()
    await made.pass(proofDelayMs)
    await made.pass(settleMs)
    await made.sync()
    expect(made.facts.map(({ record, fact }) => `${record.uid} ${fact._tag}`)).toEqual([
      'a Withdrawn',
      'a Proven',
    ])
    const lines = made.logger.entries().filter(({ fields }) => fields['uid'] === 'a')
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'deleted: served no more, and waits for every Envoy to confirm',
        fields: { where: 'test/a', uid: 'a' },
      },
      {
        level: 'info',
        message: 'deleted: gone from every Envoy',
        fields: { where: 'test/a', uid: 'a' },
      },
    ])
    const count = (fact: string): number | undefined =>
      made.metrics.value('edgewright_deletions_total', { fact })
    expect([count('Withdrawn'), count('Proven'), count('GlassBroken')]).toEqual([1, 1, undefined])
    expect(made.metrics.value('edgewright_terminating')).toBe(0)
    const released = { write: 'Release', result: 'Ok' }
    expect(made.metrics.value('edgewright_writes_total', released)).toBe(1)
  })

  test('of one that was taken by force: who had not confirmed', async () => {
    const made = await served('a')
    await del(made, 'a')
    made.world.change('a', bare)
    await made.sync()
    const [, broken] = made.facts
    expect(broken?.fact).toMatchObject({
      _tag: 'GlassBroken',
      waitedFor: { _tag: 'Owed', nodes: ['envoy'], nodeCount: 1 },
    })
    expect(made.logger.entries().filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        message: 'gone before every Envoy has confirmed: some may serve it still',
        fields: { where: 'test/a', uid: 'a', waitedFor: 'not yet confirmed by envoy' },
      },
    ])
    expect(made.metrics.value('edgewright_deletions_total', { fact: 'GlassBroken' })).toBe(1)
  })
})

describe('a look that finds nothing', () => {
  test('changes nothing: the verdicts and the deletions are the very same', async () => {
    const made = await served('a', 'b')
    await del(made, 'b')
    await made.pass(deletionDelayMs)
    const before = made.controller.state()
    made.controller.look()
    const after = made.controller.state()
    expect(after.deletions).toBe(before.deletions)
    expect(after.verdicts).toBe(before.verdicts)
  })

  test('but a problem that has appeared since is said', async () => {
    const made = await served('a')
    const objects = [...made.world.objects.values()]
    const key = { namespace: 'test', name: 'a' }
    const errors = [{ path: 'spec', message: 'is not valid' }]
    const problems = [{ where: 'test/a', key, errors, keepsLastGood: false }]
    made.emit({ routes: [], objects, problems })
    await made.pass()
    expect(made.controller.state().verdicts.get('a')?.accepted._tag).toBe('Invalid')
  })
})

describe('with Envoys in memory', () => {
  const withMemory = () => {
    const clock = virtualClock()
    const controlPlane = memoryControlPlane({ clock })
    const asked: Array<string> = []
    const proof: DeletionProof = {
      ledger: controlPlane.ledger,
      onLedgerChange: controlPlane.onLedgerChange,
      demandAcks: (isOn) => void asked.push(`demand ${isOn}`),
      admit: (id) => void asked.push(`admit ${id}`),
      forget: () => 'Unknown',
    }
    const { source, emit } = scriptedSource()
    const logger = memoryLogger()
    const published: Array<string> = []
    const abort = new AbortController()
    const controller = startController(
      {
        source,
        clock,
        sink: {
          publish: (snapshot) => {
            published.push(uidsIn(snapshot).join())
            controlPlane.publish(snapshot)
          },
        },
        deletion: { proof },
        logger,
        random: () => 0,
      },
      abort.signal,
    )
    running.push(async () => {
      abort.abort()
      await controller.finished
    })
    const show = async (...names: ReadonlyArray<string>): Promise<void> => {
      emit({ routes: names.map((name) => routeOf(anObject(name))), problems: [] })
      await settled()
      clock.advance(0)
    }
    const state = (uid: string): string | undefined =>
      controller.state().deletions.records.get(uid)?.state._tag
    return { clock, controlPlane, controller, asked, logger, published, show, state }
  }
  const envoy = { node: { id: 'e', cluster: 'edge-envoy' }, variant: 'sotw' } as const

  test('a route that leaves a plain source waits for the Envoy’s own ACK, and then for its workers', async () => {
    const { clock, controlPlane, asked, show, state } = withMemory()
    await show('a', 'b')
    controlPlane.connect(envoy)
    controlPlane.settle()
    await show('b')
    clock.advance(10_000)
    expect(state('a')).toBe('Waiting')
    expect(asked).toEqual(['demand true'])
    controlPlane.settle()
    clock.advance(proofDelayMs)
    expect(state('a')).toBe('Settling')
    clock.advance(settleMs)
    expect(state('a')).toBeUndefined()
    expect(asked).toEqual(['demand true', 'demand false'])
  })

  test('a route that comes back while it waits is served, nothing is pending, and the log says so', async () => {
    const { controlPlane, asked, logger, published, show, state } = withMemory()
    await show('a')
    controlPlane.connect(envoy)
    controlPlane.settle()
    await show()
    await show('a')
    expect(state('a')).toBe('Serving')
    expect(published).toEqual(['a', '', 'a'])
    expect(asked).toEqual(['demand true', 'demand false'])
    const lines = logger.entries().filter(({ fields }) => fields['uid'] === 'a')
    expect(lines.map(({ message }) => message)).toEqual([
      'deleted: served no more, and waits for every Envoy to confirm',
      'no more deleted: it is there again, and is served',
    ])
  })

  test('a lost Envoy is waited for until somebody stops that', async () => {
    const { clock, controlPlane, controller, asked, show, state } = withMemory()
    await show('a')
    const lost = controlPlane.connect(envoy)
    controlPlane.settle()
    lost.disconnect()
    await show()
    clock.advance(3_600_000)
    expect(state('a')).toBe('Waiting')
    controller.stopWaiting('a')
    expect(state('a')).toBeUndefined()
    expect(asked).toEqual(['demand true', 'demand false'])
  })
})

test.each<[string, NotYet | undefined]>([
  ['while something is waited for still', { _tag: 'Starting', untilMs: 1_000 }],
  ['when nothing is waited for any more', undefined],
])(
  'who was forgotten before anything was read is named with the end of an object that is seen %s',
  async (_, waits) => {
    let closed = waits
    const made = stage({}, { notYet: () => closed, onChange: () => () => undefined })
    made.envoys.unheard()
    made.controller.look()
    made.envoys.forgotten()
    made.controller.look()
    made.world.put(anObject('a', deleting))
    await made.sync()
    closed = undefined
    made.controller.look()
    await made.pass(settleMs)
    made.controller.look()
    expect(made.facts.map(({ fact }) => fact)).toContainEqual({
      _tag: 'Proven',
      forgotten: { nodes: ['envoy'], nodeCount: 1 },
    })
    await made.stop()
  },
)
