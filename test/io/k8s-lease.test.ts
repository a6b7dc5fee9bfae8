import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  keepLease,
  type KeepLeaseOptions,
  type KeptLease,
  type LeaseFact,
  type LeaseState,
  readLease,
} from '../../src/adapters/k8s/lease.js'
import { knowsAllAnnotation } from '../../src/adapters/k8s/lease/record.js'
import type { ApiProblem } from '../../src/adapters/k8s/objects/api-problem.js'
import { virtualClock } from '../../src/adapters/memory/index.js'
import { objectIn } from '../../src/adapters/k8s/informers/index.js'
import { lost, objectServer, statusOf } from '../support/k8s-object-server.js'
import { passTime, settle } from '../support/virtual-time.js'

const namespace = 'edge'
const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/edgewright`
const startMs = Date.parse('2026-01-01T00:00:00.000Z')

interface Running extends KeptLease {
  readonly abort: () => void
  readonly said: ReadonlyArray<string>
}

const aWorld = () => {
  const server = objectServer()
  const clock = virtualClock(startMs)
  const start = (
    identity: string,
    more: Pick<KeepLeaseOptions, 'knowsAll' | 'onFact'> = {},
  ): Running => {
    const abort = new AbortController()
    onTestFinished(() => abort.abort())
    const said: Array<string> = []
    const logger = {
      log: (level: string, message: string, fields: object = {}) =>
        said.push(
          [
            ...[level, message],
            ...('holder' in fields ? [String(fields.holder)] : []),
            ...('needs' in fields ? [`(needs ${String(fields.needs)})`] : []),
          ].join(' '),
        ),
    }
    const options = { namespace, identity, clock, logger, ...more }
    const kept = keepLease(server.client, options, abort.signal)
    return { ...kept, abort: () => abort.abort(), said }
  }
  const spec = () => objectIn(server.at(path), 'spec')
  return { server, clock, start, spec }
}

describe('a lease that is kept', () => {
  test('is made, renewed, and given back', async () => {
    const { clock, start, spec } = aWorld()
    const lease = start('a')
    await settle()
    expect(lease.isHeld()).toBe(true)
    expect(spec()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    })
    await passTime(clock, 12_000)
    expect(spec()).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:10.000000Z',
    })
    lease.abort()
    expect([lease.isHeld(), lease.leftMs()]).toEqual([false, 0])
    await lease.finished
    expect(spec()).toMatchObject({ holderIdentity: '' })
    expect(lease.said).toEqual(['info the lease is held'])
  })

  test('is waited for, which is said once, and had at once when it is given back', async () => {
    const { clock, start, spec } = aWorld()
    const a = start('a')
    await settle()
    const b = start('b')
    await passTime(clock, 60_000)
    expect([a.isHeld(), b.isHeld()]).toEqual([true, false])
    expect(b.said).toEqual(['warn another control plane holds the lease: waiting for it a'])
    a.abort()
    await a.finished
    await passTime(clock, 5_000)
    expect(b.isHeld()).toBe(true)
    expect(spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
    expect(b.said[1]).toBe('info the lease is held')
  })

  test('is taken from one that has crashed after it was seen unchanged for as long as it lasts', async () => {
    const { server, clock, start } = aWorld()
    // Its holder's clock is an hour ahead: what the lease says of times does not count.
    const spec = {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      renewTime: '2026-01-01T01:00:00Z',
    }
    server.edit(path, { spec })
    const b = start('b')
    await passTime(clock, 14_900)
    expect(b.isHeld()).toBe(false)
    await passTime(clock, 5_200)
    expect(b.isHeld()).toBe(true)
  })

  test('is had at once by who comes back with the same name', async () => {
    const { server, start } = aWorld()
    server.edit(path, { spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } })
    const a = start('a')
    await settle()
    expect(a.isHeld()).toBe(true)
  })

  test('is not held any more once it could not be renewed for some time, and is again afterwards', async () => {
    const { server, clock, start } = aWorld()
    const lease = start('a')
    await passTime(clock, 1_000)
    server.meddle = () => lost(false)
    await passTime(clock, 8_800)
    expect(lease.isHeld()).toBe(true)
    // It was taken at the beginning, 9.8 s ago.
    expect(lease.leftMs()).toBe(200)
    await passTime(clock, 300)
    expect(lease.isHeld()).toBe(false)
    expect(lease.leftMs()).toBe(0)
    server.meddle = () => undefined
    await passTime(clock, 5_000)
    expect(lease.isHeld()).toBe(true)
    expect(lease.said).toEqual([
      'info the lease is held',
      'warn the lease cannot be kept',
      'info the lease is held again',
    ])
  })

  test('is not asked for while the server wants to be left alone, but in time to keep it', async () => {
    const { server, clock, start } = aWorld()
    const lease = start('a')
    await passTime(clock, 4_900)
    const times: Array<number> = []
    server.meddle = () => {
      times.push(clock.nowMs() - startMs)
      return { reply: statusOf(429, '', 'busy', 3_600_000) }
    }
    await passTime(clock, 4_900)
    // A last request that fits in before it lapses (10 s after the renewal), less the 3 s that an answer may take.
    expect(times).toEqual([5_000, 7_000, 8_000, 9_000])
    expect(lease.isHeld()).toBe(true)
  })

  test('that has lapsed is asked for each second, whatever the server wants, and is lost a second after another has it', async () => {
    const { server, clock, start } = aWorld()
    const lease = start('a')
    await settle()
    const times: Array<number> = []
    server.meddle = () => {
      times.push(clock.nowMs() - startMs)
      return { reply: statusOf(429, '', 'busy', 3_600_000) }
    }
    await passTime(clock, 20_500, 100)
    const later = times.filter((atMs) => atMs > 10_000)
    expect(later).toEqual(Array.from({ length: 10 }, (_, i) => 11_000 + i * 1_000))
    server.edit(path, { spec: { holderIdentity: 'b', renewTime: '2026-01-01T00:00:20Z' } })
    server.meddle = () => undefined
    await passTime(clock, 1_000)
    expect(lease.said.at(-1)).toBe(
      'error another control plane has taken the lease: waiting for it b',
    )
  })

  test('of which nothing was ever known is asked for each second, too: who wants it may serve without it', async () => {
    const { server, clock, start } = aWorld()
    const times: Array<number> = []
    server.meddle = () => {
      times.push(clock.nowMs() - startMs)
      return { reply: statusOf(429, '', 'busy', 3_600_000) }
    }
    const lease = start('a')
    await passTime(clock, 40_500, 100)
    expect(times).toEqual(Array.from({ length: 41 }, (_, i) => i * 1_000))
    server.edit(path, { spec: { holderIdentity: 'b', renewTime: '2026-01-01T00:00:40Z' } })
    server.meddle = () => undefined
    await passTime(clock, 1_000)
    expect(lease.said.at(-1)).toBe('warn another control plane holds the lease: waiting for it b')
  })

  test('that is known to be of another is left alone while the server wants that', async () => {
    const { server, clock, start } = aWorld()
    server.edit(path, { spec: { holderIdentity: 'b', leaseDurationSeconds: 3_600 } })
    start('a')
    await settle()
    const times: Array<number> = []
    server.meddle = () => {
      times.push(clock.nowMs() - startMs)
      return { reply: statusOf(429, '', 'busy', 3_600_000) }
    }
    await passTime(clock, 60_000, 100)
    expect(times).toEqual([5_000, 20_000, 35_000, 50_000])
  })

  test('tells its next holder how it was had, and whether all Envoys were known when it was last written', async () => {
    const { server, start } = aWorld()
    const mark = (): unknown =>
      objectIn(objectIn(server.at(path), 'metadata'), 'annotations')[knowsAllAnnotation]
    const next = async (knowsAll: boolean, atTheEnd = knowsAll): Promise<string> => {
      let knows = knowsAll
      const facts: Array<LeaseFact> = []
      const options = { knowsAll: () => knows, onFact: (fact: LeaseFact) => facts.push(fact) }
      const lease = start('a', options)
      await settle()
      expect(mark()).toBe(knowsAll ? 'true' : undefined)
      knows = atTheEnd
      lease.abort()
      await lease.finished
      expect(mark()).toBe(knowsAll && atTheEnd ? 'true' : undefined)
      return facts.map((fact) => JSON.stringify(fact)).join()
    }
    const acquired = (how: string, knewAll: boolean): string =>
      JSON.stringify({ _tag: 'Acquired', how, knewAll })
    expect(await next(false)).toBe(acquired('Fresh', false))
    expect(await next(false, true)).toBe(acquired('GivenBack', false))
    expect(await next(true)).toBe(acquired('GivenBack', false))
    expect(await next(true, false)).toBe(acquired('GivenBack', true))
    expect(await next(true)).toBe(acquired('GivenBack', false))
  })

  test('is not had by a write that is answered with the one of another', async () => {
    const { server, clock, start } = aWorld()
    const foreign = {
      metadata: { name: 'edgewright', resourceVersion: '7' },
      spec: { holderIdentity: 'b', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00Z' },
    }
    const reply = { status: 200, body: foreign, retryAfterMs: undefined }
    server.meddle = ({ method }) => (method === 'GET' ? undefined : { reply })
    const lease = start('a')
    await passTime(clock, 20_000)
    expect(lease.isHeld()).toBe(false)
    server.meddle = () => undefined
    await passTime(clock, 5_000)
    expect(lease.isHeld()).toBe(true)
  })

  test('that somebody deletes is left to its holder by those who have seen that one', async () => {
    const { server, clock, start } = aWorld()
    const a = start('a')
    await passTime(clock, 3_000)
    const b = start('b')
    await passTime(clock, 4_000)
    server.remove(path)
    for (let ms = 0; ms < 20_000; ms += 100) {
      await passTime(clock, 100)
      expect(b.isHeld()).toBe(false)
    }
    expect(a.isHeld()).toBe(true)
  })

  test('that is denied says so once, and what is needed', async () => {
    const { server, clock, start } = aWorld()
    const fields: Array<object> = []
    server.meddle = () => ({ reply: statusOf(403, 'Forbidden', 'leases is forbidden') })
    const lease = start('a', { onFact: (fact) => fields.push(fact) })
    await passTime(clock, 60_000)
    expect(lease.said).toEqual([
      'error the lease is denied (needs credentials that may get, create and update Leases in its namespace: see deploy/rbac.yaml)',
    ])
    expect(fields).toEqual([
      {
        _tag: 'Failing',
        message: expect.stringContaining('does not allow it') as unknown,
        isDenied: true,
      },
    ])
  })

  test('that a clock has passed by without a word is told to be held again', async () => {
    const { clock, start } = aWorld()
    const facts: Array<string> = []
    const lease = start('a', { onFact: ({ _tag }) => facts.push(_tag) })
    await settle()
    clock.advance(60_000)
    expect(lease.isHeld()).toBe(false)
    await settle()
    expect(lease.isHeld()).toBe(true)
    expect(facts).toEqual(['Acquired', 'Recovered'])
  })

  test('that another has taken is lost, and waited for', async () => {
    const { server, clock, start } = aWorld()
    const lease = start('a')
    await settle()
    server.edit(path, { spec: { holderIdentity: 'b', renewTime: '2026-01-01T00:00:01Z' } })
    await passTime(clock, 5_000)
    expect(lease.isHeld()).toBe(false)
    expect(lease.said[1]).toBe('error another control plane has taken the lease: waiting for it b')
    lease.abort()
    await lease.finished
    expect(server.at(path)).toMatchObject({ spec: { holderIdentity: 'b' } })
  })

  test('is lost to another process of its name, which it does not give it back for', async () => {
    const { server, clock, start, spec } = aWorld()
    const first = start('a')
    await passTime(clock, 1_000)
    const second = start('a')
    await passTime(clock, 1_000)
    const bySecond = spec()['renewTime']
    first.abort()
    await first.finished
    expect(spec()).toMatchObject({ holderIdentity: 'a', renewTime: bySecond })
    const third = start('a')
    await passTime(clock, 10_000)
    expect([second.isHeld(), third.isHeld()]).toEqual([false, true])
    expect(second.said[1]).toBe(
      'error another control plane has taken the lease: waiting for it a (another process)',
    )
    // Nobody is left: it ends as that of any other does.
    server.edit(path, { spec: { renewTime: '2026-01-01T00:00:00Z' } })
    third.abort()
    await third.finished
    await passTime(clock, 20_000)
    expect(second.isHeld()).toBe(true)
  })

  test('is kept by who has written it, whatever becomes of the answers', async () => {
    const { server, clock, start, spec } = aWorld()
    const lease = start('a')
    await settle()
    let writes = 0
    // Of each three writes one is lost, one arrives without an answer, and one is answered.
    server.meddle = ({ method }) =>
      method === 'PUT' && (writes += 1) % 3 !== 0 ? lost(writes % 3 === 1) : undefined
    await passTime(clock, 120_000)
    server.meddle = ({ method }) => (method === 'PUT' ? lost(false) : undefined)
    await passTime(clock, 60_000)
    server.meddle = () => undefined
    await passTime(clock, 5_000)
    expect(lease.isHeld()).toBe(true)
    expect(lease.said.filter((line) => line.startsWith('error'))).toEqual([])
    lease.abort()
    await lease.finished
    expect(spec()).toMatchObject({ holderIdentity: '' })
  })

  test('is given back although a request is under way, which arrives afterwards', async () => {
    const { server, clock, start, spec } = aWorld()
    const lease = start('a')
    await settle()
    server.meddle = () => new Promise(() => undefined)
    await passTime(clock, 5_000)
    const late = server.asked.at(-1)
    expect(late?.method).toBe('PUT')
    server.meddle = ({ method }) => {
      if (method !== 'PUT' || late === undefined) return undefined
      server.meddle = () => undefined
      expect(server.perform(late).status).toBe(200)
      return undefined
    }
    lease.abort()
    await lease.finished
    expect(spec()).toMatchObject({ holderIdentity: '' })
  })

  test('is left to end by itself where no answer comes', async () => {
    const { server, clock, start } = aWorld()
    const lease = start('a')
    await settle()
    server.meddle = () => new Promise(() => undefined)
    lease.abort()
    await passTime(clock, 2_000)
    await lease.finished
    expect(lease.said[1]).toBe('warn the lease was not given back, and ends by itself')
    expect(clock.waiting()).toBe(0)
  })

  test.each([
    [statusOf(403, 'Forbidden'), /does not allow it/],
    [statusOf(404, 'NotFound'), /cannot write/],
    [statusOf(200), /something else was sent in place of/],
    [{ status: 404, body: '<html>', retryAfterMs: undefined }, /a 404 of its own was sent/],
  ])(
    'is not had from a server that answers otherwise, and ends all the same',
    async (reply, why) => {
      const { server, clock } = aWorld()
      const errors: Array<unknown> = []
      const logger = { log: (_: string, __: string, fields: object = {}) => errors.push(fields) }
      const abort = new AbortController()
      server.meddle = () => ({ reply })
      const lease = keepLease(
        server.client,
        { namespace, identity: 'a', clock, logger },
        abort.signal,
      )
      await passTime(clock, 30_000)
      expect(lease.isHeld()).toBe(false)
      expect(errors).toHaveLength(1)
      expect(JSON.stringify(errors)).toMatch(why)
      // Whether it is there, and that it be made, each second.
      expect(server.asked.length).toBeLessThan(65)
      abort.abort()
      await lease.finished
      expect(clock.waiting()).toBe(0)
    },
  )
})

describe('whether a control plane is live', () => {
  const look = (world: ReturnType<typeof aWorld>) => {
    let found: E.Either<ApiProblem, LeaseState> | undefined
    const { server, clock } = world
    const abort = new AbortController()
    void readLease(server.client, { namespace, clock }, abort.signal)().then((result) => {
      found = result
    })
    return { found: () => found, abort: () => abort.abort() }
  }

  test('is no where there is no lease, or one that was given back', async () => {
    const world = aWorld()
    const none = look(world)
    await settle()
    expect(none.found()).toEqual(E.right({ _tag: 'Absent' }))
    const lease = world.start('a')
    await settle()
    lease.abort()
    await lease.finished
    const back = look(world)
    await settle()
    expect(back.found()).toEqual(E.right({ _tag: 'Absent' }))
  })

  test('is yes at once where it was renewed a few seconds ago', async () => {
    const world = aWorld()
    world.start('a')
    await passTime(world.clock, 4_000)
    const seen = look(world)
    await settle()
    const renewedAt = '2026-01-01T00:00:00.000000Z'
    expect(seen.found()).toEqual(E.right({ _tag: 'Live', holder: 'a', renewedAt }))
  })

  test.each([
    ['behind', '2025-12-31T00:00:00Z'],
    ['ahead', '2026-01-02T00:00:00Z'],
  ])('is yes where it is renewed by a clock that is far %s', async (_, renewTime) => {
    const world = aWorld()
    world.server.edit(path, { spec: { holderIdentity: 'a', renewTime } })
    const seen = look(world)
    await passTime(world.clock, 5_000)
    expect(seen.found()).toBeUndefined()
    world.server.edit(path, { spec: { renewTime: renewTime.replace('00Z', '05Z') } })
    await passTime(world.clock, 1_000)
    expect(seen.found()).toMatchObject({ right: { _tag: 'Live', holder: 'a' } })
  })

  test.each(['2025-12-31T00:00:00Z', '2026-01-02T00:00:00Z', '', 'yesterday'])(
    'is no where it says %j for as long as it lasts',
    async (renewTime) => {
      const world = aWorld()
      world.server.edit(path, { spec: { holderIdentity: 'a', renewTime } })
      const seen = look(world)
      await passTime(world.clock, 14_000)
      expect(seen.found()).toBeUndefined()
      await passTime(world.clock, 2_000)
      expect(seen.found()).toMatchObject({ right: { _tag: 'Expired', holder: 'a' } })
    },
  )

  test('is not known where the server does not say, or the answer is not waited for', async () => {
    const world = aWorld()
    world.server.meddle = () => ({ reply: statusOf(403) })
    const denied = look(world)
    await settle()
    expect(denied.found()).toMatchObject({ left: { _tag: 'Denied' } })
    world.server.meddle = () => undefined
    world.server.edit(path, { spec: { holderIdentity: 'a' } })
    const seen = look(world)
    await passTime(world.clock, 3_000)
    seen.abort()
    await settle()
    expect(seen.found()).toMatchObject({ left: { _tag: 'Unreachable' } })
    expect(world.clock.waiting()).toBe(0)
  })
})
