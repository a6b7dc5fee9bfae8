import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import {
  connectKubernetes,
  type KubernetesClient,
  loadKubeConfig,
} from '../../src/adapters/k8s/client/index.js'
import { kubernetesRouteStore } from '../../src/adapters/k8s/route-store.js'
import { uninstallRoutes } from '../../src/adapters/k8s/write/uninstall.js'
import { finalizer, type StoredObject } from '../../src/core/stored-object.js'
import type { RouteStore } from '../../src/ports/route-store.js'
import { aCondition } from '../contract/route-store.js'
import { presentOf } from '../support/memory-store-world.js'
import { clusterRoutes } from './support/cluster-routes.js'
import { makeServiceAccount, ownNamespace } from './support/namespace.js'
import { startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'writes')
const others = ownNamespace(cluster, 'others')
const routes = clusterRoutes(cluster, namespace)
const spec = { respond: { code: 200 } }
const forever = new AbortController().signal

const clientOf = async (kubeconfig: string): Promise<KubernetesClient> => {
  const loaded = await loadKubeConfig({ _tag: 'Files', paths: [kubeconfig] })
  if (E.isLeft(loaded)) throw new Error(loaded.left)
  const client = connectKubernetes({ kubeConfig: loaded.right })
  onTestFinished(client.close)
  return client
}

const seen = async (name: string, own = routes): Promise<StoredObject> => {
  const object = await own.get(name)
  if (object === undefined) throw new Error(`${name} is gone`)
  return presentOf(object).stored
}

