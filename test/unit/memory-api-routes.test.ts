import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import {
  type ApiObject,
  type ApiRequest,
  type MemoryApiServer,
  memoryApiServer,
  memoryRoutes,
  type RequestFate,
  type Write,
} from '../../src/adapters/memory/api-server/index.js'
import { type VirtualClock, virtualClock } from '../../src/adapters/memory/clock.js'
import type { Condition } from '../../src/core/status.js'
import { finalizer, type StoredObject } from '../../src/core/stored-object.js'
import type { RouteSource, SourceState } from '../../src/ports/route-source.js'
import type { RouteStore, WriteError } from '../../src/ports/route-store.js'
import { routeSourceContract, type RoutesByName, watching } from '../contract/route-source.js'

interface World {
  readonly clock: VirtualClock
  readonly server: MemoryApiServer
  readonly source: RouteSource
  readonly store: RouteStore
  readonly requests: ReadonlyArray<ApiRequest>
  readonly put: (name: string, code: number) => void
  readonly spoil: (name: string) => void
  readonly remove: (name: string) => void
  /** What becomes of the next requests. */
  readonly fates: Array<RequestFate>
}

const keyOf = (name: string) => ({ namespace: 'shop', name })

const worldOf = (routes: RoutesByName = {}): World => {
  const clock = virtualClock()
  const requests: Array<ApiRequest> = []
  const fates: Array<RequestFate> = []
  const ofRequest = (request: ApiRequest): RequestFate | undefined => {
    requests.push(request)
    return fates.shift()
  }
  const server = memoryApiServer({ clock, firstResourceVersion: 98, faults: { ofRequest } })
  const setSpec = (name: string, spec: unknown): void => {
    const before = server.get(keyOf(name))
    const object = { ...(before ?? { metadata: keyOf(name) }), spec }
    must(server, { _tag: before ? 'Update' : 'Create', object })
  }
  const put = (name: string, code: number): void => {
    setSpec(name, { respond: { code } })
  }
  Object.entries(routes).forEach(([name, code]) => {
    put(name, code)
  })
  return {
    clock,
    server,
    ...memoryRoutes(server, { clock, relistMs: 60_000 }),
    requests,
    fates,
    put,
    spoil: (name) => {
      setSpec(name, { respond: { code: 'two hundred' } })
    },
    remove: (name) => {
      must(server, { _tag: 'Delete', key: keyOf(name) })
    },
  }
}

const must = (server: MemoryApiServer, write: Write): ApiObject => {
  const answer = server.write(write)
  if (E.isLeft(answer)) throw new Error(answer.left.message)
  return answer.right
}

/** The contract speaks of routes and problems alone. */
const withoutObjects = (source: RouteSource): RouteSource => ({
  watch: (onState, signal) =>
    source.watch(({ routes, problems }) => {
      onState({ routes, problems })
    }, signal),
})

routeSourceContract('the memory API server', (routes) => {
  const world = worldOf(routes)
  return { ...world, source: withoutObjects(world.source) }
})

const objectOf = (state: SourceState | undefined, name: string): StoredObject => {
  const found = state?.objects?.find(({ key }) => key.name === name)
  if (found === undefined) throw new Error(`${name} is not among the objects`)
  return found
}

