import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import type { ApiFailure } from '../../src/adapters/k8s/api.js'
import {
  kubernetesRoutes,
  type KubernetesRoutesOptions,
} from '../../src/adapters/k8s/route-source.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import type { SourceState } from '../../src/ports/route-source.js'
import { type Asked, type FakeClient, fakeClient, statusReply } from '../support/k8s-fake-client.js'
import {
  modelServer,
  type ModelServer,
  type ServerObject,
} from '../support/k8s-reflector-server.js'
import { type WatchedSource, watchSource } from '../support/k8s-watched-source.js'

/** A route that answers with a status; of content 1 it is invalid, of content 2 it has a field too many. */
const render = ({ name: full, uid, resourceVersion, content }: ServerObject) => {
  const [namespace, name] = full.split('/')
  const spec =
    content === 2 ? { respond: { code: 202 }, shiny: true } : { respond: { code: content } }
  return {
    apiVersion: 'net.10xdev.io/v1',
    kind: 'EdgeRoute',
    metadata: {
      namespace,
      name,
      uid,
      resourceVersion,
      generation: content,
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['net.10xdev.io/deprogram'],
      managedFields: [{ manager: 'kubectl' }],
    },
    spec,
  }
}

interface Rig extends WatchedSource<ModelServer> {
  readonly server: ModelServer
  readonly client: FakeClient
}

interface RigOptions extends KubernetesRoutesOptions {
  readonly seed?: (server: ModelServer) => void
  readonly interfere?: (asked: Asked, server: ModelServer) => ReturnType<FakeClient['interfere']>
  readonly onState?: (state: SourceState) => void
}

/** Watches a model server until the test ends. */
const rig = async ({ seed, interfere, onState, ...options }: RigOptions = {}): Promise<Rig> => {
  const clock = virtualClock(1_000)
  const server = modelServer()
  seed?.(server)
  const client = fakeClient(server, clock, render)
  if (interfere !== undefined) client.interfere = (asked) => interfere(asked, server)
  const watched = await watchSource(
    clock,
    (ports) => ({
      source: kubernetesRoutes(client, { ...ports, ...options }),
      server,
      flush: client.flush,
    }),
    onState,
  )
  return { ...watched, server, client }
}

const codes = ({ states }: Rig) =>
  states.at(-1) &&
  Object.fromEntries(
    (states.at(-1)?.routes ?? []).map(({ metadata, spec }) => [
      `${metadata.namespace}/${metadata.name}`,
      spec.respond?.code,
    ]),
  )
const problems = ({ states }: Rig) => states.at(-1)?.problems ?? []

const two = (server: ModelServer): void => {
  server.put('shop/b', '', 200)
  server.put('lab/a', '', 404)
}

test.each([true, false])(
  'the first state has all that there is, and changes arrive; by a watch-list: %s',
  async (watchList) => {
    const one = await rig({ seed: two, watchList, pageSize: 1 })
    expect(one.states).toHaveLength(1)
    expect(codes(one)).toEqual({ 'lab/a': 404, 'shop/b': 200 })
    expect(one.states[0]?.objects?.map(({ key }) => key.name)).toEqual(['a', 'b'])
    await one.change((server) => server.put('shop/c', '', 503))
    await one.change((server) => server.put('shop/b', '', 201))
    await one.change((server) => server.remove('lab/a'))
    expect(one.states).toHaveLength(4)
    expect(codes(one)).toEqual({ 'shop/b': 201, 'shop/c': 503 })
    expect(new Set(one.client.asked.map(({ path }) => path))).toEqual(
      new Set(['/apis/net.10xdev.io/v1/edgeroutes']),
    )
  },
)

test('a server without routes gives an empty first state', async () => {
  expect((await rig()).states).toEqual([{ routes: [], objects: [], problems: [] }])
})

test('an object is told with its bookkeeping', async () => {
  const { states, server } = await rig({ seed: two })
  expect(states[0]?.objects?.[0]).toEqual({
    key: { namespace: 'lab', name: 'a' },
    uid: 'uid-2',
    generation: 404,
    resourceVersion: server.objects()[0]?.resourceVersion,
    finalizers: ['net.10xdev.io/deprogram'],
    conditions: [],
  })
})

test('the first state waits for each of the namespaces, and nothing is asked of others', async () => {
  let isLate = true
  const one = await rig({
    seed: two,
    namespaces: ['shop', 'lab', 'shop'],
    watchList: false,
    interfere: ({ path }) => (path.includes('/shop/') && isLate ? statusReply(500) : undefined),
  })
  expect(one.states).toEqual([])
  isLate = false
  await one.pass(2_000)
  expect(codes(one)).toEqual({ 'lab/a': 404, 'shop/b': 200 })
  await one.change((server) => server.put('other/x', '', 200))
  await one.change((server) => server.put('lab/c', '', 200))
  expect(Object.keys(codes(one) ?? {})).toEqual(['lab/a', 'lab/c', 'shop/b'])
  expect(new Set(one.client.asked.map(({ path }) => path)).size).toBe(2)
})