/** Does something for each, with a few at once. */
const forEach = async <A>(
  items: ReadonlyArray<A>,
  act: (item: A) => Promise<void>,
): Promise<void> => {
  const rest = items.values()
  const work = async (): Promise<void> => {
    for (const item of rest) await act(item)
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

const namesOf = (prefix: string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => `${prefix}-${i}`)

test('what a service account needs is to patch routes and their status, and to get them', async () => {
  const account = await makeServiceAccount(cluster, namespace, 'writer')
  const role = ['-n', namespace, 'create', 'role']
  await cluster.kubectl([...role, 'w', '--verb=get,patch', '--resource=edgeroutes.net.10xdev.io'])
  const status = '--resource=edgeroutes.net.10xdev.io/status'
  await cluster.kubectl([...role, 'ws', '--verb=patch', status])
  for (const each of ['w', 'ws'])
    await cluster.kubectl([
      ...['-n', namespace, 'create', 'rolebinding', each, `--role=${each}`],
      `--serviceaccount=${namespace}:writer`,
    ])
  const token = cluster.mintToken(account, 60_000)
  const store = kubernetesRouteStore(await clientOf(await cluster.writeKubeconfig('w', { token })))
  await routes.create('mine', spec, ['example.test/other'])
  const first = await seen('mine')
  // A role is in force a moment after it was made.
  const deadline = performance.now() + 10_000
  let guarded = await store.guard(first)()
  while (E.isLeft(guarded) && guarded.left._tag === 'Refused' && performance.now() < deadline)
    guarded = await store.guard(first)()
  expect(guarded).toEqual(E.right(undefined))
  await routes.say('mine', [aCondition('Deprogrammed')])
  const conditions = [aCondition('Accepted')]
  expect(await store.writeConditions(await seen('mine'), conditions)()).toEqual(E.right(undefined))
  expect((await seen('mine')).conditions).toEqual(conditions)
  expect(await store.release(await seen('mine'))()).toEqual(E.right(undefined))
  expect((await seen('mine')).finalizers).toEqual(['example.test/other'])
  expect(await store.guard(first)()).toMatchObject({ left: { _tag: 'Conflict' } })

  await clusterRoutes(cluster, others).create('theirs', spec)
  const theirs = await seen('theirs', clusterRoutes(cluster, others))
  expect(await store.guard(theirs)()).toMatchObject({ left: { _tag: 'Refused' } })
})

test('through a proxy that answers a third of all writes otherwise, uninstalling loses nothing', async () => {
  const count = 120
  const names = namesOf('held', count)
  await forEach(names, (name) => routes.create(name, spec, ['example.test/a', finalizer]))
  const elsewhere = clusterRoutes(cluster, others)
  await elsewhere.create('kept', spec, [finalizer])
  const proxy = await startProxy(cluster, 3)
  onTestFinished(proxy.stop)
  const credentials = { token: cluster.adminToken }
  const client = await clientOf(await cluster.writeKubeconfig('p', credentials, proxy.url))
  proxy.setFaults({
    refusedShare: 0.33,
    refusals: [
      { status: 409 },
      { status: 500 },
      { status: 500, isDone: true },
      { status: 429, retryAfterSeconds: 1 },
    ],
  })
  const ended = await uninstallRoutes(client, { namespaces: [namespace] }, forever)()
  expect(ended).toMatchObject({ right: { failed: 0, failures: [] } })
  for (const name of names) expect((await seen(name)).finalizers).toEqual(['example.test/a'])
  expect((await seen('kept', elsewhere)).finalizers).toEqual([finalizer])
  const refused = proxy.calls().filter(({ status }) => [409, 429, 500].includes(status ?? 0))
  expect(refused.length).toBeGreaterThan(20)
  await forEach(names, (name) => routes.hold(name, []))
  await elsewhere.hold('kept', [])
})

test('an API server that is gone is Unavailable, and uninstalling waits until it is back', async () => {
  await routes.create('away', spec, [finalizer])
  const object = await seen('away')
  const client = await clientOf(cluster.kubeconfig)
  const store = kubernetesRouteStore(client)
  await cluster.stopApiServer()
  expect(await store.release(object)()).toMatchObject({ left: { _tag: 'Unavailable' } })
  const ended = uninstallRoutes(client, { namespaces: [namespace] }, forever)()
  await cluster.startApiServer()
  expect(await ended).toMatchObject({ right: { failed: 0 } })
  expect((await seen('away')).finalizers).toEqual([])
})

/** Writes to each, and says how long all of it and the slowest of them took, in milliseconds. */
const timed = async (
  objects: ReadonlyArray<StoredObject>,
  write: (object: StoredObject) => ReturnType<RouteStore['guard']>,
) => {
  const startedMs = performance.now()
  let slowestMs = 0
  await forEach(objects, async (object) => {
    const askedMs = performance.now()
    expect(await write(object)()).toEqual(E.right(undefined))
    slowestMs = Math.max(slowestMs, performance.now() - askedMs)
  })
  return { allMs: performance.now() - startedMs, slowestMs }
}

test('1,000 statuses are written at their pace, and finalizers meanwhile wait for none of them', async () => {
  const names = namesOf('many', 1_000)
  await forEach(names, (name) => routes.create(name, spec))
  await routes.create('urgent', spec)
  const store = kubernetesRouteStore(await clientOf(cluster.kubeconfig))
  const objects: Array<StoredObject> = []
  await forEach(names, async (name) => void objects.push(await seen(name)))
  const conditions = [aCondition('Accepted'), aCondition('ResolvedRefs'), aCondition('Programmed')]
  const state = { isOver: false }
  const statuses = timed(objects, (object) => store.writeConditions(object, conditions)).finally(
    () => (state.isOver = true),
  )
  const finalizers: Array<number> = []
  for (let i = 0; i < 400 && !state.isOver; i += 1) {
    const object = await seen('urgent')
    const write = object.finalizers.length === 0 ? store.guard : store.release
    finalizers.push((await timed([object], write)).slowestMs)
  }
  const { allMs, slowestMs } = await statuses
  const [median = 0, worst = 0] = [0.5, 1].map(
    (part) => finalizers.sort((a, b) => a - b)[Math.ceil(part * finalizers.length) - 1],
  )
  process.stdout.write(
    `1,000 statuses in ${(allMs / 1_000).toFixed(1)} s, the slowest in ${slowestMs.toFixed(0)} ms; ` +
      `${finalizers.length} finalizers meanwhile, in ${median.toFixed(0)} ms, ${worst.toFixed(0)} at most\n`,
  )
  // A burst of 100, and 100 a second: 9 s.
  expect(allMs).toBeGreaterThan(8_500)
  expect(finalizers.length).toBeGreaterThan(20)
  expect(median).toBeLessThan(500)
})
