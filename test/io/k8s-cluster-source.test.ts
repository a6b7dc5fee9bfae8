import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { serviceWaitMs } from '../../src/adapters/k8s/cluster/backlog.js'
import { maxStreams } from '../../src/adapters/k8s/client/limits.js'
import { kubernetesSource } from '../../src/adapters/k8s/cluster-source.js'
import { maxNamespaces } from '../../src/adapters/k8s/informers/namespaces.js'
import type { KubernetesRoutesOptions } from '../../src/adapters/k8s/route-source.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import type { SourceState } from '../../src/ports/route-source.js'
import { statusReply } from '../support/k8s-fake-client.js'
import { fakeCluster, type FakeCluster } from '../support/k8s-fake-cluster.js'
import { type WatchedSource, watchSource } from '../support/k8s-watched-source.js'

type Servers = FakeCluster['servers']

interface Rig extends WatchedSource<Servers> {
  readonly cluster: FakeCluster
}

interface RigOptions extends KubernetesRoutesOptions {
  readonly seed?: (servers: Servers) => void
  readonly fault?: FakeCluster['fault']
  readonly onState?: (state: SourceState) => void
}

/** Watches a fake cluster until the test ends. */
const rig = async ({ seed, fault, onState, ...options }: RigOptions = {}): Promise<Rig> => {
  const clock = virtualClock(1_000)
  const cluster = fakeCluster(clock)
  seed?.(cluster.servers)
  if (fault !== undefined) cluster.fault = fault
  const watched = await watchSource(
    clock,
    (ports) => ({
      source: kubernetesSource(cluster, { ...ports, ...options }),
      server: cluster.servers,
      flush: cluster.flush,
    }),
    onState,
  )
  return { ...watched, cluster }
}

const last = ({ states }: Rig): SourceState => {
  const state = states.at(-1)
  if (state === undefined) throw new Error('there is no state yet')
  return state
}

/** Routes, Services with their ports, and slices with how many endpoints they have. */
const shown = ({ routes, backends }: SourceState) => ({
  routes: routes.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
  services: backends?.services.map(
    ({ namespace, name, ports }) => `${namespace}/${name}:${ports[0]?.port}`,
  ),
  slices: backends?.endpointSlices.map(
    ({ namespace, name, endpoints }) => `${namespace}/${name}:${endpoints.length}`,
  ),
})

const problemsOf = (rig: Rig) =>
  last(rig).problems.map(({ where, errors }) => `${where}: ${errors[0]?.message}`)

/** Content 1 names Service a, 2 b, 4 c; 3 both a and b; 8 none. */
const seed = ({ edgeroutes, services, endpointslices }: Servers): void => {
  edgeroutes.put('shop/r', '', 1)
  services.put('shop/a', 'shop/a', 80)
  services.put('shop/b', 'shop/b', 81)
  services.put('lab/a', 'lab/a', 82)
  endpointslices.put('shop/a-1', 'shop/a', 1)
  endpointslices.put('shop/a-2', 'shop/a', 2)
  endpointslices.put('shop/b-1', 'shop/b', 3)
  endpointslices.put('lab/a-1', 'lab/a', 4)
}

const first = {
  routes: ['shop/r'],
  services: ['shop/a:80'],
  slices: ['shop/a-1:1', 'shop/a-2:2'],
}

test.each([true, false])(
  'the first state has the routes, and the Services and slices that they name, no others; by a watch-list: %s',
  async (watchList) => {
    const one = await rig({ seed, watchList, pageSize: 2 })
    expect(one.states.map(shown)).toEqual([first])
    expect(last(one).problems).toEqual([])
  },
)

test('a cluster in which there is nothing gives an empty first state', async () => {
  const backends = { services: [], endpointSlices: [] }
  expect((await rig()).states).toEqual([{ routes: [], objects: [], backends, problems: [] }])
})

test.each(['services', 'endpointslices', 'edgeroutes'] as const)(
  'the first state waits for %s',
  async (late) => {
    let isLate = true
    const one = await rig({
      seed,
      fault: (of) => (of === late && isLate ? statusReply(500) : undefined),
    })
    await one.pass(10_000)
    expect(one.states).toEqual([])
    isLate = false
    await one.pass(10_000)
    expect(one.states.map(shown)).toEqual([first])
  },
)

test('each change of a Service or a slice that is named makes a state, and none of others does', async () => {
  const one = await rig({ seed })
  await one.change(({ services }) => services.put('shop/a', 'shop/a', 8080))
  await one.change(({ endpointslices }) => endpointslices.put('shop/a-1', 'shop/a', 5))
  await one.change(({ endpointslices }) => endpointslices.remove('shop/a-2'))
  expect(one.states).toHaveLength(4)
  expect(shown(last(one))).toEqual({
    routes: ['shop/r'],
    services: ['shop/a:8080'],
    slices: ['shop/a-1:5'],
  })
  await one.change(({ services, endpointslices }) => {
    services.put('shop/b', 'shop/b', 1)
    endpointslices.put('lab/a-1', 'lab/a', 1)
  })
  expect(one.states).toHaveLength(4)
})

