import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ApiObject,
  type Change,
  type MemoryApiServer,
  memoryApiServer,
  type WatchEvent,
  type Write,
} from '../../src/adapters/memory/api-server/index.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'

/** What one request names of an object: what is there, what was there before, something else, or nothing. */
type Which = 'present' | 'stale' | 'other' | 'none'

type Action = { readonly name: string; readonly version: Which; readonly uid: Which } & (
  | {
      readonly _tag: 'create' | 'put'
      readonly spec: number
      readonly finalizers: ReadonlyArray<string>
    }
  | { readonly _tag: 'putStatus'; readonly status: number }
  | { readonly _tag: 'addFinalizer'; readonly finalizer: string }
  | { readonly _tag: 'dropFinalizer' }
  | { readonly _tag: 'delete' }
)

const which = fc.constantFrom<Which>('present', 'present', 'present', 'stale', 'other', 'none')
const small = fc.nat(2)
const finalizer = fc.constantFrom('f', 'g')
const finalizers = fc.uniqueArray(finalizer, { maxLength: 2 })
const base = { name: fc.constantFrom('a', 'b'), version: which, uid: which }
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ ...base, _tag: fc.constantFrom('create', 'put'), spec: small, finalizers }),
  fc.record({ ...base, _tag: fc.constant('putStatus' as const), status: small }),
  fc.record({ ...base, _tag: fc.constant('addFinalizer' as const), finalizer }),
  fc.record({ ...base, _tag: fc.constant('dropFinalizer' as const) }),
  fc.record({ ...base, _tag: fc.constant('delete' as const) }),
)

/** An object in as few words as possible. */
interface Plain {
  readonly number: number
  readonly spec: number
  readonly status: number | undefined
  readonly finalizers: ReadonlyArray<string>
  readonly terminating: boolean
  readonly generation: number
  readonly version: number
}

/** The server in a few lines: what is there, and what has happened. */
interface Model {
  readonly objects: Map<string, Plain>
  readonly told: Array<string>
  version: number
  created: number
}

const isDifferent = (a: Plain, b: Plain): boolean => JSON.stringify(a) !== JSON.stringify(b)

/** Makes an object what it is now, or, without one, nothing. */
const settle = (model: Model, name: string, next: Plain | undefined): string => {
  const before = model.objects.get(name)
  if (next !== undefined && before !== undefined && !isDifferent(before, next)) return 'ok'
  model.version++
  model.told.push(`${before ? (next ? 'MODIFIED' : 'DELETED') : 'ADDED'} ${name} ${model.version}`)
  if (next === undefined) model.objects.delete(name)
  else model.objects.set(name, { ...next, version: model.version })
  return 'ok'
}

/** What follows from new finalizers: a terminating object takes none, and goes without them. */
const settleFinalizers = (model: Model, name: string, before: Plain, next: Plain): string => {
  if (!before.terminating) return settle(model, name, next)
  if (next.finalizers.some((each) => !before.finalizers.includes(each))) return '422'
  return settle(model, name, next.finalizers.length === 0 ? undefined : next)
}

const isWrong = (which: Which): boolean => which === 'stale' || which === 'other'

const expectedOf = (model: Model, action: Action): string => {
  const { name, version, uid } = action
  const before = model.objects.get(name)
  if (action._tag === 'create') {
    if (before) return '409'
    const { spec, finalizers } = action
    const number = ++model.created
    const fresh = { number, spec, finalizers, status: undefined, terminating: false }
    return settle(model, name, { ...fresh, generation: 1, version: 0 })
  }
  if (!before) return '404'
  switch (action._tag) {
    case 'put':
    case 'putStatus': {
      if (isWrong(uid)) return '409'
      if (version !== 'present') return version === 'none' ? '422' : '409'
      if (action._tag === 'putStatus')
        return settle(model, name, { ...before, status: action.status })
      const generation = before.generation + Number(action.spec !== before.spec)
      const { spec, finalizers } = action
      return settleFinalizers(model, name, before, { ...before, spec, finalizers, generation })
    }
    case 'addFinalizer':
    case 'dropFinalizer': {
      if (isWrong(uid) || isWrong(version)) return '422'
      const { finalizers } = before
      if (action._tag === 'dropFinalizer')
        return finalizers.length === 0
          ? '422'
          : settleFinalizers(model, name, before, { ...before, finalizers: finalizers.slice(1) })
      const next = { ...before, finalizers: [...finalizers, action.finalizer] }
      return settleFinalizers(model, name, before, next)
    }
    case 'delete': {
      if (isWrong(uid) || isWrong(version)) return '409'
      if (before.finalizers.length === 0) return settle(model, name, undefined)
      if (before.terminating) return 'ok'
      const generation = before.generation + 1
      return settle(model, name, { ...before, terminating: true, generation })
    }
  }
}

