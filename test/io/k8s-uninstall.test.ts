import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { maxTries } from '../../src/adapters/k8s/write/patience.js'
import {
  maxNamedFailures,
  maxPasses,
  type UninstallError,
  type Uninstalled,
  uninstallRoutes,
} from '../../src/adapters/k8s/write/uninstall.js'
import { type ApiObject, memoryApiServer } from '../../src/adapters/memory/api-server/index.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import { finalizer } from '../../src/core/stored-object.js'
import { settled } from '../support/deletion-stage.js'
import { apiDouble, replyOf } from '../support/k8s-api-double.js'

/** How long a run may take, in seconds of its own time. */
const maxSeconds = 300

const start = (count: number, finalizers: ReadonlyArray<string> = [finalizer]) => {
  const clock = virtualClock(1_790_000_000_000)
  const server = memoryApiServer({ clock })
  const client = apiDouble(server)
  const create = (namespace: string, name: string, own = finalizers): ApiObject => {
    const object = { metadata: { namespace, name, finalizers: own } }
    const created = server.write({ _tag: 'Create', object })
    if (E.isLeft(created)) throw new Error(created.left.message)
    return created.right
  }
  for (let i = 0; i < count; i += 1) create('shop', `r${String(i).padStart(4, '0')}`)
  const held = (): number =>
    server.list().items.filter(({ metadata }) => metadata.finalizers?.includes(finalizer)).length
  const uninstall = async (
    options: { readonly namespaces?: ReadonlyArray<string> } = {},
    signal = new AbortController().signal,
  ): Promise<E.Either<UninstallError, Uninstalled>> => {
    const state: { ended: E.Either<UninstallError, Uninstalled> | undefined } = { ended: undefined }
    void uninstallRoutes(client, { ...options, clock }, signal)().then((ended) => {
      state.ended = ended
    })
    for (let i = 0; i < maxSeconds * 10; i += 1) {
      await settled()
      if (state.ended !== undefined) return state.ended
      clock.advance(100)
    }
    throw new Error('it does not end')
  }
  const touch = (name: string): void => {
    const key = { namespace: 'shop', name }
    const patch = [
      { op: 'add', path: '/metadata/labels', value: { at: `${(touched += 1)}` } },
    ] as const
    server.write({ _tag: 'Patch', key, patch })
  }
  let touched = 0
  return { server, client, create, held, uninstall, touch }
}

const all = (released: number): E.Either<never, Uninstalled> =>
  E.right({ released, failed: 0, failures: [] })

test('our finalizer goes from every object, of all pages, and no other one does', async () => {
  const { server, held, uninstall, client } = start(1_201, ['f', finalizer, 'g'])
  expect(await uninstall()).toEqual(all(1_201))
  expect(held()).toBe(0)
  for (const { metadata } of server.list().items) expect(metadata.finalizers).toEqual(['f', 'g'])
  const lists = client.asked.filter(({ method }) => method === 'GET')
  expect(lists.map(({ query }) => query?.continue !== undefined)).toEqual([
    ...[false, true, true],
    ...[false, true, true],
  ])
})

test('objects that are being deleted go', async () => {
  const { server, uninstall } = start(3)
  for (const { metadata } of server.list().items) server.write({ _tag: 'Delete', key: metadata })
  expect(await uninstall()).toEqual(all(3))
  expect(server.list().items).toEqual([])
})

test('only the namespaces that are named are looked at, each once', async () => {
  const { create, uninstall, held } = start(2)
  create('a', 'r')
  create('b', 'r')
  expect(await uninstall({ namespaces: ['a', 'b', 'a', 'nothing'] })).toEqual(all(2))
  expect(held()).toBe(2)
})

test('where there is nothing to do nothing is written, also where the kind is unknown', async () => {
  const { uninstall, client } = start(2, ['f'])
  expect(await uninstall()).toEqual(all(0))
  client.meddle = () => ({ reply: { status: 404, body: undefined, retryAfterMs: undefined } })
  expect(await uninstall()).toEqual(all(0))
  expect(client.asked.every(({ method }) => method === 'GET')).toBe(true)
})

test('what has changed meanwhile is released as it is then', async () => {
  const { uninstall, client, touch, held } = start(20)
  const changed = new Set<string>()
  client.meddle = ({ method, path }) => {
    const name = path.split('/').at(-1) ?? ''
    if (method === 'PATCH' && !changed.has(name)) touch(name)
    if (method === 'PATCH') changed.add(name)
    return undefined
  }
  expect(await uninstall()).toEqual(all(20))
  expect(held()).toBe(0)
})

test('what is gone when its turn comes, or is another object by then, counts as released', async () => {
  const { server, uninstall, client, create } = start(2)
  let isFirst = true
  client.meddle = ({ method }) => {
    if (method !== 'PATCH' || !isFirst) return undefined
    isFirst = false
    for (const { metadata } of server.list().items) {
      const patch = [{ op: 'remove', path: '/metadata/finalizers' }] as const
      server.write({ _tag: 'Patch', key: metadata, patch })
      server.write({ _tag: 'Delete', key: metadata })
    }
    create('shop', 'r0000', ['f'])
    return undefined
  }
  expect(await uninstall()).toEqual(all(2))
  expect(server.list().items).toMatchObject([{ metadata: { finalizers: ['f'] } }])
})

