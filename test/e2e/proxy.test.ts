import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../support/envoy.js'
import { type JsonAnswer, type JsonRequest, requestJson } from './cluster/request.js'
import { apiCallOf } from './support/api-call.js'
import { ownNamespace } from './support/namespace.js'
import { type ApiProxy, startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'proxy')
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
const ca = readFileSync(cluster.caFile)
const seed = 7

const start = async (): Promise<ApiProxy> => {
  const proxy = await startProxy(cluster, seed)
  onTestFinished(proxy.stop)
  return proxy
}

const ask = (proxy: ApiProxy, asked: JsonRequest): Promise<JsonAnswer> =>
  requestJson(proxy.url, ca, { token: cluster.adminToken, ...asked })

const creationOf = (name: string): JsonRequest => ({
  method: 'POST',
  path: configMaps,
  body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
})

/** What a watch says, as it comes. */
const openWatch = (proxy: ApiProxy, version: string) => {
  const seen = { text: '', isOver: false }
  const path = `${configMaps}?watch=true&resourceVersion=${version}`
  const headers = { authorization: `Bearer ${cluster.adminToken}` }
  const sent = request(proxy.url + path, { ca, agent: false, headers }, (answer) => {
    answer.setEncoding('utf8').on('data', (chunk: string) => (seen.text += chunk))
    answer.on('error', () => (seen.isOver = true))
    answer.on('end', () => (seen.isOver = true))
  })
  sent.on('error', () => (seen.isOver = true))
  sent.end()
  onTestFinished(() => void sent.destroy())
  return seen
}

const versionNow = async (): Promise<string> => {
  const { body } = await cluster.request({ path: `${configMaps}?limit=1` })
  return (body as { readonly metadata: { readonly resourceVersion: string } }).metadata
    .resourceVersion
}

test.each([
  ['GET', '/apis/net.10xdev.io/v1/edgeroutes', 'list', 'edgeroutes', undefined, undefined],
  ['GET', '/apis/net.10xdev.io/v1/edgeroutes?watch=1', 'watch', 'edgeroutes', undefined, undefined],
  ['PATCH', '/apis/g/v1/namespaces/a/edgeroutes/b/status', 'patch', 'edgeroutes/status', 'a', 'b'],
  ['POST', '/apis/events.k8s.io/v1/namespaces/a/events', 'create', 'events', 'a', undefined],
  ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection', 'pods', 'a', undefined],
  ['DELETE', '/api/v1/namespaces/a/pods/b', 'delete', 'pods', 'a', 'b'],
  ['GET', '/api/v1/namespaces/a', 'get', 'namespaces', undefined, 'a'],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update', 'namespaces/finalize', undefined, 'a'],
  ['GET', '/version', 'get', '/version', undefined, undefined],
  ['GET', '/apis/net.10xdev.io/v1', 'get', '/apis/net.10xdev.io/v1', undefined, undefined],
])('%s %s is %s of %s', (method, target, verb, resource, inNamespace, name) => {
  expect(apiCallOf(method, target)).toMatchObject({ verb, resource, namespace: inNamespace, name })
})

test('requests pass as they are, and are counted by verb and resource', async () => {
  const proxy = await start()
  expect((await ask(proxy, creationOf('counted'))).status).toBe(201)
  const got = await ask(proxy, { path: `${configMaps}/counted` })
  expect(got).toEqual(await cluster.request({ path: `${configMaps}/counted` }))
  expect((await ask(proxy, { path: configMaps, token: 'nobody' })).status).toBe(401)
  expect([...proxy.counts()]).toEqual([
    ['create configmaps', 1],
    ['get configmaps', 1],
    ['list configmaps', 1],
  ])
  expect(proxy.calls().map(({ status }) => status)).toEqual([201, 200, 401])
})

test('a share of the writes is refused, some of them although they are done; no read is', async () => {
  const proxy = await start()
  proxy.setFaults({ refusedShare: 0.5 })
  const names = Array.from({ length: 60 }, (_, index) => `refused-${index}`)
  const outcomes = new Set<string>()
  const statuses: Array<number> = []
  for (const name of names) {
    const { status } = await ask(proxy, creationOf(name))
    const isThere = (await ask(proxy, { path: `${configMaps}/${name}` })).status === 200
    statuses.push(status)
    outcomes.add(`${status} ${isThere ? 'done' : 'not done'}`)
  }
  expect([...outcomes].sort()).toEqual(['201 done', '409 not done', '500 done', '500 not done'])
  const refused = statuses.filter((status) => status !== 201).length
  expect(refused).toBeGreaterThan(15)
  expect(refused).toBeLessThan(45)
})

test('a request that is held goes on when it is let go', async () => {
  const proxy = await start()
  const gate: { open?: () => void } = {}
  const opened = new Promise<void>((resolve) => (gate.open = resolve))
  proxy.setFaults({ before: ({ verb }) => (verb === 'create' ? opened : undefined) })
  const held = ask(proxy, creationOf('held'))
  await eventually(
    () => proxy.calls().length,
    (count) => count === 1,
  )
  expect((await ask(proxy, { path: `${configMaps}/held` })).status).toBe(404)
  gate.open?.()
  expect((await held).status).toBe(201)
})

test('a frozen watch says nothing, and nothing is missing when it is thawed; a cut one ends', async () => {
  const proxy = await start()
  const watch = openWatch(proxy, await versionNow())
  await cluster.request(creationOf('before-the-frost'))
  await eventually(
    () => watch.text,
    (text) => text.includes('before-the-frost'),
  )
  proxy.freezeWatches()
  const early = watch.text
  await cluster.request(creationOf('in-the-frost'))
  await sleep(500)
  expect(watch.text).toBe(early)
  proxy.thawWatches()
  await eventually(
    () => watch.text,
    (text) => text.includes('in-the-frost'),
  )
  expect(proxy.cutWatches()).toBe(1)
  await eventually(
    () => watch.isOver,
    (isOver) => isOver,
  )
  expect(proxy.cutWatches()).toBe(0)
})

test('an API server that is gone ends what it has begun, and is seen to be gone in both forms', async () => {
  const proxy = await start()
  const old = await versionNow()
  await cluster.request(creationOf('in-between'))
  const watch = openWatch(proxy, await versionNow())
  await eventually(
    () => proxy.calls().at(-1)?.status,
    (status) => status === 200,
  )
  const list = { path: `${configMaps}?limit=1&resourceVersion=${old}&resourceVersionMatch=Exact` }
  expect((await ask(proxy, list)).status).toBe(200)
  expect(proxy.gone()).toEqual({ asStatus: 0, inStream: 0 })

  await cluster.compactEtcd()
  await cluster.stopApiServer()
  await eventually(
    () => watch.isOver,
    (isOver) => isOver,
  )
  await expect(ask(proxy, list)).rejects.toThrow(/socket hang up|ECONNRESET/)
  await cluster.startApiServer()
  expect((await ask(proxy, list)).status).toBe(410)
  openWatch(proxy, old)
  await eventually(
    () => proxy.gone(),
    ({ asStatus, inStream }) => asStatus === 1 && inStream === 1,
  )
})