/** The same in the words of the server. */
const writeOf = (server: MemoryApiServer, action: Action): Write => {
  const key = { namespace: 'shop', name: action.name }
  const present = server.get(key)?.metadata
  const naming = (which: Which, of: string | undefined, stale: string): string | undefined =>
    which === 'none' ? undefined : which === 'present' ? of : which === 'stale' ? stale : '999999'
  const uid = naming(action.uid, present?.uid, '00000000-0000-4000-8000-000000000000')
  const resourceVersion = naming(
    action.version,
    present?.resourceVersion,
    String(Number(present?.resourceVersion) - 1),
  )
  const named = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  }
  const tests = Object.entries(named).map(
    ([field, value]) => ({ op: 'test', path: `/metadata/${field}`, value }) as const,
  )
  switch (action._tag) {
    case 'create': {
      const { spec, finalizers } = action
      return { _tag: 'Create', object: { metadata: { ...key, finalizers }, spec } }
    }
    case 'put': {
      const { spec, finalizers } = action
      return { _tag: 'Update', object: { metadata: { ...key, ...named, finalizers }, spec } }
    }
    case 'putStatus': {
      const object = { metadata: { ...key, ...named }, spec: 7, status: action.status }
      return { _tag: 'Update', object, subresource: 'status' }
    }
    case 'addFinalizer': {
      const isFirst = present?.finalizers === undefined
      const value = isFirst ? [action.finalizer] : action.finalizer
      const path = `/metadata/finalizers${isFirst ? '' : '/-'}`
      return { _tag: 'Patch', key, patch: [...tests, { op: 'add', path, value }] }
    }
    case 'dropFinalizer':
      return {
        _tag: 'Patch',
        key,
        patch: [...tests, { op: 'remove', path: '/metadata/finalizers/0' }],
      }
    case 'delete':
      return { _tag: 'Delete', key, ...named }
  }
}

const plainOf = ({ metadata, spec, status }: ApiObject): Plain => ({
  number: Number(metadata.uid.slice(-12)),
  spec: Number(spec),
  status: status === undefined ? undefined : Number(status),
  finalizers: metadata.finalizers ?? [],
  terminating: metadata.deletionTimestamp !== undefined,
  generation: metadata.generation,
  version: Number(metadata.resourceVersion),
})

const plainList = (objects: ReadonlyArray<ApiObject>): ReadonlyArray<readonly [string, Plain]> =>
  objects.map((object) => [object.metadata.name, plainOf(object)] as const)

const firstResourceVersion = 7
const actions = fc.array(action, { maxLength: 40 })

test('whatever is asked, the server answers, holds and tells what the model of it says', () => {
  const holds = fc.property(actions, (all) => {
    const server = memoryApiServer({ clock: virtualClock(), firstResourceVersion })
    const model: Model = { objects: new Map(), told: [], version: firstResourceVersion, created: 0 }
    const told: Array<string> = []
    server.observe(({ type, object, revision }: Change) => {
      expect(object.metadata.resourceVersion).toBe(String(revision))
      told.push(`${type} ${object.metadata.name} ${revision}`)
    })
    for (const each of all) {
      const answer = server.write(writeOf(server, each))
      expect(E.isLeft(answer) ? String(answer.left.code) : 'ok').toBe(expectedOf(model, each))
      const { items, resourceVersion } = server.list()
      expect(resourceVersion).toBe(String(model.version))
      expect(plainList(items)).toEqual([...model.objects].sort(([a], [b]) => (a < b ? -1 : 1)))
      expect(told).toEqual(model.told)
    }
  })
  fc.assert(holds, { numRuns: 1_000 })
})

test('a list and the watch from its version give what a later list gives, or the watch says 410', () => {
  const holds = fc.property(actions, fc.nat(40), fc.nat(10), (all, pause, historyLimit) => {
    const server = memoryApiServer({ clock: virtualClock(), historyLimit })
    const connection = server.connect('client')
    const known = new Map<string, ApiObject>()
    let from = ''
    let changed = 0
    for (const [i, each] of [...all, undefined].entries()) {
      if (i === Math.min(pause, all.length)) {
        server.list().items.forEach((object) => known.set(object.metadata.name, object))
        from = server.list().resourceVersion
        server.observe(() => changed++)
      }
      if (each !== undefined) server.write(writeOf(server, each))
    }
    const seen: Array<WatchEvent> = []
    const onEvent = (event: WatchEvent): void => {
      seen.push(event)
    }
    connection.watch(from, { onEvent, onEnd: () => undefined })
    if (changed > historyLimit) {
      expect(seen).toMatchObject([{ type: 'ERROR', error: { code: 410 } }])
      return
    }
    for (const event of seen) {
      if (event.type === 'DELETED') known.delete(event.object.metadata.name)
      else if (event.type !== 'ERROR' && event.type !== 'BOOKMARK')
        known.set(event.object.metadata.name, event.object)
    }
    expect([...known.values()].map(plainOf)).toEqual(
      expect.arrayContaining(server.list().items.map(plainOf)),
    )
    expect(known.size).toBe(server.list().items.length)
    expect(seen).toHaveLength(changed)
  })
  fc.assert(holds, { numRuns: 500 })
})
