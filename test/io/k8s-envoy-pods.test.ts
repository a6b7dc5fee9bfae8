import { expect, onTestFinished, test } from 'vitest'
import { lookEveryMs, maxAsking } from '../../src/adapters/k8s/cluster/follow-pods.js'
import { maxNamespaces } from '../../src/adapters/k8s/informers/namespaces.js'
import { podOf } from '../../src/adapters/k8s/cluster/pod-of.js'
import { type EnvoyPodsOptions, watchEnvoyPods } from '../../src/adapters/k8s/envoy-pods.js'
import { virtualClock, type VirtualClock } from '../../src/adapters/memory/clock.js'
import { memoryLogger } from '../../src/adapters/memory/logger.js'
import { statusReply } from '../support/k8s-fake-client.js'
import { fakePods, type FakePods, podForms, uidOf } from '../support/k8s-fake-pods.js'
import type { ModelServer } from '../support/k8s-reflector-server.js'

interface Rig {
  readonly pods: FakePods
  readonly clock: VirtualClock
  /** What is asked about. */
  nodes: ReadonlyArray<string>
  /** What was told to be gone, in order. */
  readonly gone: ReadonlyArray<string>
  readonly whys: ReadonlyArray<string>
  readonly logged: () => ReadonlyArray<string>
  readonly settle: () => Promise<void>
  /** Changes the server, and lets it be seen. */
  readonly change: (change: (server: ModelServer) => void) => Promise<void>
  readonly pass: (ms: number) => Promise<void>
  readonly stop: AbortController
  readonly ended: Promise<void>
}

interface RigOptions extends Partial<EnvoyPodsOptions> {
  readonly seed?: (server: ModelServer) => void
  /** Made once the server has its objects. */
  readonly asked?: (pods: FakePods) => ReadonlyArray<string>
  readonly onGone?: (id: string) => void
  readonly interfere?: (pods: FakePods) => void
}

const rig = async ({ seed, asked, onGone, interfere, ...options }: RigOptions): Promise<Rig> => {
  const clock = virtualClock(1_000)
  const pods = fakePods(clock)
  seed?.(pods.server)
  interfere?.(pods)
  const gone: Array<string> = []
  const whys: Array<string> = []
  const logger = memoryLogger()
  const stop = new AbortController()
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  }
  const rig: Rig = {
    pods,
    clock,
    nodes: asked?.(pods) ?? [],
    gone,
    whys,
    logged: () => logger.entries().map(({ message }) => message),
    settle,
    change: async (change) => {
      change(pods.server)
      pods.client.flush()
      await settle()
    },
    pass: async (ms) => {
      for (let leftMs = ms; leftMs > 0; leftMs -= 1_000) {
        clock.advance(Math.min(leftMs, 1_000))
        await settle()
      }
    },
    stop,
    get ended() {
      return ended
    },
  }
  const ended = watchEnvoyPods(
    pods,
    { clock, logger, random: () => 0.5, nodes: () => rig.nodes, ...options },
    (id, why) => {
      gone.push(id)
      whys.push(why)
      onGone?.(id)
    },
    stop.signal,
  )
  const over = ended.catch(() => undefined)
  onTestFinished(async () => {
    stop.abort()
    await over
  })
  await settle()
  return rig
}

/** The node id of the Pod that has this name now. */
const idOf = (server: ModelServer, name: string): string => {
  const object = server.objects().find((each) => each.name === name)
  if (object === undefined) throw new Error(`there is no Pod ${name}`)
  return `${name}/${uidOf(object)}`
}

const neverSeen = 'edge/envoy-x/11111111-2222-4333-8444-555555555555'

const two = (server: ModelServer): void => {
  server.put('edge/envoy-0', '', 0)
  server.put('edge/envoy-1', '', 0)
}
const both = ({ server }: FakePods) => [idOf(server, 'edge/envoy-0'), idOf(server, 'edge/envoy-1')]

