import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import {
  type ApiError,
  type ApiObject,
  type Change,
  type MemoryApiServer,
  memoryApiServer,
  type MemoryApiServerOptions,
  type ObjectInput,
  type Write,
} from '../../src/adapters/memory/api-server/index.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'

const startMs = Date.parse('2026-01-31T12:00:00.250Z')
const key = { namespace: 'shop', name: 'a' }

const serverOf = (options: Partial<MemoryApiServerOptions> = {}): MemoryApiServer =>
  memoryApiServer({ clock: virtualClock(startMs), ...options })

const done = (answer: E.Either<ApiError, ApiObject>): ApiObject => {
  if (E.isLeft(answer)) throw new Error(answer.left.message)
  return answer.right
}
const codeOf = (answer: E.Either<ApiError, ApiObject>): string =>
  E.isLeft(answer) ? `${answer.left.code} ${answer.left.reason}` : 'done'

const anObject = (metadata: Partial<ObjectInput['metadata']> = {}, spec: unknown = 1) => ({
  metadata: { ...key, ...metadata },
  spec,
})
const create = (server: MemoryApiServer, object: ObjectInput = anObject()): ApiObject =>
  done(server.write({ _tag: 'Create', object }))
const update = (
  server: MemoryApiServer,
  object: ObjectInput,
  subresource?: 'status',
): E.Either<ApiError, ApiObject> =>
  server.write({ _tag: 'Update', object, ...(subresource && { subresource }) })
const patch = (
  server: MemoryApiServer,
  operations: (Write & { _tag: 'Patch' })['patch'],
): E.Either<ApiError, ApiObject> => server.write({ _tag: 'Patch', key, patch: operations })
const erase = (server: MemoryApiServer, of: Partial<Write & { _tag: 'Delete' }> = {}) =>
  server.write({ _tag: 'Delete', key, ...of })
const changesOf = (server: MemoryApiServer): ReadonlyArray<Change> => {
  const changes: Array<Change> = []
  server.observe((change) => changes.push(change))
  return changes
}

describe('creating', () => {
  test('gives an object its uid, generation 1, the time in seconds and the next version, and no status', () => {
    const server = serverOf({ firstResourceVersion: 99 })
    const object = create(server, {
      metadata: { ...key, finalizers: ['f'], labels: { l: '1' }, annotations: {}, uid: 'mine' },
      spec: { any: [1, null] },
      status: { conditions: [] },
    })
    expect(object).toEqual({
      apiVersion: 'net.10xdev.io/v1',
      kind: 'EdgeRoute',
      metadata: {
        ...key,
        uid: '00000000-0000-4000-8000-000000000001',
        resourceVersion: '100',
        generation: 1,
        creationTimestamp: '2026-01-31T12:00:00Z',
        finalizers: ['f'],
        labels: { l: '1' },
      },
      spec: { any: [1, null] },
    })
  })

  test('a name that is taken is refused, also by an object that is being deleted', () => {
    const server = serverOf()
    create(server, anObject({ finalizers: ['f'] }))
    const object = anObject()
    expect(codeOf(server.write({ _tag: 'Create', object }))).toBe('409 AlreadyExists')
    erase(server)
    const again = server.write({ _tag: 'Create', object })
    expect(codeOf(again)).toBe('409 AlreadyExists')
    expect(E.isLeft(again) && again.left.message).toContain('being deleted')
  })

  test('an object under a name that was deleted is another one: a new uid, generation 1, a later version', () => {
    const server = serverOf()
    const first = create(server)
    erase(server)
    const second = create(server)
    expect(second.metadata.uid).not.toBe(first.metadata.uid)
    expect(second.metadata).toMatchObject({ generation: 1, resourceVersion: '4' })
  })

  test.each([
    ['a resource version', anObject({ resourceVersion: '1' }), '500 InternalError'],
    ['no name', anObject({ name: '' }), '400 BadRequest'],
    ['another kind', { ...anObject(), kind: 'Pod' }, '400 BadRequest'],
  ])('an object with %s is refused', (_, object, code) => {
    expect(codeOf(serverOf().write({ _tag: 'Create', object }))).toBe(code)
  })

  test('what is not valid is refused with the words of the validation', () => {
    const server = serverOf({
      validate: ({ spec }, before) =>
        spec === before?.spec ? undefined : spec === 1 ? undefined : 'spec must stay 1',
    })
    const object = create(server)
    const refused = update(server, { ...object, spec: 2 })
    expect(refused).toEqual(E.left({ code: 422, reason: 'Invalid', message: 'spec must stay 1' }))
    expect(server.get(key)).toBe(object)
  })
})

