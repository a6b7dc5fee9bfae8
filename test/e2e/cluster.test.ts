import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, request } from '../support/envoy.js'
import { freshAddress } from './support/addresses.js'
import { makeServiceAccount, ownNamespace } from './support/namespace.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'cluster')
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`

const createConfigMap = async (name: string): Promise<string> => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
  const created = await cluster.request({ method: 'POST', path: configMaps, body })
  expect(created.status).toBe(201)
  return (created.body as { readonly metadata: { readonly resourceVersion: string } }).metadata
    .resourceVersion
}

test('the cluster is of the version that it was built from', async () => {
  const { body } = await cluster.request({ path: '/version' })
  expect(body).toMatchObject({ major: '1', minor: '37', gitVersion: 'v1.37.2' })
})

test('the cluster knows EdgeRoutes before any test applies their definition', async () => {
  const { status, body } = await cluster.request({ path: '/apis/net.10xdev.io/v1/edgeroutes' })
  expect(status).toBe(200)
  expect(body).toMatchObject({ kind: 'EdgeRouteList' })
})

test('a namespace comes with an account, and goes with all that is in it', async () => {
  const name = `${namespace}-short`
  await cluster.kubectl(['create', 'namespace', name])
  await cluster.kubectl(['-n', name, 'wait', '--for=create', 'sa/default', '--timeout=20s'])
  await cluster.kubectl(['-n', name, 'create', 'configmap', 'inside'])
  await cluster.kubectl(['delete', 'namespace', name])
  expect((await cluster.request({ path: `/api/v1/namespaces/${name}` })).status).toBe(404)
})

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: probes.e2e.example }
spec:
  group: e2e.example
  scope: Namespaced
  names: { kind: Probe, listKind: ProbeList, plural: probes, singular: probe }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: { low: { type: integer }, high: { type: integer } }
              x-kubernetes-validations:
                - { rule: self.low <= self.high, message: low is above high }
`

const probe = (low: number, high: number): string => `apiVersion: e2e.example/v1
kind: Probe
metadata: { namespace: ${namespace}, name: probe }
spec: { low: ${low}, high: ${high} }
`

test('a kind of our own is served, with its rules, as soon as it is established', async () => {
  await cluster.kubectl(['apply', '--server-side', '-f', '-'], crd)
  onTestFinished(async () => {
    await cluster.kubectl(['delete', 'crd', 'probes.e2e.example'])
  })
  await cluster.kubectl(['wait', '--for=condition=Established', 'crd/probes.e2e.example'])
  await expect(cluster.kubectl(['create', '-f', '-'], probe(2, 1))).rejects.toThrow(
    'low is above high',
  )
  await cluster.kubectl(['create', '-f', '-'], probe(1, 2))
  expect(await cluster.kubectl(['-n', namespace, 'get', 'probes', '-o', 'name'])).toBe(
    'probe.e2e.example/probe\n',
  )
})

test('when an API server that was killed is back, all that was written is there, and controllers go on', async () => {
  await createConfigMap('kept')
  await cluster.stopApiServer()
  await expect(cluster.request({ path: '/readyz' })).rejects.toThrow('ECONNREFUSED')
  await cluster.startApiServer()
  expect((await cluster.request({ path: `${configMaps}/kept` })).status).toBe(200)
  // The controllers have outlived it, and work on.
  await cluster.kubectl(['-n', namespace, 'delete', 'sa', 'default'])
  await cluster.kubectl(['-n', namespace, 'wait', '--for=create', 'sa/default', '--timeout=60s'])
})

test('a watch from before a compaction and a restart is answered with 200, and in it with 410', async () => {
  const version = await createConfigMap('before-compaction')
  await createConfigMap('after-that')
  const watch = (): ReturnType<typeof cluster.request> => {
    const query = `watch=true&timeoutSeconds=1&resourceVersion=${version}`
    return cluster.request({ path: `${configMaps}?${query}` })
  }
  expect(await watch()).toMatchObject({ status: 200, body: { type: 'ADDED' } })

  await cluster.compactEtcd()
  await cluster.stopApiServer('SIGTERM')
  await cluster.startApiServer()
  const expired = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }
  expect(await watch()).toMatchObject({ status: 200, body: expired })
})

/** An API server looks every 15 s whether there was a compaction. */
const noticedWithinMs = 40_000

test('the second page of a list from before a compaction is answered with 410', async () => {
  for (const name of ['page-a', 'page-b']) await createConfigMap(name)
  const first = await cluster.request({ path: `${configMaps}?limit=1` })
  const { metadata } = first.body as { readonly metadata: { readonly continue: string } }
  const second = { path: `${configMaps}?limit=1&continue=${encodeURIComponent(metadata.continue)}` }
  await createConfigMap('page-c')
  expect((await cluster.request(second)).status).toBe(200)

  await cluster.compactEtcd()
  const answer = await eventually(
    () => cluster.request(second),
    ({ status }) => status !== 200,
    noticedWithinMs,
  )
  expect(answer).toMatchObject({ status: 410, body: { kind: 'Status', reason: 'Expired' } })
})

test('a token that lives for a few seconds is taken, and then it is not', async () => {
  const account = await makeServiceAccount(cluster, namespace, 'short-lived')
  const ask = async (token: string): Promise<number> =>
    (await cluster.request({ path: '/api/v1/namespaces', token })).status
  const token = cluster.mintToken(account, 2_000)
  expect(await ask(token)).toBe(403)
  await eventually(
    () => ask(token),
    (status) => status === 401,
    20_000,
  )
  expect(await ask(cluster.mintToken(account, 60_000))).toBe(403)
  expect(await ask(cluster.mintToken({ ...account, uid: 'another' }, 60_000))).toBe(401)
})

const slice = (name: string, address: string): string => `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { namespace: ${namespace}, name: ${name}, labels: { kubernetes.io/service-name: s } }
addressType: IPv4
ports: [{ name: http, port: 8080 }]
endpoints: [{ addresses: [${address}], conditions: { ready: true } }]
`

test('a backend is reached at an address that the API server takes as an endpoint', async () => {
  const address = freshAddress()
  const backend = createServer((_, answer) => answer.end('here'))
  await new Promise<void>((resolve) => backend.listen(8080, address, resolve))
  onTestFinished(() => void backend.close())
  await cluster.kubectl(['create', '-f', '-'], slice('reachable', address))
  await expect(
    cluster.kubectl(['create', '-f', '-'], slice('refused', '127.0.0.1')),
  ).rejects.toThrow('may not be in the loopback range')
  expect((await request(`http://${address}:8080/`)).body).toBe('here')
  await expect(request('http://192.0.2.1/')).rejects.toThrow('EHOSTUNREACH')
})
