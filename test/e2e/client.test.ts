import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiFailure, ApiReply } from '../../src/adapters/k8s/api.js'
import {
  connectKubernetes,
  type KubernetesClient,
  loadKubeConfig,
} from '../../src/adapters/k8s/client/index.js'
import { eventually } from '../support/envoy.js'
import type { Credentials } from './cluster/cluster.js'
import { makeServiceAccount, ownNamespace } from './support/namespace.js'
import { startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'client')
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
const forever = new AbortController().signal

const connect = async (kubeconfig: string): Promise<KubernetesClient> => {
  const loaded = await loadKubeConfig({ _tag: 'Files', paths: [kubeconfig] })
  if (E.isLeft(loaded)) throw new Error(loaded.left)
  const client = connectKubernetes({ kubeConfig: loaded.right })
  onTestFinished(client.close)
  return client
}

const connectWith = async (credentials: Credentials, url?: string): Promise<KubernetesClient> => {
  count += 1
  return connect(await cluster.writeKubeconfig(`client-${count}`, credentials, url))
}
let count = 0

const right = (result: E.Either<ApiFailure, ApiReply>): ApiReply => {
  if (E.isLeft(result)) throw new Error(result.left.message)
  return result.right
}

const get = async (client: KubernetesClient, path: string): Promise<ApiReply> =>
  right(await client.send({ method: 'GET', path, deadlineMs: 30_000 }, forever)())

const create = async (client: KubernetesClient, name: string): Promise<string> => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
  const request = { method: 'POST', path: configMaps, body, deadlineMs: 30_000 } as const
  const created = right(await client.send(request, forever)())
  expect(created.status).toBe(201)
  return versionOf(created.body)
}

const versionOf = (body: unknown): string =>
  (body as { readonly metadata: { readonly resourceVersion: string } }).metadata.resourceVersion

/** Reads a watch until it ends or the test does. */
const watch = (client: KubernetesClient, resourceVersion: string, timeoutSeconds = 60) => {
  const lines: Array<string> = []
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const query = { watch: '1', resourceVersion, timeoutSeconds: String(timeoutSeconds) }
  const stream = { path: configMaps, query, silenceMs: 60_000 }
  return { lines, end: client.stream(stream, (line) => lines.push(line), abort.signal)() }
}

test.each([
  ['a client certificate', () => connect(cluster.kubeconfig)],
  ['a token', () => connectWith({ token: cluster.adminToken })],
])('lists, writes and watches as somebody with %s', async (who, connectAs) => {
  const client = await connectAs()
  const list = await get(client, configMaps)
  expect(list).toMatchObject({ status: 200, body: { kind: 'ConfigMapList' } })
  const { lines, end } = watch(client, versionOf(list.body), 1)
  const resourceVersion = await create(client, `with-${who.replaceAll(' ', '-')}`)
  expect(right(await end).status).toBe(200)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    type: 'ADDED',
    object: { metadata: { resourceVersion } },
  })
})

test('what the API server says no to comes with its words', async () => {
  const client = await connect(cluster.kubeconfig)
  const missing = await get(client, `${configMaps}/missing`)
  expect(missing).toMatchObject({ status: 404, body: { kind: 'Status', reason: 'NotFound' } })
  const stranger = await connectWith({ token: 'nobody' })
  const message = 'Unauthorized (sent: the token of user "e2e")'
  expect(await get(stranger, configMaps)).toMatchObject({ status: 401, body: { message } })
})

test('a watch from too long ago ends with a 410 in its stream', async () => {
  const client = await connect(cluster.kubeconfig)
  const version = await create(client, 'before-compaction')
  await create(client, 'after-that')
  await cluster.compactEtcd()
  await cluster.stopApiServer('SIGTERM')
  const gone = await client.send({ method: 'GET', path: configMaps, deadlineMs: 5_000 }, forever)()
  expect(gone).toMatchObject(E.left({ _tag: 'Unreachable' }))
  await cluster.startApiServer()
  const { lines, end } = watch(client, version, 1)
  expect(right(await end).status).toBe(200)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    type: 'ERROR',
    object: { kind: 'Status', code: 410, reason: 'Expired' },
  })
})

test('a list goes on after the API server was away', async () => {
  const client = await connect(cluster.kubeconfig)
  expect((await get(client, configMaps)).status).toBe(200)
  await cluster.stopApiServer()
  await cluster.startApiServer()
  expect((await get(client, configMaps)).status).toBe(200)
})

/** How long each token is taken; there is a new one after half of that. */
const tokenLifeMs = 10_000
/** Longer than any one token: the API server remembers one for up to 10 s after its end. */
const rotatedForMs = 25_000

test('tokens of 10 s that are rotated in their file are followed, and one that is not is refused', async () => {
  const account = await makeServiceAccount(cluster, namespace, 'rotated')
  await cluster.kubectl([
    ...['-n', namespace, 'create', 'rolebinding', 'rotated', '--clusterrole=view'],
    `--serviceaccount=${namespace}:rotated`,
  ])
  const tokenFile = join(cluster.directory, 'rotated-token')
  const put = async (token: string): Promise<void> => {
    // As a kubelet does it: there is never half a token.
    await writeFile(`${tokenFile}.new`, token)
    await rename(`${tokenFile}.new`, tokenFile)
  }
  const rotate = (): Promise<void> => put(cluster.mintToken(account, tokenLifeMs))
  await rotate()
  const stays = await connectWith({ token: await readFile(tokenFile, 'utf8') })
  const proxy = await startProxy(cluster, 1)
  onTestFinished(proxy.stop)
  const follows = await connectWith({ tokenFile }, proxy.url)
  const isAllowed = ({ status }: ApiReply): boolean => status === 200
  const list = await eventually(() => get(follows, configMaps), isAllowed)
  watch(follows, versionOf(list.body))
  const rotation = setInterval(() => void rotate().catch(() => undefined), tokenLifeMs / 2)
  onTestFinished(() => clearInterval(rotation))

  const statuses = new Set<number>()
  for (const endMs = performance.now() + rotatedForMs; performance.now() < endMs;) {
    statuses.add((await get(follows, configMaps)).status)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect([...statuses]).toEqual([200])
  expect(await get(stays, configMaps)).toMatchObject({ status: 401 })
  expect(proxy.calls().filter(({ verb }) => verb === 'watch')).toHaveLength(1)

  // What is in the file while the last token is refused counts at once.
  clearInterval(rotation)
  await put('nobody')
  await eventually(
    () => get(follows, configMaps),
    ({ status }) => status === 401,
  )
  await rotate()
  expect(await get(follows, configMaps)).toMatchObject({ status: 200 })
})