test('what has not changed stays the same object, and the backends as a whole do', async () => {
  const one = await rig({ seed, relistMs: 60_000 })
  const before = last(one).backends
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/s', '', 8))
  expect(last(one).backends).toBe(before)
  await one.change(({ services }) => services.put('shop/a', 'shop/a', 80))
  await one.pass(70_000)
  expect(one.states).toHaveLength(2)
  await one.change(({ endpointslices }) => endpointslices.put('shop/a-1', 'shop/a', 9))
  const after = last(one).backends
  expect(after).not.toBe(before)
  expect(after?.services).toBe(before?.services)
  expect(after?.endpointSlices[1]).toBe(before?.endpointSlices[1])
})

test('a route that newly names a Service is shown when that and its slices are known', async () => {
  let isSilent = false
  const one = await rig({
    seed,
    fault: (of, { kind }) =>
      isSilent && of === 'endpointslices' && kind === 'send'
        ? statusReply(503, 'no', 1_000)
        : undefined,
  })
  isSilent = true
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/r', '', 3))
  expect(one.states.map(shown)).toEqual([first])
  isSilent = false
  await one.pass(1_500)
  expect(one.states.map(shown)).toEqual([
    first,
    {
      routes: ['shop/r'],
      services: ['shop/a:80', 'shop/b:81'],
      slices: ['shop/a-1:1', 'shop/a-2:2', 'shop/b-1:3'],
    },
  ])
})

test('changes are shown in their order: what comes after one that waits is not shown before it', async () => {
  let isSilent = false
  const one = await rig({
    seed: (servers) => {
      seed(servers)
      servers.edgeroutes.put('shop/old', '', 8)
    },
    fault: (of, { kind }) =>
      isSilent && of === 'services' && kind === 'send' ? statusReply(503, 'no', 1_000) : undefined,
  })
  isSilent = true
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/new', '', 2))
  await one.change(({ edgeroutes }) => edgeroutes.remove('shop/old'))
  expect(one.states).toHaveLength(1)
  isSilent = false
  await one.pass(1_500)
  expect(one.states.map(({ routes }) => routes.map(({ metadata }) => metadata.name))).toEqual([
    ['old', 'r'],
    ['new', 'r'],
  ])
})

test('a Service that does not exist is known as soon as the server says so', async () => {
  const one = await rig({ seed })
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/r', '', 4))
  expect(shown(last(one))).toEqual({ routes: ['shop/r'], services: [], slices: [] })
  expect(last(one).problems).toEqual([])
  await one.change(({ services }) => services.put('shop/c', 'shop/c', 83))
  expect(shown(last(one)).services).toEqual(['shop/c:83'])
})

test('a reply that is no list does not say that a Service is not there', async () => {
  const one = await rig({ seed })
  one.cluster.fault = (of, { query }) =>
    of === 'services' && 'fieldSelector' in query
      ? { status: 200, body: {}, retryAfterMs: undefined }
      : undefined
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/r', '', 2))
  expect(one.states).toHaveLength(1)
  one.cluster.fault = () => undefined
  await one.pass(2_000)
  expect(shown(last(one)).services).toEqual(['shop/b:81'])
  expect(last(one).problems).toEqual([])
})

test('more namespaces than there are streams for are refused, and nothing is asked', async () => {
  const namespaces = Array.from({ length: maxNamespaces + 1 }, (_, i) => `n${i}`)
  const one = await rig({ namespaces })
  const message = expect.stringMatching(/^65 namespaces cannot be followed.*64 at most/) as unknown
  expect(one.cluster.asked()).toEqual([])
  expect(await one.ended).toMatchObject({ left: { _tag: 'Unavailable', message } })
  const most = await rig({ namespaces: [...namespaces.slice(1), 'n1'] })
  expect(most.cluster.open()).toBe(3 * maxNamespaces)
  // With the Pods of Envoys it is one more for each.
  expect(4 * maxNamespaces).toBeLessThanOrEqual(maxStreams)
})

test('a Service that no route names any more is dropped, and asked for when one names it again', async () => {
  const one = await rig({ seed })
  const fetches = () => one.cluster.asked().filter(({ query }) => 'fieldSelector' in query).length
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/r', '', 8))
  expect(shown(last(one))).toEqual({ routes: ['shop/r'], services: [], slices: [] })
  expect(fetches()).toBe(0)
  const { length } = one.states
  await one.change(({ services }) => services.put('shop/a', 'shop/a', 90))
  expect(one.states).toHaveLength(length)
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/s', '', 1))
  expect(fetches()).toBe(1)
  expect(shown(last(one))).toEqual({
    ...first,
    routes: ['shop/r', 'shop/s'],
    services: ['shop/a:90'],
  })
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/r', '', 1))
  await one.change(({ edgeroutes }) => edgeroutes.remove('shop/s'))
  expect(fetches()).toBe(1)
  expect(shown(last(one)).services).toEqual(['shop/a:90'])
})