test('an Envoy is gone when its Pod is, and the others are not', async () => {
  const one = await rig({ seed: two, asked: both })
  await one.pass(60_000)
  expect(one.gone).toEqual([])
  expect(one.pods.gets).toEqual([])
  await one.change((server) => server.remove('edge/envoy-0'))
  expect(one.gone).toEqual([one.nodes[0]])
  expect(one.whys).toEqual(['its Pod is gone'])
  await one.pass(60_000)
  expect(one.gone).toHaveLength(1)
  expect(one.pods.gets).toEqual(['edge/envoy-0'])
})

test('an Envoy whose Pod was never seen is asked for, and gone if the API server does not know it', async () => {
  const one = await rig({ seed: two, asked: () => [neverSeen] })
  expect(one.gone).toEqual([neverSeen])
})

test('a Pod that was made again under its name is another one', async () => {
  const one = await rig({ seed: two, asked: both })
  await one.change((server) => {
    server.remove('edge/envoy-0')
    server.put('edge/envoy-0', '', 0)
  })
  expect(one.gone).toEqual([one.nodes[0]])
  expect(one.whys[0]).toContain('another Pod has its name')
})

test('an Envoy of an earlier life is gone although another Pod has its name by now', async () => {
  const id = 'edge/envoy-0/11111111-2222-4333-8444-555555555555'
  const one = await rig({ seed: two, asked: (pods) => [id, ...both(pods)] })
  expect(one.gone).toEqual([id])
})

/** Which of the forms a Pod can have mean that nothing of it runs. */
const finished = new Set([1, 3, 4])

