import { expect, onTestFinished, test } from 'vitest'
import {
  endpointSlices,
  type InformerOptions,
  type InformerTrouble,
  type JsonObject,
  objectIn,
  pods,
  type RunningInformer,
  services,
  startInformer,
  textIn,
} from '../../src/adapters/k8s/informers/index.js'
import { virtualClock, type VirtualClock } from '../../src/adapters/memory/clock.js'
import { type FakeClient, fakeClient, statusReply } from '../support/k8s-fake-client.js'
import {
  modelServer,
  type ModelServer,
  type ServerObject,
} from '../support/k8s-reflector-server.js'

/** The group of a slice is its Service. */
const render = ({ name: full, uid, resourceVersion, group, content }: ServerObject) => {
  const [namespace, name] = full.split('/')
  const [, service] = group.split('/')
  const labels = service === undefined ? {} : { 'kubernetes.io/service-name': service }
  return { metadata: { namespace, name, uid, resourceVersion, labels }, content }
}

const contentOf = ({ content }: JsonObject): number | undefined =>
  typeof content === 'number' ? content : undefined

interface Rig {
  readonly server: ModelServer
  readonly client: FakeClient
  readonly clock: VirtualClock
  readonly informer: RunningInformer<number>
  /** What was told since the last call, each call of the handler by itself. */
  readonly told: () => ReadonlyArray<ReadonlyArray<string>>
  readonly troubles: () => ReadonlyArray<InformerTrouble>
  readonly settle: () => Promise<void>
  readonly change: (change: (server: ModelServer) => void) => Promise<void>
}

const rig = async (
  options: Pick<InformerOptions<number>, 'kind'> & Partial<InformerOptions<number>>,
  seed: (server: ModelServer) => void = () => undefined,
): Promise<Rig> => {
  const server = modelServer()
  seed(server)
  const clock = virtualClock(1_000)
  const client = fakeClient(server, clock, render)
  const stop = new AbortController()
  let told: Array<ReadonlyArray<string>> = []
  let troubles: ReadonlyArray<InformerTrouble> = []
  const informer = startInformer<number>(
    { client, clock, random: () => 0.5, project: contentOf, ...options },
    {
      onChanges: (changes) =>
        told.push(changes.map(({ _tag, object }) => `${_tag} ${object.name}=${object.value}`)),
      onTroubles: (now) => {
        troubles = now
      },
    },
    stop.signal,
  )
  onTestFinished(async () => {
    stop.abort()
    await informer.finished
    expect(clock.waiting()).toBe(0)
  })
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  }
  await settle()
  return {
    server,
    client,
    clock,
    informer,
    told: () => {
      const all = told
      told = []
      return all
    },
    troubles: () => troubles,
    settle,
    change: async (change) => {
      change(server)
      client.flush()
      await settle()
    },
  }
}

const held = ({ informer }: Rig) =>
  [...informer.objects()].map(({ name, value }) => `${name}=${value}`)

const services3 = (server: ModelServer): void => {
  server.put('shop/a', '', 1)
  server.put('shop/b', '', 2)
  server.put('lab/a', '', 3)
}

test('only the Services that are named are kept, and what is not projected is not told', async () => {
  const one = await rig({ kind: services, groups: ['shop/a'] }, services3)
  expect(one.told()).toEqual([['Added shop/a=1']])
  await one.change((server) => {
    server.put('shop/b', '', 20)
    server.put('shop/a', '', 10)
    server.remove('lab/a')
  })
  expect(one.told()).toEqual([['Modified shop/a=10']])
  expect(held(one)).toEqual(['shop/a=10'])
})

