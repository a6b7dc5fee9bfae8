import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { finalizer } from '../../src/core/stored-object.js'
import { clusterType, listenerType, routeType } from '../../src/core/type-url.js'
import { filesIn, runCli } from '../support/cli.js'
import { type CliApiServer, kubeconfigFor, startCliApiServer } from '../support/cli-api-server.js'
import { type Serving, startServing } from '../support/cli-serving.js'
import { eventually } from '../support/envoy.js'
import { rawAdsClient } from '../support/raw-ads-client.js'

const cleanups: Array<() => unknown> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const routesPath = '/apis/net.10xdev.io/v1/namespaces/shop/edgeroutes'
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/edgewright/leases/edgewright'
const rosterPath = '/api/v1/namespaces/edgewright/configmaps/edgewright-roster'
const eventsPath = '/apis/events.k8s.io/v1'

const startApi = async (port?: number): Promise<CliApiServer> => {
  const api = await startCliApiServer(port)
  cleanups.push(api.stop)
  return api
}

/** Runs `serve` in this process, until it is stopped or the test is over. */
const serve = (kubeconfig: string, ...argv: ReadonlyArray<string>): Serving => {
  const serving = startServing({ kubeconfig, argv: ['--admin', 'off', ...argv] })
  cleanups.push(serving.dispose)
  return serving
}

const answering = { spec: { respond: { code: 200 } } }