test('no more than a few writes are under way at once', async () => {
  const { uninstall, client } = start(60)
  let [underWay, most] = [0, 0]
  client.meddle = async ({ method }) => {
    if (method !== 'PATCH') return undefined
    underWay += 1
    most = Math.max(most, underWay)
    await Promise.resolve()
    underWay -= 1
    return undefined
  }
  expect(await uninstall()).toEqual(all(60))
  expect(most).toBe(8)
})

test('trouble that passes is waited out, in a list and in a write, and takes nothing twice', async () => {
  const { uninstall, client, held } = start(10)
  let count = 0
  client.meddle = ({ method }) => {
    count += 1
    if (count % 3 === 0)
      return { failure: { _tag: 'Unreachable', message: 'reset' }, isDone: method === 'PATCH' }
    return count % 3 === 1 ? { reply: replyOf(500) } : undefined
  }
  expect(await uninstall()).toEqual(all(10))
  expect(held()).toBe(0)
})

test('a list that expires between two pages is begun anew', async () => {
  const { uninstall, client, held } = start(700)
  let expiries = 0
  client.meddle = ({ query = {} }) => {
    if (query.continue === undefined || expiries > 0) return undefined
    expiries += 1
    return { reply: replyOf(410) }
  }
  expect(await uninstall()).toEqual(all(700))
  expect([expiries, held()]).toEqual([1, 0])
})

test('what cannot be released is named and holds up nothing; it is tried in one pass alone', async () => {
  const { uninstall, client } = start(maxNamedFailures + 20)
  const refused = (path: string): boolean => !path.endsWith('r0007')
  client.meddle = ({ method, path }) =>
    method === 'PATCH' && refused(path) ? { reply: replyOf(403, { message: 'no' }) } : undefined
  const ended = await uninstall()
  expect(ended).toMatchObject({ right: { released: 1, failed: maxNamedFailures + 19 } })
  const { failures } = E.isRight(ended) ? ended.right : { failures: [] }
  expect(failures).toHaveLength(maxNamedFailures)
  expect(failures[0]).toEqual({
    key: { namespace: 'shop', name: 'r0000' },
    message: 'the API server answers 403: no',
  })
  expect(client.asked.filter(({ path }) => path.endsWith('r0000'))).toHaveLength(1)
})

test('a write that never succeeds is given up in the end', async () => {
  const { uninstall, client } = start(1)
  client.meddle = ({ method }) => (method === 'PATCH' ? { reply: replyOf(500) } : undefined)
  expect(await uninstall()).toMatchObject({ right: { released: 0, failed: 1 } })
  expect(client.asked.filter(({ method }) => method === 'PATCH')).toHaveLength(maxTries)
})

test('a control plane that adds the finalizer again and again is named as the reason', async () => {
  const { uninstall, client, server, create } = start(0)
  let made = 0
  client.meddle = ({ path }) => {
    if (path.endsWith('/edgeroutes')) create('shop', `new-${(made += 1)}`)
    return undefined
  }
  const ended = await uninstall()
  expect(ended).toMatchObject({ left: { _tag: 'Restored', soFar: { released: maxPasses } } })
  expect(E.isLeft(ended) && ended.left.message).toMatch(/a control plane is at work/)
  expect(server.list().items).toHaveLength(maxPasses)
})

test.each([
  [replyOf(403, { message: 'no' }), /403.*edgeroutes: no/, 1],
  [replyOf(500, { message: 'oh' }), /500.*edgeroutes: oh/, maxTries],
  [{ status: 200, body: 'what', retryAfterMs: undefined }, /200.*something else than a list/, 1],
  [{ status: 200, body: {}, retryAfterMs: undefined }, /200.*something else than a list/, 1],
])(
  'a list that cannot be had is said with what was done so far: %j',
  async (reply, words, tries) => {
    const { uninstall, client } = start(600)
    let asked = 0
    client.meddle = ({ query = {} }) => {
      if (query.continue === undefined) return undefined
      asked += 1
      return { reply }
    }
    const ended = await uninstall()
    expect(ended).toMatchObject({ left: { _tag: 'Unlisted', soFar: { released: 500, failed: 0 } } })
    expect(E.isLeft(ended) && ended.left.message).toMatch(words)
    expect(asked).toBe(tries)
  },
)

test('an abort ends it soon, and says how far it came', async () => {
  const { uninstall, client, held } = start(300)
  const stop = new AbortController()
  let patches = 0
  client.meddle = ({ method }) => {
    if (method === 'PATCH' && (patches += 1) === 50) stop.abort()
    return undefined
  }
  const ended = await uninstall({}, stop.signal)
  expect(ended).toMatchObject({ left: { _tag: 'Aborted', soFar: { failed: 0, failures: [] } } })
  expect(E.isLeft(ended) && ended.left.soFar.released).toBe(300 - held())
  expect(held()).toBeGreaterThan(240)
  expect(await uninstall({}, AbortSignal.abort())).toMatchObject({ left: { _tag: 'Aborted' } })
})