describe('updating', () => {
  test('a changed spec counts a generation; metadata and status do not', () => {
    const server = serverOf()
    const first = create(server)
    const second = done(update(server, { ...first, spec: 2 }))
    expect(second.metadata).toMatchObject({ generation: 2, resourceVersion: '3' })
    const labelled = { ...second, metadata: { ...second.metadata, labels: { l: '1' } } }
    const third = done(update(server, labelled))
    expect(third.metadata).toMatchObject({ generation: 2, resourceVersion: '4' })
    const fourth = done(update(server, { ...third, status: { x: 1 } }, 'status'))
    expect(fourth.metadata).toMatchObject({ generation: 2, resourceVersion: '5' })
  })

  test('a write of the object leaves its status alone, and a write of the status all else', () => {
    const server = serverOf()
    const created = create(server)
    const withStatus = done(update(server, { ...created, spec: 9, status: 's' }, 'status'))
    expect(withStatus).toMatchObject({ spec: 1, status: 's' })
    const relabelled = { ...withStatus.metadata, finalizers: ['f'] }
    const ignored = done(update(server, { ...withStatus, metadata: relabelled }, 'status'))
    expect(ignored).toBe(withStatus)
    const changed = done(update(server, { ...withStatus, spec: 2, status: 't' }))
    expect(changed).toMatchObject({ spec: 2, status: 's' })
    const { metadata } = changed
    expect(done(update(server, { metadata }, 'status'))).not.toHaveProperty('status')
  })

  test('an update that changes nothing changes no version, and tells nobody', () => {
    const server = serverOf()
    const object = create(server, anObject({ finalizers: ['f'] }, { b: 1, a: { c: 2 } }))
    const changes = changesOf(server)
    expect(done(update(server, { ...object, spec: { a: { c: 2 }, b: 1 } }))).toBe(object)
    expect(done(patch(server, []))).toBe(object)
    expect(done(update(server, object, 'status'))).toBe(object)
    expect(changes).toEqual([])
    expect(server.list().resourceVersion).toBe('2')
  })

  test('an update of an older version is refused, one without version too, and of another uid', () => {
    const server = serverOf()
    const first = create(server)
    done(update(server, { ...first, spec: 2 }))
    const versionless = { ...key, uid: first.metadata.uid }
    const present = server.get(key)?.metadata ?? first.metadata
    for (const subresource of [undefined, 'status'] as const) {
      const codeFor = (metadata: ObjectInput['metadata']): string =>
        codeOf(update(server, { metadata, spec: 3, status: 3 }, subresource))
      expect(codeFor(first.metadata)).toBe('409 Conflict')
      expect(codeFor(versionless)).toBe('422 Invalid')
      expect(codeFor({ ...present, uid: 'another' })).toBe('409 Conflict')
    }
    expect(codeOf(update(server, anObject({ name: 'b' })))).toBe('404 NotFound')
    expect(server.get(key)).toMatchObject({ spec: 2 })
  })

  test('what the server decides cannot be written: uid, times and generation', () => {
    const server = serverOf()
    const { metadata } = create(server)
    const replace = (field: string, value: unknown) =>
      patch(server, [{ op: 'add', path: `/metadata/${field}`, value }])
    expect(codeOf(replace('uid', 'another'))).toBe('422 Invalid')
    expect(codeOf(replace('deletionTimestamp', '2026-01-31T12:00:00Z'))).toBe('422 Invalid')
    expect(codeOf(replace('resourceVersion', '1'))).toBe('409 Conflict')
    expect(codeOf(replace('name', 'b'))).toBe('400 BadRequest')
    expect(codeOf(replace('finalizers', 'f'))).toBe('422 Invalid')
    expect(codeOf(replace('generation', 7))).toBe('done')
    expect(codeOf(replace('creationTimestamp', '2000-01-01T00:00:00Z'))).toBe('done')
    expect(server.get(key)?.metadata).toEqual(metadata)
  })
})

describe('patching', () => {
  test('a patch is applied as a whole, or not at all', () => {
    const server = serverOf()
    const object = create(server, anObject({}, { a: 1 }))
    const refused = patch(server, [
      { op: 'replace', path: '/spec/a', value: 2 },
      { op: 'test', path: '/metadata/resourceVersion', value: '1' },
    ])
    expect(codeOf(refused)).toBe('422 Invalid')
    expect(server.get(key)).toBe(object)
    const accepted = patch(server, [
      { op: 'test', path: '/metadata/resourceVersion', value: '2' },
      { op: 'replace', path: '/spec/a', value: 2 },
    ])
    expect(done(accepted)).toMatchObject({ spec: { a: 2 }, metadata: { generation: 2 } })
  })

  test('a patch of the status changes the status alone, and makes one where there is none', () => {
    const server = serverOf()
    create(server)
    const operations = [
      { op: 'add', path: '/status', value: { x: 1 } },
      { op: 'replace', path: '/spec', value: 2 },
    ] as const
    const written = server.write({ _tag: 'Patch', key, patch: operations, subresource: 'status' })
    expect(done(written)).toMatchObject({ spec: 1, status: { x: 1 }, metadata: { generation: 1 } })
    expect(done(patch(server, operations))).toMatchObject({ spec: 2, status: { x: 1 } })
  })

  test('a list of finalizers that has become empty is not there any more', () => {
    const server = serverOf()
    create(server, anObject({ finalizers: ['f'] }))
    const emptied = patch(server, [{ op: 'remove', path: '/metadata/finalizers/0' }])
    expect(done(emptied).metadata).not.toHaveProperty('finalizers')
    const appended = patch(server, [{ op: 'add', path: '/metadata/finalizers/-', value: 'f' }])
    expect(codeOf(appended)).toBe('422 Invalid')
  })
})

