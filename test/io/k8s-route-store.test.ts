import { test as propertyTest, fc } from '@fast-check/vitest'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import type { ApiRequest } from '../../src/adapters/k8s/api.js'
import { maxConditions } from '../../src/core/crd/status.js'
import { kubernetesRouteStore } from '../../src/adapters/k8s/route-store.js'
import {
  defaultPauseMs,
  defaultWriteLimits,
  maxPauseMs,
  maxTurnWaitMs,
  maxWaiting,
  requestDeadlineMs,
  writeDeadlineMs,
} from '../../src/adapters/k8s/write/limits.js'
import {
  memoryApiServer,
  memoryRoutes,
  type Write,
} from '../../src/adapters/memory/api-server/index.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import { memoryMetrics } from '../../src/adapters/memory/index.js'
import { finalizer, type StoredObject } from '../../src/core/stored-object.js'
import { storeAnswerMs } from '../../src/host/timed-store.js'
import type { RouteStore, WriteError } from '../../src/ports/route-store.js'
import { aCondition } from '../contract/route-store.js'
import { settled } from '../support/deletion-stage.js'
import { apiDouble, type Meddling, replyOf } from '../support/k8s-api-double.js'
import { memoryStoreWorld } from '../support/memory-store-world.js'
import { anObject, bare } from '../support/stored-objects.js'

const accepted = aCondition('Accepted')

const start = async () => {
  const clock = virtualClock(1_790_000_000_000)
  const metrics = memoryMetrics()
  const server = memoryApiServer({ clock })
  const client = apiDouble(server)
  const store = kubernetesRouteStore(client, { clock, metrics })
  const { create, see, say } = memoryStoreWorld(server, store)
  await create('a')
  const seen = async (): Promise<StoredObject> => {
    const there = await see('a')
    if (there === undefined) throw new Error('it is gone')
    return there.stored
  }
  /** What becomes of the next requests. */
  const meddlings: Array<Meddling | undefined> = []
  client.meddle = () => meddlings.shift()
  const pass = async (ms = 0): Promise<void> => {
    await settled()
    clock.advance(ms)
    await settled()
  }
  return { clock, metrics, server, client, store, create, say, seen, meddlings, pass }
}

const failureOf = (written: E.Either<WriteError, void>): string =>
  E.isLeft(written) ? written.left._tag : 'done'

/** Runs writes, and notes what comes of each, in the order in which it comes. */
const running = () => {
  const results: Array<string> = []
  return {
    results,
    run: (name: string, task: ReturnType<RouteStore['guard']>): void => {
      void task().then((written) => results.push(`${name} ${failureOf(written)}`))
    },
  }
}