test.each(podForms.map((form, content) => [content, JSON.stringify(form)] as const))(
  'a Pod like this, number %i, has ended or not: %s',
  async (content) => {
    const one = await rig({ seed: two, asked: both })
    await one.change((server) => server.put('edge/envoy-0', '', content))
    await one.pass(120_000)
    expect(one.gone).toEqual(finished.has(content) ? [one.nodes[0]] : [])
    if (finished.has(content)) expect(one.whys[0]).toMatch(/has ended \((Failed|Succeeded)/)
  },
)

test('what the watch says is not enough: the API server itself must say so of this very Pod', async () => {
  const one = await rig({ seed: two, asked: both })
  const metadata = { namespace: 'edge', name: 'envoy-0', uid: one.nodes[0]?.split('/')[2] }
  one.pods.interfereWithGet = () => ({
    status: 200,
    body: { metadata, spec: {}, status: { phase: 'Running' } },
    retryAfterMs: undefined,
  })
  await one.change((server) => server.remove('edge/envoy-0'))
  await one.pass(600_000)
  expect(one.gone).toEqual([])
  expect(one.pods.gets.length).toBeGreaterThan(5)
  expect(one.pods.gets.length).toBeLessThan(30)
  one.pods.interfereWithGet = () => undefined
  await one.pass(60_000)
  expect(one.gone).toEqual([one.nodes[0]])
})

test.each([
  ['a refusal', statusReply(403)],
  ['bad credentials', statusReply(401)],
  ['an error', statusReply(500)],
  [
    'a 404 that is not of the API server',
    { status: 404, body: undefined, retryAfterMs: undefined },
  ],
  [
    'a 404 of another object',
    {
      status: 404,
      body: { kind: 'Status', reason: 'NotFound', details: { kind: 'namespaces', name: 'edge' } },
      retryAfterMs: undefined,
    },
  ],
  ['another object', { status: 200, body: { metadata: { uid: 'x' } }, retryAfterMs: undefined }],
  ['a page of HTML', { status: 200, body: undefined, retryAfterMs: undefined }],
  ['no answer', { _tag: 'TimedOut', message: 'nothing came' } as const],
])('%s to the question says nothing, and it is asked again', async (_, answer) => {
  const one = await rig({
    asked: () => [neverSeen],
    interfere: (pods) => (pods.interfereWithGet = () => answer),
  })
  await one.pass(300_000)
  expect(one.gone).toEqual([])
  expect(one.pods.gets.length).toBeGreaterThan(3)
  one.pods.interfereWithGet = () => undefined
  await one.pass(60_000)
  expect(one.gone).toEqual([neverSeen])
})

test('a server that asks to be left alone is left alone for as long', async () => {
  const one = await rig({
    asked: () => [neverSeen],
    interfere: (pods) => (pods.interfereWithGet = () => statusReply(429, 'no', 7_000)),
  })
  await one.pass(6_999)
  expect(one.pods.gets).toHaveLength(1)
  await one.pass(1)
  expect(one.pods.gets).toHaveLength(2)
})

test('as long as the Pods cannot be listed nobody is gone, and the log says why, and after a minute again', async () => {
  const one = await rig({
    asked: () => [neverSeen],
    interfere: ({ client }) => (client.interfere = () => statusReply(403, 'forbidden')),
  })
  await one.pass(300_000)
  expect(one.gone).toEqual([])
  expect(one.pods.gets).toEqual([])
  const unread = 'the Pods of Envoys cannot be read'
  expect(one.logged()).toEqual([unread, unread])
  one.pods.client.interfere = () => undefined
  await one.pass(60_000)
  expect(one.gone).toEqual([neverSeen])
})

test('only Pods in the namespaces that may be looked at are', async () => {
  const one = await rig({ asked: () => [neverSeen], namespaces: ['shop'] })
  await one.pass(60_000)
  expect(one.gone).toEqual([])
  expect(one.pods.client.asked).toEqual([])
})

test.each([
  'edge-1',
  '',
  'edge/envoy-x',
  'edge/envoy-x/uid-1',
  'edge/envoy-x/0123456789abcdef0123456789abcdef',
  'edge/envoy-x/11111111-2222-4333-8444-55555555555A',
  `${neverSeen}/more`,
  'Edge/envoy-x/11111111-2222-4333-8444-555555555555',
  'edge/../11111111-2222-4333-8444-555555555555',
  'edge.eu/envoy-x/11111111-2222-4333-8444-555555555555',
  `edge/${'x'.repeat(254)}/11111111-2222-4333-8444-555555555555`,
  `${'x'.repeat(64)}/envoy/11111111-2222-4333-8444-555555555555`,
])('an id of another form says nothing of a Pod, and costs no request: %s', async (id) => {
  expect(podOf(id)).toBeUndefined()
  const one = await rig({ asked: () => [id] })
  await one.pass(60_000)
  expect(one.gone).toEqual([])
  expect(one.pods.client.asked).toEqual([])
})

test('an id names its Pod', () => {
  expect(podOf(neverSeen)).toEqual({
    namespace: 'edge',
    name: 'envoy-x',
    uid: '11111111-2222-4333-8444-555555555555',
  })
})

test('what is asked about is looked up from time to time, and nothing is watched for nobody', async () => {
  const one = await rig({ seed: two })
  await one.pass(lookEveryMs * 3)
  expect(one.pods.client.asked).toEqual([])
  one.nodes = both(one.pods)
  await one.pass(lookEveryMs)
  expect(one.pods.client.open()).toBe(1)
  await one.change((server) => server.remove('edge/envoy-1'))
  expect(one.gone).toEqual([one.nodes[1]])
  one.nodes = []
  await one.pass(lookEveryMs)
  expect(one.pods.client.open()).toBe(0)
  expect(one.clock.waiting()).toBe(1)
})

test('an Envoy is told to be gone once, and again after it was not asked about for a while', async () => {
  const one = await rig({ asked: () => [neverSeen] })
  await one.pass(lookEveryMs * 5)
  expect(one.gone).toEqual([neverSeen])
  one.nodes = []
  await one.pass(lookEveryMs)
  one.nodes = [neverSeen]
  await one.pass(lookEveryMs)
  expect(one.gone).toEqual([neverSeen, neverSeen])
})

test('who is not asked about any more when the answer comes is not told of', async () => {
  let answer = (): void => undefined
  const one = await rig({
    asked: () => [neverSeen],
    interfere: (pods) => {
      const { interfereWithGet } = pods
      pods.interfereWithGet = () =>
        new Promise((resolve) => {
          pods.interfereWithGet = interfereWithGet
          const details = { kind: 'pods', name: 'envoy-x' }
          const body = { kind: 'Status', reason: 'NotFound', details }
          answer = () => resolve({ status: 404, body, retryAfterMs: undefined })
        })
    },
  })
  one.nodes = []
  await one.pass(lookEveryMs)
  answer()
  await one.settle()
  expect(one.gone).toEqual([])
})

test('a thousand Envoys are found gone in a while, a few at a time', async () => {
  const ids = Array.from(
    { length: 1_000 },
    (_, i) => `edge/envoy-${i}/11111111-2222-4333-8444-${String(i).padStart(12, '0')}`,
  )
  let asking = 0
  let most = 0
  const one = await rig({
    asked: () => ids,
    interfere: (pods) => {
      const { send } = pods
      Object.assign(pods, {
        send: ((request, signal) => async () => {
          const isGet = /\/pods\/./.test(request.path)
          if (isGet) most = Math.max(most, (asking += 1))
          const reply = await send(request, signal)()
          if (isGet) asking -= 1
          return reply
        }) satisfies FakePods['send'],
      })
    },
  })
  for (let i = 0; i < 300 && one.gone.length < 1_000; i++) await one.pass(2)
  expect([...one.gone].sort()).toEqual([...ids].sort())
  expect(most).toBe(maxAsking)
})

test('no more namespaces are watched than there may be connections for it, and the log says so', async () => {
  const names = Array.from({ length: maxNamespaces + 1 }, (_, i) => `n${i}/envoy`)
  const one = await rig({
    seed: (server) => names.forEach((name) => server.put(name, '', 0)),
    asked: ({ server }) => names.map((name) => idOf(server, name)),
  })
  expect(one.pods.client.open()).toBe(maxNamespaces)
  expect(one.logged()).toEqual(['Envoys are in too many namespaces to look at all of their Pods'])
  await one.change((server) => names.forEach((name) => server.remove(name)))
  await one.pass(lookEveryMs)
  expect(one.gone).toEqual(one.nodes)
  expect(one.pods.client.open()).toBe(0)
})

test('it ends when it is told to, and leaves no timer and no stream behind', async () => {
  const one = await rig({ seed: two, asked: both })
  one.stop.abort()
  await one.ended
  expect(one.clock.waiting()).toBe(0)
  expect(one.pods.client.open()).toBe(0)
  await one.change((server) => server.remove('edge/envoy-0'))
  expect(one.gone).toEqual([])
})

test.each(['nodes', 'onGone'] as const)(
  '%s that throws ends it with what was thrown',
  async (who) => {
    const cause = new Error('out of order')
    const boom = (): never => {
      throw cause
    }
    const one = await rig({
      asked: () => [neverSeen],
      ...(who === 'nodes' ? { nodes: boom } : { onGone: boom }),
    })
    await expect(one.ended).rejects.toBe(cause)
    expect(one.clock.waiting()).toBe(0)
    expect(one.pods.client.open()).toBe(0)
  },
)

test('a client that throws ends it with what was thrown, and nothing is left unhandled', async () => {
  const cause = new Error('a bug')
  const one = await rig({
    asked: () => [neverSeen],
    interfere: (pods) =>
      (pods.interfereWithGet = () => {
        throw cause
      }),
  })
  await expect(one.ended).rejects.toBe(cause)
  expect(one.clock.waiting()).toBe(0)
})

test('who stops it before it begins is asked nothing', async () => {
  const clock = virtualClock()
  const pods = fakePods(clock)
  const nodes = (): never => {
    throw new Error('asked')
  }
  await watchEnvoyPods(pods, { clock, nodes }, () => undefined, AbortSignal.abort())
  expect(pods.client.asked).toEqual([])
})