describe('deleting', () => {
  test('an object without finalizers goes at once, under a new version', () => {
    const server = serverOf()
    const object = create(server)
    const changes = changesOf(server)
    expect(done(erase(server)).metadata.resourceVersion).toBe('3')
    expect(server.get(key)).toBeUndefined()
    expect(changes).toEqual([
      {
        type: 'DELETED',
        revision: 3,
        object: { ...object, metadata: { ...object.metadata, resourceVersion: '3' } },
        before: object,
      },
    ])
    expect(codeOf(erase(server))).toBe('404 NotFound')
  })

  test('an object with finalizers becomes terminating, which counts a generation; again changes nothing', () => {
    const server = serverOf()
    create(server, anObject({ finalizers: ['f'] }))
    const terminating = done(erase(server))
    expect(terminating.metadata).toMatchObject({
      generation: 2,
      resourceVersion: '3',
      deletionTimestamp: '2026-01-31T12:00:00Z',
      deletionGracePeriodSeconds: 0,
      finalizers: ['f'],
    })
    expect(done(erase(server))).toBe(terminating)
  })

  test('a deletion is refused where its uid or version is not the present one', () => {
    const server = serverOf()
    const { metadata } = create(server)
    expect(codeOf(erase(server, { uid: 'another' }))).toBe('409 Conflict')
    expect(codeOf(erase(server, { resourceVersion: '1' }))).toBe('409 Conflict')
    expect(server.get(key)).toBeDefined()
    const { uid, resourceVersion } = metadata
    expect(codeOf(erase(server, { uid, resourceVersion }))).toBe('done')
  })

  test('a terminating object takes no new finalizer, and loses no deletion timestamp', () => {
    const server = serverOf()
    create(server, anObject({ finalizers: ['f', 'g'] }))
    const terminating = done(erase(server))
    const withNew = patch(server, [{ op: 'add', path: '/metadata/finalizers/-', value: 'h' }])
    expect(codeOf(withNew)).toBe('422 Invalid')
    const { resourceVersion } = terminating.metadata
    const metadata = { ...key, resourceVersion }
    const changed = done(
      update(server, { ...terminating, metadata: { ...metadata, finalizers: ['g'] }, spec: 2 }),
    )
    expect(changed.metadata).toMatchObject({
      deletionTimestamp: terminating.metadata.deletionTimestamp,
      finalizers: ['g'],
      generation: 3,
    })
  })

  test('a terminating object goes with its last finalizer; who took that off gets what is left, watchers what was stored', () => {
    const server = serverOf()
    create(server, anObject({ finalizers: ['f'] }))
    const terminating = done(erase(server))
    const changes = changesOf(server)
    const last = done(patch(server, [{ op: 'remove', path: '/metadata/finalizers/0' }]))
    expect(last.metadata).not.toHaveProperty('finalizers')
    expect(last.metadata.resourceVersion).toBe('3')
    expect(server.get(key)).toBeUndefined()
    expect(changes.map(({ type, object }) => [type, object])).toEqual([
      ['DELETED', { ...terminating, metadata: { ...terminating.metadata, resourceVersion: '4' } }],
    ])
  })
})

describe('the server', () => {
  test('a list is in the order of the names, at the version of the last change to anything', () => {
    const server = serverOf()
    for (const name of ['b', 'c', 'a']) create(server, anObject({ name }))
    erase(server)
    expect(server.list()).toMatchObject({
      resourceVersion: '5',
      items: [{ metadata: { name: 'b' } }, { metadata: { name: 'c' } }],
    })
  })

  test('nobody can change what the server has: what goes in is copied, what comes out is frozen', () => {
    const server = serverOf()
    const spec = { list: [{ x: 1 }] }
    const finalizers = ['f']
    const object = create(server, anObject({ finalizers }, spec))
    spec.list.push({ x: 2 })
    finalizers.push('g')
    expect(server.get(key)).toMatchObject({
      metadata: { finalizers: ['f'] },
      spec: { list: [{ x: 1 }] },
    })
    const value = { y: [1] }
    const patched = done(patch(server, [{ op: 'add', path: '/spec/more', value }]))
    value.y.push(2)
    expect(patched).toMatchObject({ spec: { more: { y: [1] } } })
    const isFrozen = (part: unknown): boolean =>
      typeof part !== 'object' ||
      part === null ||
      (Object.isFrozen(part) && Object.values(part).every(isFrozen))
    expect([object, patched, server.list()].every(isFrozen)).toBe(true)
  })

  test('an observer that writes is told of it afterwards, and so is every other', () => {
    const server = serverOf()
    const first: Array<number> = []
    const second: Array<number> = []
    server.observe(({ revision, type }) => {
      if (type === 'ADDED') erase(server)
      first.push(revision)
    })
    const stop = server.observe(({ revision }) => second.push(revision))
    create(server)
    expect([first, second]).toEqual([
      [2, 3],
      [2, 3],
    ])
    stop()
    create(server)
    expect(second).toEqual([2, 3])
  })
})