describe('what a reply means', () => {
  test.each([
    [400, 'Refused'],
    [401, 'Refused'],
    [403, 'Refused'],
    [413, 'Refused'],
    [408, 'Unavailable'],
    [429, 'Unavailable'],
    [500, 'Unavailable'],
    [503, 'Unavailable'],
    [504, 'Unavailable'],
    [302, 'Unavailable'],
    [410, 'Unavailable'],
  ])('%i is %s', async (status, failure) => {
    const { store, seen, meddlings, client } = await start()
    meddlings.push({ reply: replyOf(status, { message: 'no luck' }) })
    const written = await store.guard(await seen())()
    expect(written).toMatchObject({
      left: { _tag: failure, message: `the API server answers ${status}: no luck` },
    })
    expect(client.asked).toHaveLength(1)
  })

  test('404 is NotFound where it speaks of the object, and not where the kind is unknown', async () => {
    const { store, seen, meddlings } = await start()
    const object = await seen()
    meddlings.push({ reply: replyOf(404, { name: 'a' }) })
    expect(failureOf(await store.guard(object)())).toBe('NotFound')
    meddlings.push({ reply: { status: 404, body: undefined, retryAfterMs: undefined } })
    expect(failureOf(await store.guard(object)())).toBe('Unavailable')
  })

  test.each([
    [409, 'Conflict'],
    [412, 'Conflict'],
    [422, 'Refused'],
  ])('%i over an object that is as it was seen is %s', async (status, failure) => {
    const { store, seen, meddlings } = await start()
    meddlings.push({ reply: replyOf(status, { name: 'a' }) })
    expect(failureOf(await store.guard(await seen())())).toBe(failure)
  })

  test.each([
    [409, { reply: replyOf(500) }, 'Conflict'],
    [409, { reply: replyOf(403) }, 'Conflict'],
    [409, { reply: replyOf(404, { name: 'a' }) }, 'NotFound'],
    [409, { failure: { _tag: 'TimedOut', message: 'late' } }, 'Conflict'],
    [422, { reply: replyOf(500) }, 'Unavailable'],
    [422, { reply: replyOf(403) }, 'Refused'],
    [422, { failure: { _tag: 'Unreachable', message: 'gone' } }, 'Unavailable'],
  ] as const)(
    '%i that cannot be looked into, because of %j, is %s',
    async (status, look, failure) => {
      const { store, seen, meddlings } = await start()
      meddlings.push({ reply: replyOf(status) }, look)
      expect(failureOf(await store.guard(await seen())())).toBe(failure)
    },
  )

  test.each(['Unreachable', 'TimedOut', 'Aborted'] as const)(
    'no reply, as %s, is Unavailable, and it may have been done',
    async (_tag) => {
      const { store, seen, meddlings } = await start()
      meddlings.push({ failure: { _tag, message: 'nobody knows' }, isDone: true })
      expect(await store.guard(await seen())()).toMatchObject({
        left: { _tag: 'Unavailable', message: 'nobody knows' },
      })
      expect((await seen()).finalizers).toEqual([finalizer])
    },
  )

  test('a long message is cut to what a person reads', async () => {
    const { store, seen, meddlings } = await start()
    meddlings.push({ reply: replyOf(403, { message: 'x'.repeat(100_000) }) })
    const written = await store.guard(await seen())()
    expect(E.isLeft(written) && written.left.message.length).toBeLessThan(1_000)
  })

  test('conditions that are refused for what is left of ours are taken off first, then said', async () => {
    const { store, say, seen, meddlings, client } = await start()
    await say('a', [aCondition('Deprogrammed')])
    meddlings.push({ reply: replyOf(422) })
    expect(failureOf(await store.writeConditions(await seen(), [accepted])())).toBe('done')
    expect((await seen()).conditions).toEqual([accepted])
    expect(client.asked.map(({ contentType, method }) => contentType ?? method)).toEqual([
      'application/apply-patch+yaml',
      'GET',
      'application/json-patch+json',
      'application/apply-patch+yaml',
    ])
  })

  test('conditions that are refused again are Unavailable: what was in the way is gone', async () => {
    const { store, say, seen, meddlings } = await start()
    await say('a', [aCondition('Deprogrammed')])
    meddlings.push({ reply: replyOf(422) }, undefined, undefined, { reply: replyOf(422) })
    expect(failureOf(await store.writeConditions(await seen(), [accepted])())).toBe('Unavailable')
    expect((await seen()).conditions).toEqual([])
  })

  test('conditions that are refused where nothing of ours is in the way stay Refused', async () => {
    const { store, say, seen, meddlings, client } = await start()
    await say('a', [aCondition('Known')])
    meddlings.push({ reply: replyOf(422) })
    expect(failureOf(await store.writeConditions(await seen(), [accepted])())).toBe('Refused')
    expect(client.asked).toHaveLength(2)
  })

  test('conditions for which those of others leave no room are refused with what to do', async () => {
    const { store, say, seen, meddlings } = await start()
    const others = (count: number) => Array.from({ length: count }, (_, i) => aCondition(`T${i}`))
    const tooMany = { reply: replyOf(422, { message: 'status.conditions: Too many: 65' }) }
    await say('a', others(maxConditions))
    meddlings.push(tooMany)
    expect(await store.writeConditions(await seen(), [accepted])()).toEqual(
      E.left({
        _tag: 'Refused',
        message:
          'the status has 64 conditions of others, and room for 64 in all; take some off: ' +
          'the API server answers 422: status.conditions: Too many: 65',
      }),
    )
    await say('a', others(maxConditions - 1))
    meddlings.push(tooMany)
    expect(await store.writeConditions(await seen(), [accepted])()).toMatchObject({
      left: { message: 'the API server answers 422: status.conditions: Too many: 65' },
    })
  })

  test.each([{ status: 'Unknown' as const }, { observedGeneration: NaN }])(
    'a condition of our types that others have left without %j is seen, and goes with the next write',
    async (odd) => {
      const { store, say, seen, client } = await start()
      await say('a', [accepted, { ...aCondition('Deprogrammed'), ...odd }])
      const object = await seen()
      expect(object).toMatchObject({ conditions: [accepted], hasForeignConditions: true })
      expect(failureOf(await store.writeConditions(object, [accepted])())).toBe('done')
      expect(client.asked).toHaveLength(2)
      const after = await seen()
      expect(after.conditions).toEqual([accepted])
      expect(after).not.toHaveProperty('hasForeignConditions')
    },
  )

  test('a reply without an object says neither that it is written nor that it is gone', async () => {
    const { store, seen, meddlings } = await start()
    const nothing = { reply: { status: 200, body: {}, retryAfterMs: undefined } }
    meddlings.push(nothing)
    expect(await store.guard(await seen())()).toMatchObject({
      left: { _tag: 'Unavailable', message: expect.stringContaining('shop/a') as unknown },
    })
    meddlings.push({ reply: replyOf(422) }, nothing)
    expect(failureOf(await store.guard(await seen())())).toBe('Unavailable')
  })

  test('conditions of which a part could not be taken off are Unavailable: the rest is written', async () => {
    const { store, say, seen, meddlings } = await start()
    await say('a', [aCondition('Deprogrammed')])
    meddlings.push(undefined, { reply: replyOf(409) })
    expect(failureOf(await store.writeConditions(await seen(), [accepted])())).toBe('Unavailable')
    expect((await seen()).conditions.map(({ type }) => type)).toEqual(['Deprogrammed', 'Accepted'])
  })
})

