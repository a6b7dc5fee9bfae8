import * as E from 'fp-ts/lib/Either.js'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { connectKubernetes, loadKubeConfig } from '../../src/adapters/k8s/client/index.js'
import { serviceWaitMs } from '../../src/adapters/k8s/cluster/backlog.js'
import { kubernetesSource } from '../../src/adapters/k8s/cluster-source.js'
import { watchEnvoyPods } from '../../src/adapters/k8s/envoy-pods.js'
import type { SourceState } from '../../src/ports/route-source.js'
import { eventually } from '../support/envoy.js'
import { makeServiceAccount, ownNamespace } from './support/namespace.js'
import { type ApiProxy, startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'source')
const withinMs = 30_000

const kubectl = (args: ReadonlyArray<string>, input?: unknown): Promise<string> =>
  cluster.kubectl(['-n', namespace, ...args], input === undefined ? '' : JSON.stringify(input))

const apply = (...items: ReadonlyArray<object>): Promise<string> =>
  kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items })

const route = (name: string, service: string) => ({
  apiVersion: 'net.10xdev.io/v1',
  kind: 'EdgeRoute',
  metadata: { namespace, name },
  spec: {
    hostnames: [`${name}.example.com`],
    backends: [{ service: { name: service, port: 'http' } }],
  },
})

const service = (name: string, port: number) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: { ports: [{ name: 'http', port }] },
})

const slice = (of: string, name: string, addresses: ReadonlyArray<string>) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace, name, labels: { 'kubernetes.io/service-name': of } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080 }],
  endpoints: addresses.map((address) => ({ addresses: [address] })),
})

/** Allows this much in the namespace to a service account of that name, from now on. */
const allow = (
  name: string,
  ...rules: ReadonlyArray<readonly [group: string, ...rest: ReadonlyArray<string>]>
) =>
  apply(
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { namespace, name },
      rules: rules.map(([group, resource, ...verbs]) => ({
        apiGroups: [group],
        resources: [resource],
        verbs,
      })),
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { namespace, name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    },
  )

/** A client of somebody who may do what was allowed to them, through a proxy that counts. */
const connect = async (name: string) => {
  const proxy = await startProxy(cluster, 1)
  const account = await makeServiceAccount(cluster, namespace, name)
  const token = cluster.mintToken(account, 600_000)
  const kubeconfig = await cluster.writeKubeconfig(`source-${name}`, { token }, proxy.url)
  const loaded = await loadKubeConfig({ _tag: 'Files', paths: [kubeconfig] })
  if (E.isLeft(loaded)) throw new Error(loaded.left)
  const client = connectKubernetes({ kubeConfig: loaded.right })
  onTestFinished(async () => {
    client.close()
    await proxy.stop()
  })
  return { client, proxy }
}

/** What was asked for, each once. */
const askedFor = (proxy: ApiProxy): ReadonlyArray<string> => [...proxy.counts().keys()].sort()

const shown = ({ routes, backends }: SourceState) => ({
  routes: routes.map(({ metadata }) => metadata.name),
  services: backends?.services.map(({ name, ports }) => `${name}:${ports[0]?.port}`),
  slices: backends?.endpointSlices.map(
    ({ name, endpoints }) => `${name}: ${endpoints.map((each) => each.addresses[0]).join(' ')}`,
  ),
})

test('routes are told with the Services and slices that they name, with no more than the right to read them', async () => {
  const reading = ['list', 'watch'] as const
  await allow(
    'reader',
    ['net.10xdev.io', 'edgeroutes', ...reading],
    ['', 'services', ...reading],
    ['discovery.k8s.io', 'endpointslices', ...reading],
  )
  await apply(
    service('shop', 80),
    service('other', 81),
    slice('shop', 'shop-1', ['10.77.1.1', '10.77.1.2']),
    slice('other', 'other-1', ['10.77.2.1']),
    route('r', 'shop'),
  )
  const { client, proxy } = await connect('reader')
  const states: Array<SourceState> = []
  const source = kubernetesSource(client, { namespaces: [namespace] })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const ended = source.watch((state) => states.push(state), stop.signal)()
  const becomes = (wanted: ReturnType<typeof shown>) =>
    eventually(
      () => states.slice(-1).map(shown)[0],
      (now) => JSON.stringify(now) === JSON.stringify(wanted),
      withinMs,
    )
  const one = { services: ['shop:80'], slices: ['shop-1: 10.77.1.1 10.77.1.2'] }
  await becomes({ routes: ['r'], ...one })
  expect(states).toHaveLength(1)
  expect(states[0]?.problems).toEqual([])

  await apply(route('s', 'other'), slice('shop', 'shop-2', ['10.77.1.3']))
  const both = {
    services: ['other:81', 'shop:80'],
    slices: ['other-1: 10.77.2.1', ...one.slices, 'shop-2: 10.77.1.3'],
  }
  await becomes({ routes: ['r', 's'], ...both })
  for (const state of states)
    if (state.routes.length === 2) expect(shown(state).services).toEqual(both.services)

  await kubectl(['delete', 'service', 'other'])
  await becomes({ routes: ['r', 's'], services: ['shop:80'], slices: both.slices })
  await kubectl(['delete', 'edgeroute', 's'])
  await becomes({ routes: ['r'], services: ['shop:80'], slices: both.slices.slice(1) })
  await apply(service('shop', 8000))
  await becomes({ routes: ['r'], services: ['shop:8000'], slices: both.slices.slice(1) })

  proxy.cutWatches()
  await apply(slice('shop', 'shop-2', ['10.77.1.4']))
  const last = [...one.slices, 'shop-2: 10.77.1.4']
  await becomes({ routes: ['r'], services: ['shop:8000'], slices: last })

  await allow('reader', ['net.10xdev.io', 'edgeroutes', ...reading])
  const atMs = performance.now()
  await apply(route('t', 'other'))
  await becomes({ routes: ['r', 't'], services: ['shop:8000'], slices: last })
  expect(performance.now() - atMs).toBeLessThan(serviceWaitMs + 5_000)
  expect(JSON.stringify(states.at(-1)?.problems)).toContain('not told yet of')
  expect(askedFor(proxy)).toEqual([
    'list endpointslices',
    'list services',
    'watch edgeroutes',
    'watch endpointslices',
    'watch services',
  ])
  stop.abort()
  expect(await ended).toEqual(E.right(undefined))
})