test('a Service that only routes name which wait themselves is not dropped', async () => {
  const one = await rig({
    seed,
    fault: (_, { query }) => {
      if (query.fieldSelector === 'metadata.name=c') return 'silent'
      return query.fieldSelector === 'metadata.name=b' && one.clock.nowMs() < 1_500
        ? statusReply(503, 'no', 1_000)
        : undefined
    },
  })
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/s', '', 2))
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/r', '', 8))
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/t', '', 4))
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/u', '', 1))
  await one.pass(1_500)
  expect(shown(last(one))).toEqual({
    routes: ['shop/r', 'shop/s'],
    services: ['shop/b:81'],
    slices: ['shop/b-1:3'],
  })
  await one.pass(serviceWaitMs)
  expect(shown(last(one)).services).toEqual(['shop/a:80', 'shop/b:81'])
  expect(problemsOf(one)).toEqual([expect.stringMatching(/not told yet of shop\/c:/)])
})

test.each([
  ['denied', statusReply(403, 'forbidden')],
  ['answered by nobody', 'silent' as const],
])(
  'while Services are %s there is no first state, and Envoys keep what they have; it comes whole',
  async (_, fault) => {
    let isWrong = true
    const one = await rig({
      seed,
      fault: (of) => (of === 'services' && isWrong ? fault : undefined),
    })
    await one.change(({ edgeroutes }) => edgeroutes.put('shop/s', '', 1))
    for (let minute = 0; minute < 20; minute += 1) await one.pass(60_000)
    await one.change(({ edgeroutes }) => edgeroutes.remove('shop/s'))
    expect(one.states).toEqual([])
    expect(one.logged()).toContain('what routes name cannot be read yet')
    isWrong = false
    for (let minute = 0; minute < 10; minute += 1) await one.pass(60_000)
    for (const state of one.states) expect(shown(state)).toEqual(first)
    expect(last(one).problems).toEqual([])
  },
)

test('a trouble with Services holds changes back once, and not for long', async () => {
  let isWrong = false
  const one = await rig({
    seed,
    fault: (of, { kind }) =>
      of === 'services' && isWrong && kind === 'send' ? 'silent' : undefined,
  })
  isWrong = true
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/s', '', 2))
  await one.change(({ edgeroutes }) => edgeroutes.put('lab/t', '', 8))
  await one.pass(serviceWaitMs - 1)
  expect(one.states).toHaveLength(1)
  await one.pass(1)
  expect(shown(last(one)).routes).toEqual(['lab/t', 'shop/r', 'shop/s'])
  expect(problemsOf(one)).toEqual([
    'services: the API server has not told yet of shop/b: requests to them are answered with 503',
  ])
  await one.change(({ edgeroutes }) => edgeroutes.put('lab/u', '', 1))
  await one.change(({ edgeroutes }) => edgeroutes.put('lab/v', '', 8))
  expect(shown(last(one)).routes).toEqual(['lab/t', 'lab/u', 'lab/v', 'shop/r', 'shop/s'])
  isWrong = false
  await one.pass(70_000)
  await one.pass(10_000)
  expect(last(one).problems).toEqual([])
  expect(shown(last(one)).services).toEqual(['lab/a:82', 'shop/a:80', 'shop/b:81'])
})

test('a namespace whose Services cannot be read holds others back once; these get what is theirs', async () => {
  const one = await rig({
    seed,
    namespaces: ['shop', 'lab'],
    fault: (of, { path }) =>
      of === 'services' && path.includes('/lab/') ? statusReply(403, 'forbidden') : undefined,
  })
  expect(shown(last(one))).toEqual(first)
  expect(problemsOf(one)).toEqual([expect.stringContaining('RBAC does not allow it')])
  await one.change(({ edgeroutes }) => edgeroutes.put('lab/t', '', 1))
  await one.pass(serviceWaitMs)
  expect(shown(last(one)).routes).toEqual(['lab/t', 'shop/r'])
  await one.change(({ edgeroutes }) => edgeroutes.put('lab/t', '', 2))
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/s', '', 2))
  expect(shown(last(one))).toEqual({
    routes: ['lab/t', 'shop/r', 'shop/s'],
    services: ['shop/a:80', 'shop/b:81'],
    slices: ['shop/a-1:1', 'shop/a-2:2', 'shop/b-1:3'],
  })
  await one.change(({ services }) => services.put('shop/b', 'shop/b', 99))
  expect(shown(last(one)).services).toEqual(['shop/a:80', 'shop/b:99'])
  await one.change(({ edgeroutes }) => edgeroutes.remove('lab/t'))
  expect(problemsOf(one)).toHaveLength(1)
})