test('a Service that is named later is listed by itself, and is unknown until then', async () => {
  const one = await rig({ kind: services, groups: ['shop/a'] }, services3)
  one.told()
  const asked = one.client.asked.length
  one.informer.select({ add: ['shop/b'], remove: [] })
  expect(one.informer.isKnown('shop/a')).toBe(true)
  expect(one.informer.isKnown('shop/b')).toBe(false)
  await one.settle()
  expect(one.client.asked.slice(asked)).toMatchObject([
    { path: '/api/v1/namespaces/shop/services', query: { fieldSelector: 'metadata.name=b' } },
  ])
  expect(one.informer.isKnown('shop/b')).toBe(true)
  expect(one.told()).toEqual([['Added shop/b=2']])
  await one.change((server) => server.put('shop/b', '', 20))
  expect(one.told()).toEqual([['Modified shop/b=20']])
  one.informer.select({ add: [], remove: ['shop/a'] })
  expect(one.told()).toEqual([['Deleted shop/a=1']])
  expect(held(one)).toEqual(['shop/b=20'])
})

test('that a Service which is named does not exist is known once it was listed, and is told', async () => {
  const one = await rig({ kind: services, groups: [] })
  expect(one.told()).toEqual([[]])
  one.informer.select({ add: ['shop/none'], remove: [] })
  expect(one.informer.isKnown('shop/none')).toBe(false)
  await one.settle()
  expect(one.informer.isKnown('shop/none')).toBe(true)
  expect(one.told()).toEqual([[]])
  await one.change((server) => server.put('shop/none', '', 7))
  expect(one.told()).toEqual([['Added shop/none=7']])
})

test('the slices of a Service are one group, wherever a slice moves', async () => {
  const one = await rig({ kind: endpointSlices, groups: ['shop/a'] }, (server) => {
    server.put('shop/a-x', 'shop/a', 1)
    server.put('shop/a-y', 'shop/a', 2)
    server.put('shop/b-x', 'shop/b', 3)
    server.put('shop/orphan', '', 4)
  })
  expect(one.told()).toEqual([['Added shop/a-x=1', 'Added shop/a-y=2']])
  await one.change((server) => server.put('shop/a-y', 'shop/b', 2))
  expect(one.told()).toEqual([['Deleted shop/a-y=2']])
  one.informer.select({ add: ['shop/b'], remove: [] })
  await one.settle()
  expect(one.client.asked.at(-1)).toMatchObject({
    path: '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
    query: { labelSelector: 'kubernetes.io/service-name=b' },
  })
  expect(held(one)).toEqual(['shop/a-x=1', 'shop/a-y=2', 'shop/b-x=3'])
  one.told()
  await one.change((server) => server.put('shop/a-x', 'shop/b', 1))
  one.informer.select({ add: [], remove: ['shop/a'] })
  expect(held(one)).toEqual(['shop/a-x=1', 'shop/a-y=2', 'shop/b-x=3'])
})

test('each namespace is asked only for its own groups, and nothing is told before all were listed', async () => {
  const one = await rig(
    { kind: services, namespaces: ['shop', 'lab'], groups: ['shop/a'] },
    services3,
  )
  expect(one.told()).toEqual([['Added shop/a=1']])
  const asked = one.client.asked.length
  one.informer.select({ add: ['lab/a', 'other/a'], remove: ['shop/a'] })
  await one.settle()
  expect(one.client.asked.slice(asked).map(({ path }) => path)).toEqual([
    '/api/v1/namespaces/lab/services',
  ])
  expect(held(one)).toEqual(['lab/a=3'])
  expect(one.informer.isKnown('other/a')).toBe(true)
})

