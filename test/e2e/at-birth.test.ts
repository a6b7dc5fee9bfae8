import { afterAll, beforeAll, expect, test } from 'vitest'
import { finalizer } from '../../src/core/stored-object.js'
import { runCli } from '../support/cli.js'
import { eventually } from '../support/envoy.js'
import { answers } from '../support/traffic.js'
import { type OwnCluster, startCluster } from './cluster/start-cluster.js'
import { startTestEdge } from './support/edge.js'
import { type EdgeRouteObject, isProgrammed, routeManifest } from './support/edge-objects.js'
import { wrongIn } from './support/program.js'
import { startProxy } from './support/proxy.js'

/** What routes that are made and deleted at once are made by, and how many there are. */
const writers = 16
const briefRoutes = 480
/** How long the API server may take to see a policy, or a change of one. */
const policyWithinMs = 30_000
const releasedWithinMs = 30_000

/** Without a control plane. */
const namespace = 'alone'
/** Another one, for a policy that is about some namespaces only. */
const chosen = 'chosen'

let cluster: OwnCluster

// One of its own: with the policy the routes of other tests would stay where no control plane is.
beforeAll(async () => {
  const { signal } = new AbortController()
  cluster = await startCluster({ signal, crds: ['deploy/crd.yaml'] })
  for (const name of [namespace, chosen]) await cluster.kubectl(['create', 'namespace', name])
  await cluster.kubectl(['apply', '-k', 'deploy/at-birth'])
  await untilGuarded(namespace, true)
})

afterAll(() => cluster.close())

const routesOf = (place: string): string => `/apis/net.10xdev.io/v1/namespaces/${place}/edgeroutes`

interface Made {
  readonly finalizers?: ReadonlyArray<string>
  readonly dataPlane?: string
}

const answering = (path: string): Readonly<Record<string, unknown>> => ({
  matches: [{ path: { prefix: path } }],
  respond: { code: 204 },
})

const bodyOf = (place: string, name: string, { finalizers, dataPlane }: Made = {}): unknown => {
  const manifest = routeManifest(place, name, {
    ...(dataPlane !== undefined && { dataPlane }),
    ...answering(`/${name}`),
  })
  return { ...manifest, metadata: { namespace: place, name, finalizers } }
}

/** Makes a route; returns the finalizers that it has by then. */
const make = async (
  place: string,
  name: string,
  made?: Made,
  query = '',
): Promise<ReadonlyArray<string>> => {
  const body = bodyOf(place, name, made)
  const answer = await cluster.request({ method: 'POST', path: `${routesOf(place)}${query}`, body })
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return (answer.body as EdgeRouteObject).metadata.finalizers ?? []
}

/** Waits until a route that is made in this namespace would have our finalizer, or would not. */
const untilGuarded = (place: string, isGuarded: boolean): Promise<unknown> =>
  eventually(
    () => make(place, 'trial', {}, '?dryRun=All').catch(() => undefined),
    (finalizers) => finalizers?.includes(finalizer) === isGuarded,
    policyWithinMs,
  )

test('a route has our finalizer from birth, once, behind those that it is made with', async () => {
  expect(await make(namespace, 'bare')).toEqual([finalizer])
  expect(await make(namespace, 'empty', { finalizers: [] })).toEqual([finalizer])
  expect(await make(namespace, 'named', { dataPlane: 'edge-envoy' })).toEqual([finalizer])
  const others = ['a.example/x', 'b.example/y']
  expect(await make(namespace, 'held', { finalizers: others })).toEqual([...others, finalizer])
  const both = [finalizer, 'a.example/x']
  expect(await make(namespace, 'complete', { finalizers: both })).toEqual(both)
})

test('a route of another data plane has not', async () => {
  expect(await make(namespace, 'foreign', { dataPlane: 'other' })).toEqual([])
})

test('a route that lacks a spec is refused by the schema, not by the policy', async () => {
  const body = { ...routeManifest(namespace, 'void', {}), spec: undefined }
  const answer = await cluster.request({ method: 'POST', path: routesOf(namespace), body })
  expect(answer.status).toBe(422)
  expect(JSON.stringify(answer.body)).toContain('spec')
})