describe('requests', () => {
  test('a status is applied by our field manager, over the version that was seen', async () => {
    const { store, seen, client } = await start()
    const object = await seen()
    await store.writeConditions(object, [accepted])()
    expect(client.asked).toMatchObject([
      {
        method: 'PATCH',
        path: '/apis/net.10xdev.io/v1/namespaces/shop/edgeroutes/a/status',
        query: { fieldManager: 'edgewright', force: 'true' },
        contentType: 'application/apply-patch+yaml',
        body: {
          apiVersion: 'net.10xdev.io/v1',
          kind: 'EdgeRoute',
          metadata: { ...object.key, uid: object.uid, resourceVersion: object.resourceVersion },
          status: { conditions: [accepted] },
        },
      },
    ])
  })

  test('what is as it should be is not asked for', async () => {
    const { store, client } = await start()
    const object = anObject('a', { conditions: [accepted] })
    await store.guard(object)()
    await store.release({ ...object, finalizers: ['f'] })()
    await store.writeConditions(object, [accepted])()
    expect(client.asked).toEqual([])
  })

  const finalizers = fc.array(fc.constantFrom(finalizer, 'f', 'g'), { maxLength: 5 })

  propertyTest.prop([finalizers, fc.constantFrom('guard', 'release')])(
    'a finalizer is patched as the server in memory is asked to patch it',
    async (before, write) => {
      const clock = virtualClock()
      const asked: Array<Write> = []
      const server = memoryApiServer({
        clock,
        faults: {
          ofRequest: (request) => {
            if (request._tag === 'Patch') asked.push(request)
            return undefined
          },
        },
      })
      const client = apiDouble(server)
      const object = anObject('a', { finalizers: before })
      await memoryRoutes(server, { clock }).store[write](object)()
      await kubernetesRouteStore(client, { clock })[write](object)()
      const bodies = client.asked.filter(({ method }) => method === 'PATCH').map(({ body }) => body)
      expect(bodies).toEqual(asked.map((each) => each._tag === 'Patch' && each.patch))
    },
  )
})

describe('time', () => {
  test('a write is over before its host gives up, whatever it waits for', () => {
    expect(maxTurnWaitMs + requestDeadlineMs).toBeLessThan(writeDeadlineMs)
    expect(writeDeadlineMs).toBeLessThan(storeAnswerMs)
  })

  test('each request has a deadline, and all of a write together', async () => {
    const { store, seen, client, clock } = await start()
    const object = await seen()
    const deadlines: Array<number> = []
    client.meddle = ({ deadlineMs }: ApiRequest) => {
      deadlines.push(deadlineMs)
      clock.advance(deadlines.length === 1 ? writeDeadlineMs - 3_000 : 3_000)
      return { reply: replyOf(422) }
    }
    await store.guard(object)()
    expect(deadlines).toEqual([requestDeadlineMs, 3_000])
  })

  test('nothing is asked for any more when no time is left', async () => {
    const { store, seen, client, clock } = await start()
    client.meddle = () => {
      clock.advance(writeDeadlineMs)
      return { reply: replyOf(422) }
    }
    expect(failureOf(await store.guard(await seen())())).toBe('Unavailable')
    expect(client.asked).toHaveLength(1)
  })
})