describe('the source', () => {
  test('tells of every object, of one that is invalid too, and which form of it is served', () => {
    const world = worldOf({ a: 200, b: 200 })
    world.spoil('b')
    const { latest, states } = watching(world.source)
    world.spoil('a')
    expect(states).toHaveLength(2)
    expect(latest()).toMatchObject({
      routes: [{ metadata: { name: 'a', generation: 1 }, spec: { respond: { code: 200 } } }],
      objects: [
        { key: keyOf('a'), generation: 2, resourceVersion: '102', finalizers: [], conditions: [] },
        { key: keyOf('b'), generation: 2, resourceVersion: '101', finalizers: [], conditions: [] },
      ],
      problems: [
        { where: 'shop/a', key: keyOf('a'), keepsLastGood: true },
        { where: 'shop/b', key: keyOf('b'), keepsLastGood: false },
      ],
    })
  })

  test('an invalid object that is being deleted is so in the form that is kept, too', () => {
    const world = worldOf({ a: 200 })
    const { latest, route } = watching(world.source)
    const patch = [{ op: 'add', path: '/metadata/finalizers', value: ['f'] }] as const
    must(world.server, { _tag: 'Patch', key: keyOf('a'), patch })
    world.spoil('a')
    world.remove('a')
    expect(route('a')?.metadata).toMatchObject({
      deletionTimestamp: '1970-01-01T00:00:00Z',
      finalizers: ['f'],
      generation: 1,
    })
    expect(objectOf(latest(), 'a')).toMatchObject({
      deletionTimestamp: '1970-01-01T00:00:00Z',
      finalizers: ['f'],
      generation: 3,
    })
  })

  test('an object that was made anew in a gap is another one, and keeps no form of the old one', () => {
    const world = worldOf({ a: 200 })
    const { latest, route } = watching(world.source)
    const { uid } = objectOf(latest(), 'a')
    world.fates.push({ requestMs: 5 })
    world.server.disturb('Gone')
    world.remove('a')
    must(world.server, { _tag: 'Create', object: { metadata: keyOf('a'), spec: 'wrong' } })
    expect(objectOf(latest(), 'a').uid).toBe(uid)
    world.clock.advance(5)
    expect(objectOf(latest(), 'a').uid).not.toBe(uid)
    expect(route('a')).toBeUndefined()
    expect(latest()?.problems).toMatchObject([{ where: 'shop/a', keepsLastGood: false }])
  })

  test('a status that is written makes another object, and leaves the route the same', () => {
    const world = worldOf({ a: 200 })
    const { latest, route } = watching(world.source)
    const before = route('a')
    const other = { type: 'Known', status: 'True', reason: 'X' }
    const status = { conditions: [other, accepted, { ...accepted, status: 'Maybe' }] }
    const object = {
      metadata: { ...world.server.get(keyOf('a'))?.metadata, ...keyOf('a') },
      status,
    }
    must(world.server, { _tag: 'Update', object, subresource: 'status' })
    expect(objectOf(latest(), 'a').conditions).toEqual([accepted])
    expect(route('a')).toBe(before)
  })

  test('a field that EdgeRoute does not have is no fault: a downgrade drops no route', () => {
    const world = worldOf()
    const spec = { respond: { code: 200 }, invented: true }
    must(world.server, { _tag: 'Create', object: { metadata: keyOf('a'), spec } })
    expect(watching(world.source).latest()).toMatchObject({ problems: [], routes: [{}] })
  })

  test('a silent watch is found out by the next relist, and so is an event that was lost', () => {
    const world = worldOf({ a: 200 })
    const watch = watching(world.source)
    world.server.disturb('Freeze')
    world.put('a', 404)
    world.clock.advance(59_999)
    expect(watch.routes()).toEqual({ a: 200 })
    world.clock.advance(1)
    expect(watch.routes()).toEqual({ a: 404 })
    world.put('a', 503)
    expect(watch.routes()).toEqual({ a: 503 })
  })

  test('a relist that finds nothing new tells nobody', () => {
    const world = worldOf({ a: 200 })
    const { states } = watching(world.source)
    world.clock.advance(180_000)
    expect(world.requests.filter(({ _tag }) => _tag === 'List')).toHaveLength(4)
    expect(states).toHaveLength(1)
  })

  test('a watch that fails is followed by one other, and a relist ends the watch before it', () => {
    const clock = virtualClock()
    const asked: Array<string> = []
    let events = 0
    const server = memoryApiServer({
      clock,
      bookmarkMs: 0,
      faults: {
        ofRequest: ({ _tag }) => {
          asked.push(_tag)
          return undefined
        },
        ofEvent: () => {
          events++
          return undefined
        },
      },
    })
    const { latest } = watching(memoryRoutes(server, { clock, relistMs: 60_000 }).source)
    server.disturb('Fail')
    expect(asked).toEqual(['List', 'Watch', 'Watch'])
    clock.advance(60_000)
    expect(asked.slice(3)).toEqual(['List', 'Watch'])
    must(server, { _tag: 'Create', object: { metadata: keyOf('a') } })
    expect(latest()?.objects).toHaveLength(1)
    expect(events).toBe(1)
  })

  test('an abort leaves no timer and no watch behind', async () => {
    const world = worldOf({ a: 200 })
    const watch = watching(world.source)
    world.fates.push({ fails: 'before' }, { fails: 'before' })
    world.server.disturb('Close')
    expect(world.clock.waiting()).toBe(2)
    watch.abort()
    await watch.ended
    expect(world.clock.waiting()).toBe(0)
  })
})

