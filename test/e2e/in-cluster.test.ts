import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { knowsAllAnnotation } from '../../src/adapters/k8s/lease/record.js'
import { builtMain } from '../support/cli.js'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { envoyBinary, eventually, request } from '../support/envoy.js'
import { answers, ask } from '../support/traffic.js'
import { type OwnCluster, startCluster } from './cluster/start-cluster.js'
import { freshAddress } from './support/addresses.js'
import {
  type ConfigMap,
  type Deployment,
  makePod,
  passesProbe,
  type PodCommand,
  runContainer,
  type Running,
  withVolumes,
} from './support/containers.js'
import {
  type EdgeRouteObject,
  isProgrammed,
  type Manifest,
  servedRoute,
} from './support/edge-objects.js'
import { wrongIn } from './support/program.js'

/** Where every container has what its service account is. */
const accountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'
const upWithinMs = 60_000
/** Less than the minute in which a control plane lets go of nothing that does not know who there is. */
const releasedWithinMs = 40_000
/** A minute, and a renewal of its Lease. */
const knowsAllWithinMs = 80_000

const namespaces = ['shop', 'blog'] as const
type Namespace = (typeof namespaces)[number]

let backends: RecordingBackends
let cluster: OwnCluster
let directory: string
let manifests: ReadonlyArray<Manifest>
let controlPlane: PodCommand
const running: Array<Running> = []

/** What `kubectl apply -k deploy` applies. */
const render = async (): Promise<ReadonlyArray<Manifest>> =>
  parseAllDocuments(await cluster.kubectl(['kustomize', 'deploy'])).map(
    (document) => document.toJS() as Manifest,
  )

const apply = (items: ReadonlyArray<Manifest>): Promise<string> =>
  cluster.kubectl(
    ['apply', '--server-side', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
  )

const ofKind = (kind: string): ReadonlyArray<Manifest> =>
  manifests.filter((manifest) => manifest['kind'] === kind)

const deployment = (wanted: string): Deployment => {
  const found = (ofKind('Deployment') as ReadonlyArray<Deployment>).find(
    ({ metadata }) => metadata.name === wanted,
  )
  if (found === undefined) throw new Error(`deploy/ has no Deployment ${wanted}`)
  return found
}

/** As a kubelet does for the Pod of the control plane. */
const writeAccount = async (): Promise<void> => {
  const { namespace, name } = deployment('edgewright').metadata
  const token = await cluster.kubectl(['-n', namespace, 'create', 'token', name])
  await mkdir(accountDirectory, { recursive: true })
  await writeFile(join(accountDirectory, 'ca.crt'), await readFile(cluster.caFile))
  await writeFile(join(accountDirectory, 'token'), token.trim())
  await writeFile(join(accountDirectory, 'namespace'), namespace)
}

// One of its own: a control plane of all namespaces would serve the routes of other tests.
beforeAll(async () => {
  backends = await startRecordingBackends()
  directory = await mkdtemp(join(tmpdir(), 'edgewright-pods-'))
  cluster = await startCluster({ signal: new AbortController().signal })
  manifests = await render()
  await apply(manifests)
  await writeAccount()
  controlPlane = await makePod(cluster, deployment('edgewright'))
  for (const namespace of namespaces) await cluster.kubectl(['create', 'ns', namespace])
})

afterAll(async () => {
  await Promise.all(running.map(({ end }) => end('SIGKILL')))
  await rm(accountDirectory, { recursive: true, force: true })
  await rm(directory, { recursive: true, force: true })
  await cluster.close()
  await backends.stop()
})

const startControlPlane = async (): Promise<Running> => {
  const started = runContainer(controlPlane, [process.execPath, builtMain])
  running.push(started)
  const { command } = controlPlane.container.startupProbe?.exec ?? { command: [] }
  await eventually(
    () => passesProbe(controlPlane, command),
    (isUp) => isUp,
    upWithinMs,
  ).catch((cause: unknown) => {
    throw new Error(`the control plane does not get up:\n${started.log()}`, { cause })
  })
  return started
}

/** Returns the port on which it serves. */
const startEnvoy = async (): Promise<number> => {
  const made = deployment('envoy')
  const configMaps = ofKind('ConfigMap') as ReadonlyArray<ConfigMap>
  const pod = await withVolumes(await makePod(cluster, made), made, configMaps, directory)
  const envoy = runContainer(pod, [(await envoyBinary()).path])
  running.push(envoy)
  const portOf = (wanted?: string): number =>
    pod.container.ports.find(({ name }) => name === wanted)?.containerPort ?? 0
  const { path = '', port } = pod.container.readinessProbe.httpGet ?? {}
  await eventually(
    () => request(`http://127.0.0.1:${portOf(port)}${path}`),
    ({ status }) => status === 200,
    upWithinMs,
  ).catch((cause: unknown) => {
    throw new Error(`Envoy does not get ready:\n${envoy.log()}`, { cause })
  })
  return portOf('http')
}

const get = async (namespace: Namespace): Promise<EdgeRouteObject | undefined> => {
  const path = `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes/${namespace}`
  const { status, body } = await cluster.request({ path })
  return status === 200 ? (body as EdgeRouteObject) : undefined
}

const knowsAll = (): Promise<string> =>
  cluster.kubectl([
    ...['-n', 'edgewright', 'get', 'lease', 'edgewright'],
    ...['-o', `jsonpath={.metadata.annotations.${knowsAllAnnotation.replaceAll('.', '\\.')}}`],
  ])

test('what deploy/ ships serves, as a Pod, the routes of all namespaces, and lets go of what is deleted', async () => {
  const first = await startControlPlane()
  const port = await startEnvoy()
  const addresses = { shop: freshAddress(), blog: freshAddress() }
  for (const namespace of namespaces) {
    await apply(servedRoute(namespace, namespace, backends.port, addresses[namespace]))
    await answers(port, `/${namespace}`, `200 ${addresses[namespace]}`, upWithinMs)
    await eventually(() => get(namespace), isProgrammed)
  }
  // Whoever comes after one that ends sooner waits for a whole minute, too.
  await eventually(knowsAll, (text) => text === 'true', knowsAllWithinMs)
  expect(await first.end('SIGTERM')).toBe(0)

  const second = await startControlPlane()
  await cluster.kubectl(['-n', 'shop', 'delete', 'edgeroute', 'shop', '--wait=false'])
  await eventually(
    () => get('shop'),
    (object) => object === undefined,
    releasedWithinMs,
  )
  expect(await ask(port, '/shop')).toBe('404')
  expect(await ask(port, '/blog')).toBe(`200 ${addresses.blog}`)
  expect(second.log()).toContain('deleted: gone from every Envoy')
  expect(await second.end('SIGTERM')).toBe(0)
  expect(await ask(port, '/blog')).toBe(`200 ${addresses.blog}`)
  for (const { log } of [first, second]) expect(wrongIn(log())).toEqual([])
})
