import { readFileSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { watchEnvoyPods } from '../../src/adapters/k8s/envoy-pods.js'
import { kubernetesEvents } from '../../src/adapters/k8s/events.js'
import { initialEventsMs } from '../../src/adapters/k8s/reflector/limits.js'
import { kubernetesRosterStore } from '../../src/adapters/k8s/roster-store.js'
import { kubernetesRoutes } from '../../src/adapters/k8s/route-source.js'
import { kubernetesRouteStore } from '../../src/adapters/k8s/route-store.js'
import { memoryApiServer } from '../../src/adapters/memory/api-server/index.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import { memoryMetrics } from '../../src/adapters/memory/index.js'
import { apiCallOf } from '../e2e/support/api-call.js'
import { apiDouble, replyOf } from '../support/k8s-api-double.js'
import { type Asked, fakeClient, statusReply } from '../support/k8s-fake-client.js'
import { fakePods } from '../support/k8s-fake-pods.js'
import { objectServer } from '../support/k8s-object-server.js'
import { modelServer } from '../support/k8s-reflector-server.js'
import { memoryStoreWorld } from '../support/memory-store-world.js'
import { rarelyAsked } from '../support/rarely-asked.js'
import { anEntry, aRoster } from '../support/roster.js'
import { passTime } from '../support/virtual-time.js'

interface Sent {
  readonly method?: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>> | undefined
}

/** In the words of RBAC. */
const callsOf = (asked: ReadonlyArray<Sent>): ReadonlyArray<string> =>
  asked.map(({ method = 'GET', path, query = {} }) => {
    const { verb, resource } = apiCallOf(method, `${path}?${String(new URLSearchParams(query))}`)
    return `${verb} ${resource}`
  })

type Run = (isFaulty: boolean) => Promise<ReadonlyArray<string>>

const guardsARoute: Run = async (isFaulty) => {
  const clock = virtualClock(1_000)
  const server = memoryApiServer({ clock })
  const client = apiDouble(server)
  const store = kubernetesRouteStore(client, {
    clock,
    metrics: memoryMetrics(),
  })
  const { create, see } = memoryStoreWorld(server, store)
  await create('a')
  const object = await see('a')
  if (object === undefined) throw new Error('it is gone')
  let hasFailed = false
  client.meddle = () => {
    if (!isFaulty || hasFailed) return undefined
    hasFailed = true
    return { reply: replyOf(409, { name: 'a' }) }
  }
  const guarded = store.guard(object.stored)()
  await passTime(clock, 1_000)
  expect(E.isRight(await guarded)).toBe(!isFaulty)
  return callsOf(client.asked)
}

/** As a server does that has this switched off. */
const refusesWatchLists = ({ query }: Asked) =>
  query['sendInitialEvents'] === 'true' ? statusReply(422) : undefined

const followsRoutes: Run = async (isFaulty) => {
  const clock = virtualClock(1_000)
  const client = fakeClient(modelServer(), clock, () => ({}))
  if (isFaulty) client.interfere = refusesWatchLists
  const stop = new AbortController()
  const states: Array<unknown> = []
  const over = kubernetesRoutes(client, { clock }).watch(
    (state) => states.push(state),
    stop.signal,
  )()
  await passTime(clock, 2 * initialEventsMs, 1_000)
  expect(states).toHaveLength(1)
  stop.abort()
  await over
  return callsOf(client.asked)
}

const followsPods: Run = async (isFaulty) => {
  const clock = virtualClock(1_000)
  const pods = fakePods(clock)
  pods.server.put('edge/envoy-0', '', 0)
  if (isFaulty) pods.client.interfere = refusesWatchLists
  const stop = new AbortController()
  const nodes = ['edge/envoy-0/11111111-2222-4333-8444-555555555555']
  const gone: Array<string> = []
  const over = watchEnvoyPods(
    pods,
    { clock, nodes: () => nodes },
    (id) => gone.push(id),
    stop.signal,
  ).catch(() => undefined)
  await passTime(clock, 2 * initialEventsMs, 1_000)
  expect(gone).toEqual(nodes)
  stop.abort()
  await over
  return callsOf(pods.client.asked)
}

const tellsOf: Run = async (isRepeated) => {
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'))
  const server = objectServer()
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const events = kubernetesEvents(server.client, { identity: 'host', clock }, stop.signal)
  const regarding = {
    apiVersion: 'net.10xdev.io/v1',
    kind: 'EdgeRoute',
    ...{ namespace: 'shop', name: 'checkout', uid: 'u' },
  }
  const event = {
    regarding,
    type: 'Warning',
    reason: 'A',
    action: 'B',
    note: 'c',
  } as const
  events.emit(event)
  events.emit(isRepeated ? event : { ...event, note: 'd' })
  await passTime(clock, 1_000)
  return callsOf(server.asked)
}

/** More than one ConfigMap holds. */
const large = aRoster(
  ...Array.from({ length: 10_000 }, (_, i) =>
    anEntry(`edge/envoy-${i}/6f0c2b1e-0000-4000-8000-${String(i).padStart(12, '0')}`),
  ),
)
const small = aRoster(anEntry('a'))

const savesARoster: Run = async (shrinks) => {
  const server = objectServer()
  const store = kubernetesRosterStore(server.client, {
    namespace: 'edgewright',
  })
  await store.load()()
  expect(await store.save(large)()).toEqual(E.right(undefined))
  if (shrinks) expect(await store.save(small)()).toEqual(E.right(undefined))
  // What a save leaves behind is deleted before the next request.
  await store.load()()
  return callsOf(server.asked)
}

const runs: Readonly<Record<string, Run>> = {
  'get edgeroutes': guardsARoute,
  'list edgeroutes': followsRoutes,
  'list pods': followsPods,
  'patch events': tellsOf,
  'delete configmaps': savesARoster,
}

test.each([...rarelyAsked])(
  '%s is asked %s, and in the same run without that it is not',
  async (call) => {
    const run = runs[call]
    if (run === undefined) throw new Error(`nothing shows that ${call} is needed`)
    expect(await run(false)).not.toContain(call)
    expect(await run(true)).toContain(call)
  },
)

test('a server that never says that a list by a watch was complete is asked for pages', async () => {
  const clock = virtualClock(1_000)
  const server = modelServer()
  const client = fakeClient(
    { ...server, watchList: () => server.watchList(false) },
    clock,
    () => ({}),
  )
  const stop = new AbortController()
  const over = kubernetesRoutes(client, { clock }).watch(() => undefined, stop.signal)()
  await passTime(clock, initialEventsMs - 1_000, 1_000)
  expect(callsOf(client.asked)).toEqual(['watch edgeroutes'])
  await passTime(clock, 1_000, 1_000)
  stop.abort()
  await over
  expect(callsOf(client.asked)).toEqual(expect.arrayContaining(['list edgeroutes']))
})

test('nothing is asked for rarely that the role does not allow', () => {
  const documents = parseAllDocuments(readFileSync('deploy/rbac.yaml', 'utf8')).map(
    (document) => document.toJS() as { readonly rules?: ReadonlyArray<Rule> },
  )
  const allowed = documents
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    )
  expect(allowed).toEqual(expect.arrayContaining([...rarelyAsked.keys()]))
})

interface Rule {
  readonly resources: ReadonlyArray<string>
  readonly verbs: ReadonlyArray<string>
}