const conditionsOf = (api: CliApiServer, name: string) => {
  const status = api.get(`${routesPath}/${name}`)?.['status'] as
    | { readonly conditions?: ReadonlyArray<{ readonly type: string; readonly reason: string }> }
    | undefined
  return (status?.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`)
}

const eventsOf = (api: CliApiServer, reason: string) =>
  api
    .below(eventsPath)
    .map(({ type, reason: why, note, regarding }) => ({ type, reason: why, note, regarding }))
    .filter((event) => event.reason === reason)

const holderOf = (api: CliApiServer): unknown =>
  (api.get(leasePath)?.['spec'] as { readonly holderIdentity?: string } | undefined)?.holderIdentity

test('routes of a cluster get the finalizer and their conditions, and a Lease tells that somebody is at work', async () => {
  const api = await startApi()
  api.put(`${routesPath}/checkout`, answering)
  const serving = serve(api.kubeconfig)
  await eventually(
    () => conditionsOf(api, 'checkout'),
    (conditions) => conditions.includes('Accepted Accepted'),
  )
  expect(api.get(`${routesPath}/checkout`)?.metadata.finalizers).toEqual([finalizer])
  await eventually(
    () => holderOf(api),
    (holder) => typeof holder === 'string' && holder !== '',
  )
  const refused = await runCli(['uninstall', '--yes', '--kubeconfig', serving.kubeconfig])
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('at work')
  expect(await serving.stop()).toBe(0)
  expect(serving.log()).toContain('stopped')
  const { code } = await runCli(['uninstall', '--yes', '--kubeconfig', serving.kubeconfig])
  expect(code).toBe(0)
  expect(api.get(`${routesPath}/checkout`)?.metadata.finalizers).toEqual([])
})

test('without an API server it says so, tries on, and serves once there is one', async () => {
  const first = await startApi()
  const port = Number(new URL(first.url).port)
  await first.stop()
  const serving = serve(first.kubeconfig)
  await eventually(serving.log, (text) => text.includes('the lease cannot be kept'))
  expect(serving.log()).toContain(`127.0.0.1:${port}`)
  expect(serving.log()).not.toContain('listening for Envoys')
  const api = await startApi(port)
  api.put(`${routesPath}/checkout`, answering)
  await eventually(
    () => conditionsOf(api, 'checkout'),
    (conditions) => conditions.includes('Accepted Accepted'),
    60_000,
  )
  expect(await serving.stop()).toBe(0)
})

test('it ends at once where it is asked to while there is no API server', async () => {
  const serving = serve(kubeconfigFor('http://127.0.0.1:1'))
  await eventually(serving.log, (text) => text.includes('the lease cannot be kept'))
  expect(await serving.stop()).toBe(0)
})

test('a finalizer that is taken off by hand is told in an Event about that very object', async () => {
  const api = await startApi()
  api.put(`${routesPath}/checkout`, answering)
  serve(api.kubeconfig)
  await eventually(
    () => conditionsOf(api, 'checkout'),
    (conditions) => conditions.includes('Accepted Accepted'),
  )
  const object = api.get(`${routesPath}/checkout`)
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const metadata = { ...object?.metadata, deletionTimestamp }
  api.put(`${routesPath}/checkout`, { ...object, metadata })
  await eventually(
    () => conditionsOf(api, 'checkout'),
    (conditions) => conditions.includes('Deprogrammed Starting'),
  )
  api.put(`${routesPath}/checkout`, { ...object, metadata: { ...metadata, finalizers: [] } })
  const [event] = await eventually(
    () => eventsOf(api, 'GlassBroken'),
    (events) => events.length > 0,
  )
  expect(event).toMatchObject({
    type: 'Warning',
    regarding: {
      kind: 'EdgeRoute',
      namespace: 'shop',
      name: 'checkout',
      uid: object?.metadata.uid,
    },
  })
  expect(event?.note).toContain('gone before it was proven')
})

/** An Envoy that has taken what it was sent. */
const anEnvoy = async (serving: Serving, id: string) => {
  const client = rawAdsClient(await serving.xdsPort())
  cleanups.push(client.close)
  const stream = client.delta()
  for (const typeUrl of [clusterType, listenerType, routeType])
    stream.send({ node: { id, cluster: 'edge-envoy' }, typeUrl })
  await stream.next()
  return { client, stream }
}

/** An Envoy that takes what it is sent, and is lost then. */
const lostEnvoy = async (serving: Serving, id: string): Promise<void> => {
  const { client, stream } = await anEnvoy(serving, id)
  // Without it the connection stays until the server finds that nobody answers.
  stream.cancel()
  await stream.ended
  client.close()
}

/** A command starts a process, looks at the Lease, and waits for an answer; beside other tests that takes its time. */
const commandsWithinMs = 60_000

test('an Envoy is forgotten by a wish that is left in the cluster, and an Event tells it', async () => {
  const api = await startApi()
  const serving = serve(api.kubeconfig)
  await lostEnvoy(serving, 'envoy-1')
  const nodes = async () =>
    (await runCli(['nodes', '--kubeconfig', serving.kubeconfig, '--output', 'json'])).out
  await eventually(nodes, (text) => text.includes('envoy-1'), commandsWithinMs)
  const forgotten = await eventually(
    () => runCli(['forget', 'envoy-1', '--kubeconfig', serving.kubeconfig]),
    ({ code }) => code === 0,
    commandsWithinMs,
  )
  expect(forgotten.out).toContain('envoy-1 is forgotten')
  expect(await nodes()).not.toContain('envoy-1')
  const [event] = await eventually(
    () => eventsOf(api, 'NodeForgotten'),
    (events) => events.length > 0,
  )
  expect(event).toMatchObject({
    type: 'Warning',
    regarding: { kind: 'ConfigMap', namespace: 'edgewright', name: 'edgewright-roster' },
  })
  expect(event?.note).toContain('envoy-1')
  const unknown = await runCli(['forget', 'nobody', '--kubeconfig', serving.kubeconfig])
  expect(unknown.code).toBe(1)
  expect(unknown.err).toContain('nobody: no node has this id')
})

test('who forgets an Envoy that the last control plane had, a moment after the start, is warned through the cluster', async () => {
  const api = await startApi()
  const first = serve(api.kubeconfig)
  await lostEnvoy(first, 'envoy-1')
  await first.stop()
  const second = serve(api.kubeconfig)
  await second.xdsPort()
  const { code, out } = await eventually(
    () => runCli(['forget', 'envoy-1', '--kubeconfig', second.kubeconfig]),
    (forgotten) => forgotten.code === 0,
    commandsWithinMs,
  )
  expect(code).toBe(0)
  expect(out).toContain('envoy-1 is forgotten')
  expect(out).toMatch(/^Warning: this control plane began \d+ s ago, and had not heard of it/m)
})

const heldBy = (api: CliApiServer, holderIdentity: string): void => {
  const renewTime = new Date().toISOString().replace('Z', '000Z')
  api.put(leasePath, { spec: { holderIdentity, leaseDurationSeconds: 3_600, renewTime } })
}

test('of two control planes in a namespace one waits, and writes nothing, until it has the Lease', async () => {
  const api = await startApi()
  api.put(`${routesPath}/checkout`, answering)
  heldBy(api, 'another')
  const serving = serve(api.kubeconfig)
  await eventually(serving.log, (text) => text.includes('waiting for it'))
  // It looks at the Lease every few seconds, and would have begun long before the second look.
  const looks = () => api.asked.filter((each) => each === `GET ${leasePath}`).length
  await eventually(looks, (count) => count >= 3, 30_000)
  expect(serving.log()).not.toContain('listening for Envoys')
  expect(api.asked.filter((each) => !each.startsWith('GET '))).toEqual([])
  heldBy(api, '')
  await eventually(
    () => conditionsOf(api, 'checkout'),
    (conditions) => conditions.includes('Accepted Accepted'),
    30_000,
  )
  expect(serving.log()).toContain('listening for Envoys')
  expect(await serving.stop()).toBe(0)
})

test('whose Lease another takes serves no Envoy any more, and ends with a failure that says so', async () => {
  const api = await startApi()
  const serving = serve(api.kubeconfig)
  const { stream } = await anEnvoy(serving, 'envoy-1')
  heldBy(api, 'another')
  await stream.ended
  expect(await serving.ended).toBe(1)
  expect(serving.log()).toContain('another control plane, another, has the Lease')
  expect(holderOf(api)).toBe('another')
})

test('a list of Envoys that is deleted or replaced meanwhile is written again', async () => {
  const api = await startApi()
  const serving = serve(api.kubeconfig)
  await anEnvoy(serving, 'envoy-1')
  const roster = () => JSON.stringify(api.get(rosterPath)?.['data'])
  await eventually(roster, (text) => text.includes('envoy-1'))
  const old = api.get(rosterPath)
  api.remove(rosterPath)
  await eventually(roster, (text) => text.includes('envoy-1'), 30_000)
  expect(serving.log()).toContain('was taken away by somebody: writing it again')
  const other = JSON.stringify(old?.['data']).replaceAll('envoy-1', 'envoy-0')
  api.put(rosterPath, { ...old, data: JSON.parse(other) as unknown })
  expect(roster()).not.toContain('envoy-1')
  await eventually(roster, (text) => text.includes('envoy-1'), 30_000)
  expect(await serving.stop()).toBe(0)
})

test('an Envoy whose Pod is gone is forgotten, and one whose Pod is there is not', async () => {
  const api = await startApi()
  const uid = '00000000-0000-0000-0000-00000000000'
  const [gone, there] = [`edge/envoy-a/${uid}1`, `edge/envoy-b/${uid}2`]
  for (const [name, last] of [
    ['envoy-a', 1],
    ['envoy-b', 2],
  ])
    api.put(`/api/v1/namespaces/edge/pods/${name ?? ''}`, {
      metadata: { uid: `${uid}${last ?? ''}` },
      status: { phase: 'Running' },
    })
  const serving = serve(api.kubeconfig)
  api.remove('/api/v1/namespaces/edge/pods/envoy-a')
  await lostEnvoy(serving, gone)
  await lostEnvoy(serving, there)
  const log = await eventually(serving.log, (text) => text.includes('by=pod'), 60_000)
  expect(log).toContain(`node=${gone}`)
  const { out } = await runCli(['nodes', '--kubeconfig', serving.kubeconfig])
  expect(out).not.toContain(gone)
  expect(out).toMatch(new RegExp(`${there} .* Running`))
})

test('a file for the list of Envoys is refused: the Lease does not guard it', async () => {
  const api = await startApi()
  const { directory, dispose } = filesIn({ 'serve.yaml': 'kubernetes: true\nroster: nodes.json\n' })
  cleanups.push(dispose)
  const given = serve(api.kubeconfig, '--roster', join(directory, 'nodes.json'))
  expect(await given.ended).toBe(2)
  expect(given.log()).toContain('--roster goes with a directory of routes')
  const config = join(directory, 'serve.yaml')
  const configured = await runCli(['serve', '--config', config])
  expect(configured.code).toBe(2)
  expect(configured.err).toContain(`${config}: roster (line 2): goes with a directory of routes`)
  expect(api.asked).toEqual([])
})

test('what is its own is in the namespace that is named, in the file of options too', async () => {
  const api = await startApi()
  const { directory, dispose } = filesIn({})
  cleanups.push(dispose)
  const config = join(directory, 'serve.yaml')
  writeFileSync(config, 'ownNamespace: edge\nnamespace: [shop]\nlogFormat: json\n')
  serve(api.kubeconfig, '--config', config)
  await eventually(
    () => api.get(leasePath.replace('/edgewright/', '/edge/')),
    (lease) => lease !== undefined,
  )
  await eventually(
    () => api.asked,
    (asked) => asked.includes(`GET ${routesPath}`),
  )
  expect(api.asked).not.toContain('GET /apis/net.10xdev.io/v1/edgeroutes')
})

test('a kubeconfig that is wrong ends it', async () => {
  const serving = serve('nothing of that kind')
  await eventually(serving.log, (text) => text.includes('edgewright serve:'))
  expect(await serving.stop()).toBe(1)
  expect(serving.log()).toContain(serving.kubeconfig)
})