test('what is known of Services stays while access to them is taken away', async () => {
  const one = await rig({ seed })
  one.cluster.fault = (of) => (of === 'edgeroutes' ? undefined : statusReply(403, 'forbidden'))
  one.cluster.clients.services.cut()
  one.cluster.clients.endpointslices.cut()
  await one.pass(60_000)
  expect(shown(last(one))).toEqual(first)
  expect(problemsOf(one)).toHaveLength(2)
  await one.change(({ edgeroutes }) => edgeroutes.put('lab/t', '', 8))
  expect(shown(last(one)).routes).toEqual(['lab/t', 'shop/r'])
})

test('an invalid Service or slice keeps the last valid form of that uid, and is a problem of no route', async () => {
  const one = await rig({ seed })
  await one.change(({ services, endpointslices }) => {
    services.put('shop/a', 'shop/a', 0)
    endpointslices.put('shop/a-1', 'shop/a', 0)
  })
  expect(shown(last(one))).toEqual(first)
  expect(last(one).problems).toMatchObject([
    { where: 'EndpointSlice shop/a-1', key: undefined, keepsLastGood: true },
    { where: 'Service shop/a', key: undefined, keepsLastGood: true },
  ])
  await one.change(({ services }) => {
    services.remove('shop/a')
    services.put('shop/a', 'shop/a', 0)
  })
  expect(shown(last(one)).services).toEqual([])
  expect(last(one).problems[1]).toMatchObject({ where: 'Service shop/a', keepsLastGood: false })
  await one.change(({ services, endpointslices }) => {
    services.put('shop/a', 'shop/a', 80)
    endpointslices.put('shop/a-1', 'shop/a', 1)
  })
  expect(shown(last(one))).toEqual(first)
  expect(last(one).problems).toEqual([])
})

test('many routes that come at once are shown step by step, each with its Services', async () => {
  const one = await rig({
    seed: ({ services }) => {
      for (let i = 0; i < 200; i++) services.put(`n${i}/a`, `n${i}/a`, 80)
    },
  })
  for (let i = 0; i < 200; i += 20)
    await one.change(({ edgeroutes }) => {
      for (let k = i; k < i + 20; k++) edgeroutes.put(`n${k}/r`, '', 1)
    })
  await one.pass(100)
  expect(last(one).routes).toHaveLength(200)
  expect(last(one).backends?.services).toHaveLength(200)
  for (const { routes, backends, problems } of one.states) {
    expect(backends?.services.length).toBe(routes.length)
    expect(problems).toEqual([])
  }
  // By tens: a list of each, or one of all of them, but not a list of all for each.
  expect(one.cluster.asked().length).toBeLessThan(500)
})

test('it ends when it is told to, and leaves no timer and no stream behind', async () => {
  const one = await rig({ seed, namespaces: ['shop', 'lab'] })
  one.cluster.fault = (_, { kind }) => (kind === 'send' ? 'silent' : undefined)
  await one.change(({ edgeroutes }) => edgeroutes.put('shop/r', '', 2))
  expect(one.cluster.open()).toBe(6)
  one.stop.abort()
  expect(await one.ended).toEqual(E.right(undefined))
  expect(one.clock.waiting()).toBe(0)
  expect(one.cluster.open()).toBe(0)
  expect(one.states).toHaveLength(1)
})

test('a watcher that throws ends it with what was thrown, and leaves nothing behind', async () => {
  const cause = new Error('out of order')
  const one = await rig({
    seed,
    onState: () => {
      throw cause
    },
  })
  const problem = { _tag: 'Unavailable', message: 'the watcher threw', cause }
  expect(await one.ended).toEqual(E.left(problem))
  expect(one.states).toHaveLength(1)
  expect(one.clock.waiting()).toBe(0)
  expect(one.cluster.open()).toBe(0)
})

test('a client that throws ends it with what was thrown, and nothing is left unhandled', async () => {
  const cause = new Error('a bug')
  const one = await rig({
    seed,
    fault: (of) => {
      if (of === 'services') throw cause
      return undefined
    },
  })
  expect(await one.ended).toMatchObject(E.left({ cause }))
  expect(one.clock.waiting()).toBe(0)
})

test('who stops it before it begins is told nothing', async () => {
  const clock = virtualClock()
  const cluster = fakeCluster(clock)
  const ended = kubernetesSource(cluster, { clock }).watch(() => undefined, AbortSignal.abort())()
  expect(await ended).toEqual(E.right(undefined))
  expect(cluster.asked()).toEqual([])
})
