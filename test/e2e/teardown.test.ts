import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OwnCluster, startCluster } from './cluster/start-cluster.js'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import { eventually } from '../support/envoy.js'
import { answers } from '../support/traffic.js'
import { freshAddress } from './support/addresses.js'
import { type Edge, startTestEdge } from './support/edge.js'
import { isProgrammed, prefixRoute, serviceWith } from './support/edge-objects.js'
import { wrongIn } from './support/program.js'

const names = ['one', 'two', 'three']
/** How long a namespace, or a definition, may take to end. */
const endsWithinMs = 60_000

let backends: RecordingBackends
let cluster: OwnCluster

// One of its own: without the definition no other test could go on.
beforeAll(async () => {
  backends = await startRecordingBackends()
  cluster = await startCluster({
    signal: new AbortController().signal,
    crds: ['deploy/crd.yaml'],
  })
})

afterAll(async () => {
  await cluster.close()
  await backends.stop()
})

const served = async (edge: Edge): Promise<number> => {
  const address = freshAddress()
  await edge.apply(
    ...serviceWith(edge.namespace, 'all', backends.port, [address]),
    ...names.map((name) => prefixRoute(edge.namespace, name, 'all')),
  )
  const envoy = await edge.startEnvoy({ variant: 'delta' })
  const port = await envoy.port()
  for (const name of names) await answers(port, `/${name}`, `200 ${address}`)
  await eventually(
    async () => (await edge.list()).filter(isProgrammed).length,
    (count) => count === names.length,
  )
  await edge.restart()
  return port
}

test('a namespace with routes in it ends, and so do its routes', async () => {
  const edge = await startTestEdge(cluster, { name: 'ends' })
  const port = await served(edge)
  await cluster.kubectl(['delete', 'namespace', edge.namespace, '--wait=false'])
  await eventually(
    () => cluster.request({ path: `/api/v1/namespaces/${edge.namespace}` }),
    ({ status }) => status === 404,
    endsWithinMs,
  )
  for (const name of names) await answers(port, `/${name}`, '404')
})

test('the definition ends with routes in it, and comes back', async () => {
  const edge = await startTestEdge(cluster, { name: 'undefined' })
  const port = await served(edge)
  const definition = 'crd/edgeroutes.net.10xdev.io'
  await cluster.kubectl(['delete', definition, `--timeout=${endsWithinMs / 1_000}s`])
  for (const name of names) await answers(port, `/${name}`, '404')
  await eventually(
    () => edge.program.log(),
    (log) => log.includes('the API server does not know this kind'),
    endsWithinMs,
  )
  await cluster.kubectl(['apply', '--server-side', '-f', 'deploy/crd.yaml'])
  await cluster.kubectl(['wait', '--for=condition=Established', definition])
  const address = freshAddress()
  await edge.apply(
    ...serviceWith(edge.namespace, 'again', backends.port, [address]),
    prefixRoute(edge.namespace, 'again'),
  )
  await answers(port, '/again', `200 ${address}`, endsWithinMs)
  expect(await edge.program.stop()).toBe(0)
  const log = edge.program.log()
  expect(log.match(/listening for Envoys/g)).toHaveLength(2)
  expect(wrongIn(log)).toEqual([])
})