test.each([['--server-side'], ['--server-side=false']])(
  'to apply a route again leaves the finalizer on: kubectl apply %s',
  async (how) => {
    const name = `applied${how.replace(/[^a-z]/g, '')}`
    const apply = (path: string): Promise<string> =>
      cluster.kubectl(
        ['apply', how, '-f', '-'],
        JSON.stringify(routeManifest(namespace, name, answering(path))),
      )
    await apply('/one')
    await apply('/two')
    const { body } = await cluster.request({ path: `${routesOf(namespace)}/${name}` })
    const { metadata, spec } = body as EdgeRouteObject
    expect(metadata.finalizers).toEqual([finalizer])
    expect(spec.matches).toEqual([{ path: { prefix: '/two' } }])
  },
)

test(`of ${briefRoutes} routes that ${writers} writers make and delete at once none vanishes unproven`, async () => {
  const proxy = await startProxy(cluster, 1)
  const edge = await startTestEdge(cluster, { name: 'brief', url: proxy.url })
  const envoy = await edge.startEnvoy({ variant: 'delta', until: 'live' })

  // What has the finalizer already is served, and nothing more is written for that.
  await make(edge.namespace, 'first')
  await answers(await envoy.port(), '/first', '204')
  await eventually(() => edge.get('first'), isProgrammed)
  expect(proxy.counts().get('patch edgeroutes')).toBe(undefined)

  await edge.restart()
  const watch = await edge.watch()
  const names = Array.from({ length: briefRoutes }, (_, index) => `brief-${index}`)
  const rest = names.values()
  const write = async (): Promise<void> => {
    for (const name of rest) {
      await make(edge.namespace, name)
      await cluster.request({ method: 'DELETE', path: `${routesOf(edge.namespace)}/${name}` })
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
  const gone = await eventually(
    () => watch.events.filter(({ type }) => type === 'DELETED').map(({ object }) => object),
    ({ length }) => length === briefRoutes,
    releasedWithinMs,
  )
  // The API server shows what it let go of as it was before: still held, if our finalizer has counted.
  const unheld = gone.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  expect(unheld.map(({ metadata }) => metadata.name)).toEqual([])
  const log = edge.program.log()
  const proven = log.split('\n').filter((line) => line.includes('deleted: gone from every Envoy'))
  expect(proven).toHaveLength(briefRoutes)
  expect(log).not.toContain('gone before every Envoy has confirmed')
  expect(wrongIn(log)).toEqual([])
  expect(await edge.program.stop()).toBe(0)
  await proxy.stop()
})

test('with a binding for some namespaces the routes of others do not have it', async () => {
  const namespaceSelector = {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [chosen] }],
  }
  const patch = JSON.stringify({ spec: { matchResources: { namespaceSelector } } })
  const binding = 'mutatingadmissionpolicybinding/edgewright-at-birth'
  await cluster.kubectl(['patch', binding, '--type=merge', '-p', patch])
  await untilGuarded(namespace, false)
  await untilGuarded(chosen, true)
})

test('uninstall is refused as long as the policy is there, and says how to remove it', async () => {
  const argv = ['uninstall', '--yes', '--kubeconfig', cluster.kubeconfig]
  const refused = await runCli(argv)
  expect(refused).toMatchObject({ code: 1, out: '' })
  const command = /kubectl (delete .*)$/m.exec(refused.err)?.[1] ?? ''
  await cluster.kubectl(command.split(' '))
  await untilGuarded(chosen, false)
  expect(await runCli(argv)).toMatchObject({ code: 0 })
  const { body } = await cluster.request({ path: routesOf(namespace) })
  const { items } = body as { readonly items: ReadonlyArray<EdgeRouteObject> }
  expect(items.length).toBeGreaterThan(0)
  const held = items.filter(({ metadata }) => metadata.finalizers?.includes(finalizer))
  expect(held.map(({ metadata }) => metadata.name)).toEqual([])
  const kinds = 'mutatingadmissionpolicies,mutatingadmissionpolicybindings'
  expect(await cluster.kubectl(['get', kinds, '-o', 'name'])).toBe('')
})