test('what has not changed stays the same object, also when everything is listed again', async () => {
  const one = await rig({ seed: two, relistMs: 60_000 })
  const [before] = one.states
  await one.change((server) => server.put('shop/c', '', 200))
  await one.pass(70_000)
  await one.change((server) => server.remove('shop/c'))
  const after = one.states.at(-1)
  expect(one.client.asked.filter(({ query }) => query.sendInitialEvents)).toHaveLength(2)
  expect(after?.routes).toHaveLength(2)
  after?.routes.forEach((route, i) => expect(route).toBe(before?.routes[i]))
  after?.objects?.forEach((object, i) => expect(object).toBe(before?.objects?.[i]))
})

test('an invalid spec keeps the last valid form of that uid, and none of another one', async () => {
  const one = await rig({ seed: two })
  await one.change((server) => server.put('lab/a', '', 1))
  expect(codes(one)).toEqual({ 'lab/a': 404, 'shop/b': 200 })
  expect(problems(one)).toMatchObject([{ where: 'lab/a', keepsLastGood: true }])
  expect(one.states.at(-1)?.objects).toHaveLength(2)
  await one.change((server) => {
    server.remove('lab/a')
    server.put('lab/a', '', 1)
  })
  expect(codes(one)).toEqual({ 'shop/b': 200 })
  expect(problems(one)).toMatchObject([{ where: 'lab/a', keepsLastGood: false }])
  await one.change((server) => server.put('lab/a', '', 200))
  expect(codes(one)).toEqual({ 'lab/a': 200, 'shop/b': 200 })
  expect(problems(one)).toEqual([])
})

test('unknown fields are ignored, and logged once', async () => {
  const one = await rig({ seed: (server) => server.put('lab/a', '', 2) })
  expect(codes(one)).toEqual({ 'lab/a': 202 })
  expect(problems(one)).toEqual([])
  await one.change((server) => server.put('lab/a', '', 2))
  expect(one.logged()).toEqual(['unknown fields of a route are ignored'])
})

test('after a 410 in the middle of a stream everything is listed, and what vanished in the gap is gone', async () => {
  const one = await rig({ seed: two })
  one.client.freeze()
  one.server.remove('lab/a')
  one.server.put('lab/a', '', 201)
  one.server.remove('shop/b')
  one.server.compact()
  await one.pass(90_000)
  expect(codes(one)).toEqual({ 'lab/a': 201 })
  expect(one.states.at(-1)?.routes[0]?.metadata.uid).toBe('uid-3')
})

test('a 410 in answer to a watch, and one to a page, are followed by a list', async () => {
  const gone = { watch: 0, page: 0 }
  const one = await rig({
    seed: two,
    watchList: false,
    pageSize: 1,
    interfere: ({ kind, query }) => {
      if (kind === 'stream' && gone.watch++ === 0) return statusReply(410)
      return query.continue !== undefined && gone.page++ === 0 ? statusReply(410) : undefined
    },
  })
  await one.pass(10_000)
  expect(gone.watch).toBe(2)
  expect(codes(one)).toEqual({ 'lab/a': 404, 'shop/b': 200 })
  expect(
    one.client.asked.map(({ kind, query }) => (kind === 'stream' ? 'watch' : 'continue' in query)),
  ).toEqual([false, true, false, true, 'watch', false, true, 'watch'])
})

test('a list whose next page has expired on the server begins anew, and tells nothing of what it had', async () => {
  let isCompacted = false
  const one = await rig({
    seed: two,
    watchList: false,
    pageSize: 1,
    interfere: ({ query }, server) => {
      if (query.continue !== undefined && !isCompacted) {
        isCompacted = true
        server.remove('lab/a')
        server.compact()
      }
      return undefined
    },
  })
  expect(isCompacted).toBe(true)
  expect(one.states.map(({ routes }) => routes.map(({ metadata }) => metadata.name))).toEqual([
    ['b'],
  ])
})

test('a connection that went silent is found, and begun anew from where it was', async () => {
  const one = await rig({ seed: two })
  one.client.freeze()
  one.server.put('shop/c', '', 503)
  await one.pass(89_000)
  expect(codes(one)).toEqual({ 'lab/a': 404, 'shop/b': 200 })
  await one.pass(1_000)
  expect(codes(one)).toEqual({ 'lab/a': 404, 'shop/b': 200, 'shop/c': 503 })
})