describe('limits', () => {
  const many = (count: number): ReadonlyArray<StoredObject> =>
    Array.from({ length: count }, (_, i) => anObject(`r${i}`, bare))

  test('writes begin at the pace of their lane', async () => {
    const { store, client, pass } = await start()
    const { run } = running()
    const { perSecond, burst } = defaultWriteLimits.conditions
    for (const each of many(burst + 2 * perSecond))
      run('status', store.writeConditions(each, [accepted]))
    await pass()
    expect(client.asked).toHaveLength(burst)
    await pass(1_000)
    expect(client.asked.length).toBeLessThanOrEqual(burst + perSecond)
    expect(client.asked.length).toBeGreaterThan(burst + perSecond * 0.95)
  })

  test('a release that is no longer proven when its turn comes is not sent, and one that is again is', async () => {
    const { store, client, pass } = await start()
    const { results, run } = running()
    const { burst } = defaultWriteLimits.finalizers
    let isProven = true
    const questions: Array<string> = []
    for (const each of many(burst)) run('guard', store.guard(each))
    for (const name of ['a', 'b'])
      run(
        `release ${name}`,
        store.release(anObject(name), () => {
          questions.push(name)
          return isProven
        }),
      )
    await settled()
    expect(questions).toEqual([])
    isProven = false
    await pass(1_000 / defaultWriteLimits.finalizers.perSecond)
    isProven = true
    await pass(1_000 / defaultWriteLimits.finalizers.perSecond)
    expect(questions).toEqual(['a', 'b'])
    expect(results.filter((each) => each.startsWith('release'))).toEqual([
      'release a Unproven',
      'release b NotFound',
    ])
    const sent = client.asked.filter(({ path }) => /\/(a|b)$/.test(path))
    expect(sent.map(({ method, path }) => `${method} ${path.slice(-1)}`)).toEqual(['PATCH b'])
  })

  test('a finalizer waits for no status, however many of them wait', async () => {
    const { store, seen, create, pass, metrics } = await start()
    await create('b')
    const { results, run } = running()
    for (const each of many(500)) run('status', store.writeConditions(each, [accepted]))
    run('finalizer', store.guard(await seen()))
    await pass()
    expect(results).toContain('finalizer done')
    expect(results.length).toBeLessThan(500)
    const waiting = metrics.value('edgewright_kubernetes_writes_waiting', { lane: 'conditions' })
    expect(waiting).toBe(500 - defaultWriteLimits.conditions.burst)
  })

  test('what has no turn in time is Unavailable, and asks nothing; so is what comes when too many wait', async () => {
    const { store, client, pass } = await start()
    const { results, run } = running()
    const { burst } = defaultWriteLimits.conditions
    const objects = many(burst + maxWaiting + 1)
    for (const each of objects) run('status', store.writeConditions(each, [accepted]))
    await settled()
    expect(results.filter((each) => each === 'status Unavailable')).toHaveLength(1)
    await pass(maxTurnWaitMs)
    await pass()
    expect(results).toHaveLength(objects.length)
    const asked = client.asked.length
    expect(results.filter((each) => each === 'status Unavailable')).toHaveLength(
      objects.length - asked,
    )
  })

  test.each([
    [429, 3_000, 3_000],
    [429, undefined, defaultPauseMs],
    [503, 2_000, 2_000],
    [429, 10 * maxPauseMs, maxPauseMs],
  ])(
    'after a %i that asks for a pause of %s ms its lane begins nothing for %i ms, and then slowly',
    async (status, retryAfterMs, pauseMs) => {
      const { store, client, meddlings, pass } = await start()
      const { run } = running()
      const objects = many(20)
      meddlings.push({ reply: replyOf(status, { retryAfterMs }) })
      run('first', store.writeConditions(anObject('first', bare), [accepted]))
      await settled()
      expect(client.asked).toHaveLength(1)
      await pass(pauseMs - 1)
      for (const each of objects) run('status', store.writeConditions(each, [accepted]))
      await settled()
      expect(client.asked).toHaveLength(1)
      await pass(1)
      await pass(1)
      expect(client.asked).toHaveLength(2)
    },
  )

  test('a pause of one lane is none of the other', async () => {
    const { store, seen, meddlings, pass } = await start()
    const { results, run } = running()
    meddlings.push({ reply: replyOf(429, { retryAfterMs: 5_000 }) })
    run('status', store.writeConditions(anObject('b', bare), [accepted]))
    await settled()
    run('finalizer', store.guard(await seen()))
    await pass()
    expect(results).toEqual(['status Unavailable', 'finalizer done'])
  })

  test('a 500 without a word on when to return stops no lane', async () => {
    const { store, seen, meddlings } = await start()
    const object = await seen()
    meddlings.push({ reply: replyOf(500) })
    await store.guard(object)()
    expect(failureOf(await store.guard(object)())).toBe('done')
  })

  test('no timer is left when nothing waits', async () => {
    const { store, clock, pass } = await start()
    const { run } = running()
    for (const each of many(200)) run('status', store.writeConditions(each, [accepted]))
    await settled()
    expect(clock.waiting()).toBe(1)
    await pass(2_000)
    expect(clock.waiting()).toBe(0)
  })
})
