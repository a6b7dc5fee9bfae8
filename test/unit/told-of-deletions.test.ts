import { memoryMetrics } from 'edgewright/memory'
import { afterEach, describe, expect, test } from 'vitest'
import { ownConditions } from '../../src/adapters/memory/api-server/conditions.js'
import type { RecordedFact } from '../../src/core/deletions.js'
import { finalizer } from '../../src/core/stored-object.js'
import { eventOfDeletion } from '../../src/host/cli/serve/cluster-events.js'
import { type SimulatedHost, simulatedHost } from '../../src/testing/index.js'

/** What people are told of deletions, from the object in an API server to what its Envoys hold. */

const key = { namespace: 'test', name: 'a' }
const route = { metadata: key, spec: { respond: { code: 410 } } }
const other = 'example.com/other'

const running: Array<SimulatedHost> = []
afterEach(async () => {
  for (const edge of running.splice(0)) {
    await edge.stop()
    expect(edge.violations()).toEqual([])
  }
})

const started = async () => {
  const facts: Array<RecordedFact> = []
  const metrics = memoryMetrics()
  const onDeletion = (fact: RecordedFact): void => void facts.push(fact)
  const edge = await simulatedHost({ ports: { onDeletion, metrics } })
  running.push(edge)
  // As long as it has just begun it waits for Envoys of before.
  await edge.pass(120_000)
  return {
    edge,
    /** The Events of deletions. */
    events: () =>
      facts.flatMap((fact) => {
        const event = eventOfDeletion(fact)
        return event === undefined ? [] : [`${event.type} ${event.reason}: ${event.note}`]
      }),
    logged: (level: string) =>
      edge.logger
        .entries()
        .filter((entry) => entry.level === level)
        .map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`),
    /** How often conditions were tried to be written, whatever came of it. */
    tries: () =>
      [...metrics.values()]
        .filter(([name]) => /^edgewright_writes_total.*Conditions/.test(name))
        .reduce((sum, [, count]) => sum + count, 0),
    /** What the object says of itself. */
    conditions: () =>
      ownConditions(edge.api.get(key)?.status).conditions.map(
        ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
      ),
    holdBy: async (...finalizers: ReadonlyArray<string>) => {
      const object = edge.api.get(key)
      if (object === undefined) throw new Error('the object is not there')
      const metadata = { ...object.metadata, finalizers }
      edge.api.write({ _tag: 'Update', object: { ...object, metadata } })
      await edge.settle()
    },
  }
}

/** Others hold the object too, and a lost Envoy holds its deletion up. */
const waitingForLost = async () => {
  const world = await started()
  const envoy = await world.edge.connect()
  await world.edge.apply(route)
  await world.holdBy(finalizer, other)
  envoy.disconnect()
  await world.edge.delete(key)
  return { ...world, envoy }
}

const terminating = 'Accepted=False Terminating: it is being deleted'

describe('an object that others hold after we have let go of it', () => {
  test('says last that no Envoy serves it, and no more that it is programmed', async () => {
    const { edge, conditions, holdBy } = await started()
    await edge.connect()
    await edge.apply(route)
    await holdBy(finalizer, other)
    await edge.pass(5_000)
    expect(conditions()).toContain('Programmed=True Programmed: ')
    await edge.delete(key)
    await edge.pass(200)
    expect(edge.api.get(key)?.metadata.finalizers).toEqual([other])
    await edge.pass(5_000)
    expect(conditions()).toEqual([
      terminating,
      'Deprogrammed=True Deprogrammed: no Envoy serves it',
    ])
    expect(edge.operator.explain(key)[0]?.state._tag).toBe('Released')
  })

  test('says no more that it waits for Envoys', async () => {
    const { edge, conditions, envoy } = await waitingForLost()
    await edge.pass(5_000)
    expect(conditions()).toEqual([
      terminating,
      'Deprogrammed=False WaitingForAck: not yet confirmed by envoy-1',
    ])
    envoy.reconnect()
    await edge.pass(5_000)
    expect(conditions().at(-1)).toBe('Deprogrammed=True Deprogrammed: no Envoy serves it')
  })

  test('says that nothing was proven, where somebody took our finalizer off', async () => {
    const { edge, conditions } = await waitingForLost()
    await edge.operator.breakGlass(key)
    await edge.pass(5_000)
    expect(conditions()).toEqual([
      terminating,
      'Deprogrammed=False GlassBroken: the finalizer was taken off before it was proven that no ' +
        'Envoy serves it: not yet confirmed by envoy-1',
    ])
  })

  test('is written to once, and one that vanishes not at all', async () => {
    const { edge, holdBy, tries } = await started()
    await edge.connect()
    const triesFor = async (...finalizers: ReadonlyArray<string>): Promise<number> => {
      await edge.apply(route)
      await holdBy(...finalizers)
      await edge.pass(5_000)
      const before = tries()
      await edge.delete(key)
      await edge.pass(60_000)
      return tries() - before
    }
    expect(await triesFor(finalizer)).toBe(0)
    expect(await triesFor(finalizer, other)).toBe(1)
  })
})

describe('a deletion that waits for a lost Envoy', () => {
  const seconds = 1_000

  test('is told of with a warning and an Event after a minute, once an hour', async () => {
    const { edge, events, logged } = await started()
    const envoy = await edge.connect()
    await edge.apply(route)
    envoy.disconnect()
    await edge.settle()
    await edge.delete(key)
    await edge.pass(59 * seconds)
    expect(events()).toEqual([])
    await edge.pass(11 * seconds)
    const waiting = 'Warning DeletionWaiting: not yet confirmed by envoy-1'
    expect(events()).toEqual([waiting])
    expect(logged('warn').join()).toMatch(/for long not confirmed .*"test\/a".*envoy-1/)
    await edge.pass(3_500 * seconds)
    expect(events()).toEqual([waiting])
    await edge.pass(120 * seconds)
    expect(events()).toEqual([waiting, waiting])
  })

  test('is warned of at once, and of no Envoy twice', async () => {
    const { edge, logged } = await started()
    const [one, two] = [await edge.connect(), await edge.connect()]
    await edge.apply(route)
    one.disconnect()
    await edge.pass(5 * seconds)
    expect(logged('warn')).toEqual([])
    await edge.delete(key)
    const lost = (nodes: string): unknown =>
      expect.stringMatching(new RegExp(`^deletions wait for Envoys that are lost.*"${nodes}"`))
    expect(logged('warn')).toEqual([lost('envoy-1')])
    await edge.pass(5 * seconds)
    two.disconnect()
    await edge.pass(5 * seconds)
    expect(logged('warn')).toEqual([lost('envoy-1')])
  })
})

describe('an Envoy that is forgotten while a deletion waits for it', () => {
  test('is named when that is over, in the Event, the log and the object', async () => {
    const { edge, events, logged, conditions, holdBy } = await started()
    const envoys = [await edge.connect(), await edge.connect(), await edge.connect()]
    await edge.apply(route)
    await holdBy(finalizer, other)
    for (const envoy of envoys.slice(0, 2)) envoy.disconnect()
    await edge.settle()
    await edge.delete(key)
    for (const id of ['envoy-2', 'envoy-1']) await edge.operator.forget(id)
    await edge.pass(5_000)
    expect(events()).toEqual([
      'Normal Deprogrammed: gone from every Envoy that was not forgotten; these were, before they ' +
        'confirmed, and may serve it if they still run: envoy-1, envoy-2',
    ])
    expect(logged('info').join('\n')).toMatch(
      /gone from every Envoy that was not.*envoy-1, envoy-2/,
    )
    expect(conditions().at(-1)).toBe(
      'Deprogrammed=True Deprogrammed: no Envoy serves it, unless one that was forgotten still ' +
        'runs: envoy-1, envoy-2',
    )
  })

  test('is not named for what is deleted later', async () => {
    const { edge, events } = await started()
    const envoy = await edge.connect()
    await edge.apply(route)
    envoy.disconnect()
    await edge.settle()
    await edge.operator.forget('envoy-1')
    await edge.delete(key)
    await edge.pass(5_000)
    expect(events()).toEqual(['Normal Deprogrammed: gone from every Envoy'])
  })
})

test('a route with a complaint that is deleted is wanted no more, and not resolved', async () => {
  const { edge, logged } = await started()
  await edge.connect()
  await edge.apply({
    metadata: key,
    spec: { backends: [{ service: { name: 'nowhere', port: 80 } }] },
  })
  await edge.pass(5_000)
  expect(logged('warn')).toEqual([expect.stringMatching(/^not served as asked .*test\/a/)])
  await edge.delete(key)
  await edge.pass(5_000)
  const ends = logged('info').filter((line) => /^(resolved|wanted no more)/.test(line))
  expect(ends).toEqual(['wanted no more {"where":"test/a"}'])
})

test('a new route is no complaint', async () => {
  const { edge, logged } = await started()
  await edge.connect()
  await edge.apply(route)
  await edge.pass(5_000)
  expect(logged('warn')).toEqual([])
  expect(logged('info').filter((line) => line.startsWith('resolved'))).toEqual([])
})