const pod = (name: string, node?: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name },
  spec: {
    ...(node !== undefined && { nodeName: node }),
    automountServiceAccountToken: false,
    containers: [{ name: 'envoy', image: 'envoy' }],
  },
})

/** Makes a Pod that runs, as its machine would say, and returns the node id of its Envoy. */
const runPod = async (name: string, node?: string): Promise<string> => {
  await apply(pod(name, node))
  await sayOf(name, { phase: 'Running', containerStatuses: [container({ running: {} })] })
  const uid = await kubectl(['get', 'pod', name, '-o', 'jsonpath={.metadata.uid}'])
  return `${namespace}/${name}/${uid}`
}

const sayOf = (name: string, status: object): Promise<string> =>
  kubectl([
    ...['patch', 'pod', name, '--subresource=status', '--type=merge', '-p'],
    JSON.stringify({ status }),
  ])

const container = (state: object) => ({
  name: 'envoy',
  image: 'envoy',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
})

beforeAll(async () => {
  await eventually(
    () => kubectl(['get', 'serviceaccount', 'default']),
    () => true,
    withinMs,
  )
})

test('an Envoy is gone when its Pod is gone, has ended, or was made again, and not before', async () => {
  await allow('watcher', ['', 'pods', 'get', 'list', 'watch'])
  const { client, proxy } = await connect('watcher')
  const deleted = await runPod('deleted')
  const evicted = await runPod('evicted')
  const again = await runPod('again')
  const unreachable = await runPod('unreachable', 'nowhere')
  const forced = await runPod('forced', 'nowhere')
  const running = await runPod('running')
  const unknown = `${namespace}/unknown/11111111-2222-4333-8444-555555555555`
  const gone = new Map<string, string>()
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const nodes = [deleted, evicted, again, unreachable, forced, running, unknown, 'edge-1']
  const ended = watchEnvoyPods(
    client,
    { nodes: () => nodes, namespaces: [namespace] },
    (id, why) => gone.set(id, `${gone.has(id) ? 'once more, ' : ''}${why}`),
    stop.signal,
  )
  const becomesGone = (id: string) =>
    eventually(
      () => gone.get(id),
      (why) => why !== undefined,
      withinMs,
    )
  expect(await becomesGone(unknown)).toBe('its Pod is gone')
  expect(gone.size).toBe(1)

  await kubectl(['delete', 'pod', 'unreachable', '--wait=false'])
  await kubectl(['delete', 'pod', 'deleted'])
  expect(await becomesGone(deleted)).toBe('its Pod is gone')

  await sayOf('evicted', { phase: 'Failed', reason: 'Evicted' })
  await sayOf('running', {
    phase: 'Running',
    containerStatuses: [container({ terminated: { exitCode: 1 } })],
  })
  await kubectl(['delete', 'pod', 'again'])
  await apply(pod('again'))
  expect(await becomesGone(again)).toMatch(/its Pod is gone|another Pod has its name/)
  expect(gone.has(evicted)).toBe(false)
  await sayOf('evicted', { containerStatuses: [container({ terminated: { exitCode: 137 } })] })
  expect(await becomesGone(evicted)).toBe('its Pod has ended (Failed, Evicted)')

  await kubectl(['delete', 'pod', 'forced', '--force', '--grace-period=0'])
  await becomesGone(forced)
  expect([...gone.keys()].sort()).toEqual([again, deleted, evicted, forced, unknown].sort())
  const verbs = askedFor(proxy).filter((call) => call !== 'list pods')
  expect(verbs).toEqual(['get pods', 'watch pods'])
  stop.abort()
  await ended
})