test('a trouble that stays is told again after a minute, then every ten, and says for how long', async () => {
  const one = await rig({ kind: services, namespaces: ['lab', 'shop'] }, services3)
  const messages: Array<string> = []
  const pass = async (minutes: number): Promise<ReadonlyArray<string>> => {
    // A watch that is not answered for five seconds counts as a good one.
    for (let i = 0; i < minutes * 30; i++) {
      one.clock.advance(2_000)
      await one.settle()
      const said = one.troubles().map(({ message }) => /\((.*)\)$/.exec(message)?.[1] ?? 'new')
      if (said.join() !== messages.at(-1)) messages.push(said.join())
    }
    return messages.splice(0, messages.length - 1)
  }
  one.client.interfere = (request) =>
    request.path.includes('/shop/') ? statusReply(401) : undefined
  one.client.cut()
  await one.settle()
  expect(one.troubles()).toMatchObject([{ where: 'services in namespace shop' }])
  expect(await pass(75)).toEqual([
    ...['new', 'for 1m', 'for 11m', 'for 21m', 'for 31m', 'for 41m', 'for 51m', 'for 1h1m'],
  ])
  one.client.interfere = () => undefined
  await pass(3)
  expect(one.troubles()).toEqual([])
  one.client.interfere = () => statusReply(401)
  one.client.cut()
  await pass(1)
  expect(one.troubles().map(({ where }) => where)).toHaveLength(2)
  expect(one.troubles()[0]?.message).not.toContain('(for')
})

test('what is selected while the server is away is there when it is back', async () => {
  const one = await rig({ kind: services, groups: ['shop/a'] }, services3)
  one.client.interfere = () => statusReply(503)
  one.client.cut()
  await one.settle()
  one.informer.select({ add: ['lab/a', 'shop/b'], remove: [] })
  for (let i = 0; i < 10; i++) {
    one.clock.advance(10_000)
    await one.settle()
  }
  expect(one.informer.isKnown('lab/a')).toBe(false)
  expect(held(one)).toEqual(['shop/a=1'])
  expect(one.troubles()).toMatchObject([{ where: 'services' }])
  one.client.interfere = () => undefined
  for (let i = 0; i < 10; i++) {
    one.clock.advance(10_000)
    await one.settle()
  }
  expect(one.informer.isKnown('lab/a')).toBe(true)
  expect(held(one)).toEqual(['lab/a=3', 'shop/a=1', 'shop/b=2'])
  expect(one.troubles()).toEqual([])
})

test('a label selector goes with lists and watches alike', async () => {
  for (const watchList of [true, false]) {
    const one = await rig({
      kind: pods,
      labelSelector: 'app=envoy',
      watchList,
      namespaces: ['edge'],
    })
    expect(one.client.asked).toHaveLength(watchList ? 1 : 2)
    for (const { path, query } of one.client.asked) {
      expect(path).toBe('/api/v1/namespaces/edge/pods')
      expect(query.labelSelector).toBe('app=envoy')
    }
  }
})

test('what is kept of an object is what its projection copies, and it is shown what it kept before', async () => {
  const seen: Array<readonly [name: string | undefined, before: number | undefined]> = []
  const one = await rig(
    {
      kind: pods,
      project: (object, before) => {
        seen.push([textIn(objectIn(object, 'metadata'), 'name'), before])
        const content = contentOf(object)
        return content === 0 ? undefined : content
      },
    },
    services3,
  )
  expect(one.told()).toEqual([['Added lab/a=3', 'Added shop/a=1', 'Added shop/b=2']])
  seen.length = 0
  await one.change((server) => {
    server.put('shop/a', '', 0)
    server.put('shop/b', '', 5)
    server.remove('shop/b')
    server.put('shop/b', '', 6)
  })
  expect(seen).toEqual([
    ['a', 1],
    ['b', 2],
    ['b', undefined],
  ])
  expect(one.told().flat()).toEqual([
    'Deleted shop/a=1',
    'Modified shop/b=5',
    'Deleted shop/b=5',
    'Added shop/b=6',
  ])
})

test('a list reads no form again that is known', async () => {
  let projected = 0
  const one = await rig(
    {
      kind: pods,
      relistMs: 60_000,
      project: (object) => {
        projected += 1
        return contentOf(object)
      },
    },
    services3,
  )
  await one.change((server) => server.put('shop/a', '', 9))
  one.client.freeze()
  one.server.put('shop/b', '', 9)
  projected = 0
  one.clock.advance(70_000)
  await one.settle()
  expect(held(one)).toEqual(['lab/a=3', 'shop/a=9', 'shop/b=9'])
  expect(projected).toBe(1)
})
