import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { runCli } from '../support/cli.js'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { eventually } from '../support/envoy.js'
import { rarelyAsked } from '../support/rarely-asked.js'
import { answers } from '../support/traffic.js'
import { freshAddress } from './support/addresses.js'
import { type Edge, startEdge } from './support/edge.js'
import { prefixRoute, serviceWith } from './support/edge-objects.js'
import { type ApiProxy, startProxy } from './support/proxy.js'
import { theCluster } from './support/the-cluster.js'

interface Rule {
  readonly apiGroups: ReadonlyArray<string>
  readonly resources: ReadonlyArray<string>
  readonly verbs: ReadonlyArray<string>
}

/** All that `deploy/rbac.yaml` allows the control plane, as in `list edgeroutes`. */
const allowed = new Set(
  parseAllDocuments(readFileSync('deploy/rbac.yaml', 'utf8'))
    .map((document) => document.toJS() as { readonly rules?: ReadonlyArray<Rule> })
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    ),
)

const cluster = theCluster()
let backends: RecordingBackends
let proxy: ApiProxy
let edge: Edge

beforeAll(async () => {
  backends = await startRecordingBackends()
  proxy = await startProxy(cluster, 1)
  edge = await startEdge(cluster, { name: 'rbac', url: proxy.url })
})

afterAll(async () => {
  await edge.stop()
  await proxy.stop()
  await backends.stop()
})

const untilAsked = (call: string): Promise<unknown> =>
  eventually(
    () => [...proxy.counts().keys()],
    (calls) => calls.includes(call),
    60_000,
  )

const podOf = (name: string): Readonly<Record<string, unknown>> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: edge.namespace, name },
  spec: { containers: [{ name: 'envoy', image: 'envoy' }] },
})

const uidOf = async (name: string): Promise<string> => {
  const path = `/api/v1/namespaces/${edge.namespace}/pods/${name}`
  const { body } = await cluster.request({ path })
  return (body as { readonly metadata: { readonly uid: string } }).metadata.uid
}

test('a control plane at work needs all that its role allows, and nothing else', async () => {
  const { namespace, system } = edge
  await edge.apply(podOf('envoy-a'))
  const id = `${namespace}/envoy-a/${await uidOf('envoy-a')}`
  const envoy = await edge.startEnvoy({ variant: 'delta', id, until: 'admin' })
  const other = await edge.startEnvoy({
    variant: 'sotw',
    id: 'somewhere-else',
    until: 'admin',
  })
  const address = freshAddress()
  await edge.apply(
    ...serviceWith(namespace, 'all', backends.port, [address]),
    ...['one', 'two'].map((name) => prefixRoute(namespace, name, 'all')),
  )
  for (const each of [envoy, other])
    for (const name of ['one', 'two'])
      await answers(await each.port(), `/${name}`, `200 ${address}`)

  await edge.restart()

  // An Envoy whose Pod is gone for sure is waited for no more; one that is lost is forgotten by a person.
  await envoy.kill()
  await edge.remove('one')
  await sleep(1_000)
  expect(await edge.get('one')).toBeDefined()
  await cluster.kubectl([
    '-n',
    namespace,
    'delete',
    'pod',
    'envoy-a',
    '--grace-period=0',
    '--force',
  ])
  await eventually(
    () => edge.get('one'),
    (object) => object === undefined,
    60_000,
  )
  await other.kill()
  await edge.remove('two')
  await eventually(
    () => edge.program.log(),
    (log) => log.split('the stream has ended').length > 2,
  )
  const forgotten = await runCli([
    ...['forget', 'somewhere-else', '--kubernetes', '--kubeconfig', cluster.kubeconfig],
    ...['--own-namespace', system],
  ])
  expect(forgotten).toMatchObject({ code: 0 })
  await eventually(
    () => edge.get('two'),
    (object) => object === undefined,
    60_000,
  )
  await untilAsked('create events')
  await untilAsked('update leases')

  const refused = proxy.calls().filter(({ status }) => status === 403)
  expect(refused.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([])
  const asked = new Set(proxy.counts().keys())
  const unused = [...allowed].filter((call) => !asked.has(call))
  // That each of these is needed, the tests of requests that are rare show.
  expect(unused.filter((call) => !rarelyAsked.has(call))).toEqual([])
})
