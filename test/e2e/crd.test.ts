import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isUnsaid, refusalsOf } from '../support/crd/agreement.js'
import { nearValidSpec } from '../support/crd/near-valid.js'
import { admitNew } from '../support/crd/offline-server.js'
import { ownNamespace } from './support/namespace.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'crd')
const path = `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes?dryRun=All`

const envelope = (spec: unknown) => ({
  apiVersion: 'net.10xdev.io/v1',
  kind: 'EdgeRoute',
  metadata: { namespace, name: 'r' },
  spec,
})

/** What the server says of it, without keeping it; unknown fields it drops. */
const serverTakes = async (
  spec: unknown,
): Promise<{ readonly takes: boolean; readonly why: string }> => {
  const { status, body } = await cluster.request({ method: 'POST', path, body: envelope(spec) })
  const why = JSON.stringify(body)
  if (status !== 201 && status !== 422 && status !== 400) throw new Error(`${status}: ${why}`)
  return { takes: status === 201, why }
}

test('the API server and the codec take and refuse the same specs, save what no schema can say', async () => {
  const seen = { both: 0, neither: 0, unsaid: 0 }
  await fc.assert(
    fc.asyncProperty(nearValidSpec, async (spec) => {
      const { takes, why } = await serverTakes(spec)
      const refusals = refusalsOf(spec)
      if (refusals.length === 0) expect(takes, why).toBe(true)
      else if (isUnsaid(refusals)) seen.unsaid += 1
      else expect(takes, JSON.stringify(refusals)).toBe(false)
      // What is shown offline, with the same judge, is so on a real API server.
      const { complaints } = admitNew(spec)
      expect(complaints.length === 0, `${JSON.stringify(complaints)} ${why}`).toBe(takes)
      seen[takes ? 'both' : 'neither'] += 1
    }),
    { numRuns: 600 },
  )
  expect(seen.both).toBeGreaterThan(100)
  expect(seen.neither).toBeGreaterThan(100)
})

test('the data plane of a route cannot be changed', async () => {
  const routes = path.replace('?dryRun=All', '')
  const spec = { dataPlane: 'edge-envoy', backends: [{ address: { host: '10.0.0.1', port: 80 } }] }
  const made = await cluster.request({ method: 'POST', path: routes, body: envelope(spec) })
  expect(made.status).toBe(201)
  const body = { spec: { dataPlane: 'other' } }
  const contentType = 'application/merge-patch+json'
  const changed = await cluster.request({ method: 'PATCH', path: `${routes}/r`, body, contentType })
  expect(changed.status).toBe(422)
  expect(JSON.stringify(changed.body)).toContain('immutable')
})

test('a person sees hostnames, paths and how far it is', async () => {
  const spec = {
    hostnames: ['shop.example.com'],
    matches: [{ path: { prefix: '/checkout' } }],
    respond: { code: 410 },
  }
  const manifest = { ...envelope(spec), metadata: { namespace, name: 'shown' } }
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(manifest))
  const shown = await cluster.kubectl(['-n', namespace, 'get', 'er', 'shown'])
  expect(shown).toMatch(/NAME +HOSTNAMES +PATHS +ACCEPTED +RESOLVED +PROGRAMMED +AGE +DELETING/)
  expect(shown).toContain('shop.example.com')
  expect(shown).toContain('/checkout')
})

test('a person sees that a route is Terminating, and for how long', async () => {
  const metadata = { namespace, name: 'ending', finalizers: ['example.com/test'] }
  const manifest = { ...envelope({ respond: { code: 410 } }), metadata }
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(manifest))
  const get = (): Promise<string> =>
    cluster.kubectl(['-n', namespace, 'get', 'er', 'ending', '--no-headers'])
  expect(await get()).toMatch(/[^s] +\d+s *\n$/)
  await cluster.kubectl(['-n', namespace, 'delete', 'er', 'ending', '--wait=false'])
  expect(await get()).toMatch(/ \d+s +\d+s *\n$/)
  const patch = JSON.stringify({ metadata: { finalizers: null } })
  await cluster.kubectl(['-n', namespace, 'patch', 'er', 'ending', '--type=merge', '-p', patch])
})

test('the kustomize base is taken by a real API server, whole', async () => {
  const rendered = await cluster.kubectl(['kustomize', 'deploy'])
  const applied = await cluster.kubectl(['apply', '--server-side', '-f', '-'], rendered)
  expect(applied.trim().split('\n').length).toBe(rendered.split(/^---$/m).length)
  await cluster.kubectl(['delete', 'namespace', 'edgewright', '--wait=false'])
})
