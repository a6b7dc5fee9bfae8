import { afterEach, describe, expect, test } from 'vitest'
import type { NotYet } from '../../src/core/deletion.js'
import { breakGlass, conflictPauseMs, conflictRetries } from '../../src/host/break-glass.js'
import type { BreakGlassResult } from '../../src/host/operator.js'
import { type Stage, stage } from '../support/deletion-stage.js'
import { anObject, deleting } from '../support/stored-objects.js'

const stages: Array<Stage> = []
afterEach(async () => {
  for (const each of stages.splice(0)) await each.stop()
})

const closed: NotYet = { _tag: 'Starting', untilMs: 60_000 }

/** An object that is being deleted, and waits, by default for the gate alone. */
const waiting = async (notYet: () => NotYet | undefined = () => closed): Promise<Stage> => {
  const made = stage({}, { notYet, onChange: () => () => undefined })
  stages.push(made)
  made.world.put(anObject('a'))
  await made.sync()
  made.world.put(anObject('a', { ...deleting, resourceVersion: '2' }))
  await made.sync()
  made.done()
  return made
}

const broken = (
  { controller, clock, envoys, world }: Stage,
  notYet: () => NotYet | undefined = () => closed,
): Promise<BreakGlassResult> => {
  const { key } = anObject('a')
  return breakGlass({ controller, clock, ledger: envoys.proof, store: world.store, notYet }, key)
}

describe('what is said of a glass that is broken', () => {
  test('is that nothing was proven while the gate was closed, though no Envoy is known to owe anything', async () => {
    expect(await broken(await waiting())).toEqual({
      _tag: 'Broken',
      unconfirmed: [],
      waitedFor: closed,
    })
  })

  test('names the Envoys that had not confirmed, whatever the gate says', async () => {
    const made = await waiting()
    made.envoys.holds('a')
    expect(await broken(made)).toEqual({
      _tag: 'Broken',
      unconfirmed: ['envoy'],
      waitedFor: { _tag: 'Owed', nodes: ['envoy'], nodeCount: 1 },
    })
  })

  test('is nothing more where all had confirmed, and the gate is open', async () => {
    expect(await broken(await waiting(), () => undefined)).toEqual({
      _tag: 'Broken',
      unconfirmed: [],
      waitedFor: undefined,
    })
  })
})

describe('a release that meets a conflict', () => {
  test('is tried again with what the source shows then', async () => {
    const made = await waiting()
    made.world.change('a', { generation: 7 })
    const result = broken(made)
    await made.sync()
    await made.pass(conflictPauseMs)
    expect(await result).toMatchObject({ _tag: 'Broken' })
    expect(made.world.objects.has('a')).toBe(false)
  })

  test('is tried no more than a few times', async () => {
    const made = await waiting()
    made.world.meet(...Array.from({ length: 2 * conflictRetries }, () => 'Conflict' as const))
    const result = broken(made)
    for (let i = 0; i < 2 * conflictRetries; i += 1) await made.pass(conflictPauseMs)
    expect(await result).toEqual({ _tag: 'Failed', message: 'the store says Conflict' })
    const releases = made.done().filter((entry) => entry === 'release a')
    expect(releases).toHaveLength(1 + conflictRetries)
  })
})