const accepted: Condition = {
  type: 'Accepted',
  status: 'True',
  reason: 'Accepted',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-31T12:00:00Z',
}
const programmed: Condition = { ...accepted, type: 'Programmed', reason: 'Programmed' }

describe('the store', () => {
  interface Stored extends World {
    /** The object as it was when this was made. */
    readonly seen: StoredObject
    readonly present: () => ApiObject | undefined
  }
  const storedOf = (finalizers: ReadonlyArray<string> = [], status?: unknown): Stored => {
    const world = worldOf()
    const spec = { respond: { code: 200 } }
    const object = { metadata: { ...keyOf('a'), finalizers }, spec }
    const created = must(world.server, { _tag: 'Create', object })
    if (status !== undefined)
      must(world.server, {
        _tag: 'Update',
        object: { ...created, status },
        subresource: 'status',
      })
    const seen = objectOf(watching(world.source).latest(), 'a')
    return { ...world, seen, present: () => world.server.get(keyOf('a')) }
  }
  const failureOf = (written: E.Either<WriteError, void>): string =>
    E.isLeft(written) ? written.left._tag : 'done'
  /** The three writes, each of which would change something of an object that has these finalizers. */
  const writes = [
    ['guard', [], (store: RouteStore, seen: StoredObject) => store.guard(seen)],
    ['release', [finalizer], (store: RouteStore, seen: StoredObject) => store.release(seen)],
    [
      'writeConditions',
      [],
      (store: RouteStore, seen: StoredObject) => store.writeConditions(seen, [accepted]),
    ],
  ] as const

  test.each([
    [[], [finalizer]],
    [
      ['f', 'g'],
      ['f', 'g', finalizer],
    ],
  ])('guard adds our finalizer behind %j', async (before, after) => {
    const { store, seen, present } = storedOf(before)
    expect(await store.guard(seen)()).toEqual(E.right(undefined))
    expect(present()?.metadata).toMatchObject({ finalizers: after, generation: 1 })
  })

  test('release takes our finalizer off, wherever it stands, and no other one', async () => {
    const { store, seen, present } = storedOf(['f', finalizer, 'g'])
    expect(await store.release(seen)()).toEqual(E.right(undefined))
    expect(present()?.metadata.finalizers).toEqual(['f', 'g'])
  })

  test('release of a terminating object lets it go', async () => {
    const { store, server, present, source } = storedOf([finalizer])
    must(server, { _tag: 'Delete', key: keyOf('a') })
    const { latest } = watching(source)
    expect(await store.release(objectOf(latest(), 'a'))()).toEqual(E.right(undefined))
    expect(present()).toBeUndefined()
    expect(latest()?.objects).toEqual([])
  })

  test('conditions of others stay as and where they are; ours are replaced, added and taken away', async () => {
    const foreign = { type: 'Known', anything: 1 }
    const old = { ...accepted, status: 'False' as const }
    const resolved = { ...accepted, type: 'ResolvedRefs' as const }
    const status = { conditions: [resolved, foreign, old], more: 1 }
    const { store, seen, present } = storedOf([], status)
    expect(await store.writeConditions(seen, [programmed, accepted])()).toEqual(E.right(undefined))
    expect(present()).toMatchObject({
      metadata: { generation: 1 },
      spec: { respond: { code: 200 } },
      status: { conditions: [foreign, accepted, programmed], more: 1 },
    })
  })

  test('what is as it should be is not written: no request is made', async () => {
    const guarded = storedOf([finalizer], { conditions: [accepted, programmed] })
    const asked = guarded.requests.length
    await guarded.store.guard(guarded.seen)()
    await guarded.store.writeConditions(guarded.seen, [programmed, accepted])()
    expect(guarded.requests).toHaveLength(asked)
    const free = storedOf(['f'])
    const before = free.requests.length
    expect(await free.store.release(free.seen)()).toEqual(E.right(undefined))
    expect(free.requests).toHaveLength(before)
  })

  test.each(writes)(
    '%s asks for the uid and the version that were seen',
    async (_, before, write) => {
      const { store, seen, requests } = storedOf(before)
      expect(await write(store, seen)()).toEqual(E.right(undefined))
      const { uid, resourceVersion } = seen
      expect(requests.at(-1)).toMatchObject({
        _tag: 'Patch',
        patch: expect.arrayContaining([
          { op: 'test', path: '/metadata/uid', value: uid },
          { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
        ]) as unknown,
      })
    },
  )

  test.each(writes)(
    '%s of an object that has changed is a Conflict, and writes nothing',
    async (_, before, write) => {
      const { store, seen, server, present } = storedOf(before)
      const patch = [{ op: 'replace', path: '/spec', value: { respond: { code: 404 } } }] as const
      const changed = must(server, { _tag: 'Patch', key: keyOf('a'), patch })
      expect(failureOf(await write(store, seen)())).toBe('Conflict')
      expect(present()).toBe(changed)
    },
  )

  test.each(writes)('%s of an object that is gone is NotFound', async (_, before, write) => {
    const { store, seen, server } = storedOf(before)
    const gone = [{ op: 'add', path: '/metadata/finalizers', value: [] }] as const
    must(server, { _tag: 'Patch', key: keyOf('a'), patch: gone })
    must(server, { _tag: 'Delete', key: keyOf('a') })
    expect(failureOf(await write(store, seen)())).toBe('NotFound')
  })

  test.each(writes)(
    '%s of an object under whose name another one is there is NotFound, and does not touch that',
    async (_, before, write) => {
      const { store, seen, server, present } = storedOf(before)
      const gone = [{ op: 'add', path: '/metadata/finalizers', value: [] }] as const
      must(server, { _tag: 'Patch', key: keyOf('a'), patch: gone })
      must(server, { _tag: 'Delete', key: keyOf('a') })
      const object = { metadata: { ...keyOf('a'), finalizers: before } }
      const other = must(server, { _tag: 'Create', object })
      expect(failureOf(await write(store, seen)())).toBe('NotFound')
      expect(present()).toBe(other)
    },
  )

  test('guard of a terminating object is Refused: nobody may add a finalizer to it', async () => {
    const { store, server, source } = storedOf(['f'])
    must(server, { _tag: 'Delete', key: keyOf('a') })
    const seen = objectOf(watching(source).latest(), 'a')
    expect(failureOf(await store.guard(seen)())).toBe('Refused')
  })

  test.each([
    [{ fails: 'before' }, 'Unavailable', false],
    [{ fails: 'after' }, 'Unavailable', true],
    [
      { fails: 'before', error: { code: 403, reason: 'Forbidden', message: 'no' } },
      'Refused',
      false,
    ],
    [
      { fails: 'before', error: { code: 429, reason: 'TooManyRequests', message: 'later' } },
      'Unavailable',
      false,
    ],
    [
      { fails: 'before', error: { code: 500, reason: 'InternalError', message: 'oh' } },
      'Unavailable',
      false,
    ],
  ] as const)('a request with the fate %j is %s', async (fate, failure, isWritten) => {
    const { store, seen, present, fates } = storedOf([])
    fates.push(fate)
    const written = await store.guard(seen)()
    expect(failureOf(written)).toBe(failure)
    expect(present()?.metadata.finalizers).toEqual(isWritten ? [finalizer] : undefined)
  })

  test('a refusal that nobody can look into may be anything', async () => {
    const { store, seen, fates, put } = storedOf([])
    put('a', 404)
    fates.push({}, { fails: 'before' })
    expect(failureOf(await store.guard(seen)())).toBe('Unavailable')
  })
})