const unreachable: ApiFailure = { _tag: 'Unreachable', message: 'connection refused' }

test('while the server is away the last good state stays, and a problem says so; then it is made up for', async () => {
  const one = await rig({ seed: two })
  one.client.interfere = () => unreachable
  one.client.cut()
  await one.pass(60_000)
  expect(codes(one)).toEqual({ 'lab/a': 404, 'shop/b': 200 })
  expect(problems(one)).toMatchObject([
    { where: 'edgeroutes', key: undefined, keepsLastGood: true },
  ])
  expect(problems(one)[0]?.errors[0]?.message).toContain('connection refused')
  one.server.remove('shop/b')
  one.client.interfere = () => undefined
  await one.pass(30_000)
  await one.pass(5_000)
  expect(codes(one)).toEqual({ 'lab/a': 404 })
  expect(problems(one)).toEqual([])
})

test('a kind that does not exist yet is waited for, and the log says why', async () => {
  const one = await rig({ seed: two, interfere: () => statusReply(404, 'not found') })
  expect(one.states).toEqual([])
  expect(one.logged()).toEqual(['routes cannot be read yet'])
  await one.pass(300_000)
  expect(one.states).toEqual([])
  one.client.interfere = () => undefined
  await one.pass(30_000)
  expect(codes(one)).toEqual({ 'lab/a': 404, 'shop/b': 200 })
})

test('a server that asks to be left alone is left alone for as long', async () => {
  const one = await rig({ interfere: () => statusReply(429, 'too many requests', 7_000) })
  await one.pass(6_999)
  expect(one.client.asked).toHaveLength(1)
  await one.pass(1)
  expect(one.client.asked).toHaveLength(2)
})

test.each([
  '{"type":"ADDED"',
  'null',
  '{"type":"WHAT"}',
  '{"type":"MODIFIED","object":{"metadata":{}}}',
])(
  'a line that says nothing, %s, is followed by a list, since nobody knows what it should have said',
  async (line) => {
    const one = await rig({ seed: two, watchList: false })
    one.client.say(line)
    await one.pass(0)
    expect(one.client.asked.map(({ kind }) => kind)).toEqual(['send', 'stream', 'send', 'stream'])
    await one.change((server) => server.put('shop/c', '', 503))
    expect(codes(one)).toEqual({ 'lab/a': 404, 'shop/b': 200, 'shop/c': 503 })
  },
)

test('a burst of changes makes few states, and the last one has all of them', async () => {
  const count = 2_000
  const one = await rig({
    seed: (server) => {
      for (let i = 0; i < count; i++) server.put(`shop/${i}`, '', 200)
    },
  })
  const before = one.states.length
  await one.change((server) => {
    for (let i = 0; i < 50; i++) server.put(`shop/${i}`, '', 404)
  })
  await one.pass(10)
  expect(one.states.length - before).toBeLessThanOrEqual(2)
  expect(one.states.at(-1)?.routes.filter(({ spec }) => spec.respond?.code === 404)).toHaveLength(
    50,
  )
})

test('it ends when it is told to, and leaves no timer and no stream behind', async () => {
  const one = await rig({ seed: two, namespaces: ['shop', 'lab'] })
  expect(one.client.open()).toBe(2)
  one.stop.abort()
  expect(await one.ended).toEqual(E.right(undefined))
  expect(one.clock.waiting()).toBe(0)
  expect(one.client.open()).toBe(0)
  const told = one.states.length
  await one.change((server) => server.put('shop/c', '', 503))
  expect(one.states).toHaveLength(told)
})

test('a watcher that throws ends it with what was thrown, and leaves nothing behind', async () => {
  const cause = new Error('out of order')
  const one = await rig({
    seed: two,
    onState: () => {
      throw cause
    },
  })
  expect(await one.ended).toEqual(
    E.left({ _tag: 'Unavailable', message: 'the watcher threw', cause }),
  )
  expect(one.states).toHaveLength(1)
  expect(one.clock.waiting()).toBe(0)
  expect(one.client.open()).toBe(0)
})

test('a client that throws ends it with what was thrown, and nothing is left unhandled', async () => {
  const cause = new Error('a bug')
  const one = await rig({
    interfere: () => {
      throw cause
    },
  })
  expect(await one.ended).toMatchObject(E.left({ cause }))
  expect(one.clock.waiting()).toBe(0)
})

test('who stops it before it begins is told nothing', async () => {
  const clock = virtualClock()
  const client = fakeClient(modelServer(), clock, render)
  const ended = kubernetesRoutes(client, { clock }).watch(() => undefined, AbortSignal.abort())()
  expect(await ended).toEqual(E.right(undefined))
  expect(client.asked).toEqual([])
})
