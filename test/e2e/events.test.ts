import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import { type ClusterEvent, kubernetesEvents } from '../../src/adapters/k8s/events.js'
import { askToForget, serveForgetRequests } from '../../src/adapters/k8s/forget-requests.js'
import { memoryLogger } from '../../src/adapters/memory/index.js'
import { maxIdLength } from '../../src/core/roster.js'
import { eventually } from '../support/envoy.js'
import { clusterClient } from './support/cluster-client.js'
import { ownNamespace } from './support/namespace.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'events')
const client = clusterClient(cluster)

const anEvent = (name: string, note: string): ClusterEvent => ({
  regarding: { apiVersion: 'net.10xdev.io/v1', kind: 'EdgeRoute', namespace, name, uid: 'u' },
  type: 'Warning',
  reason: 'GlassBroken',
  action: 'Deprogramming',
  note,
})

interface Shown {
  readonly note: string
  readonly series?: { readonly count: number }
  readonly regarding: { readonly name: string }
}

const shown = async (name: string): Promise<ReadonlyArray<Shown>> => {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`
  const { body } = await cluster.request({ path })
  return (body as { readonly items: ReadonlyArray<Shown> }).items.filter(
    ({ regarding }) => regarding.name === name,
  )
}

const start = () => {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const logger = memoryLogger()
  const identity = `host_${'x'.repeat(200)}`
  const events = kubernetesEvents(client, { identity, logger }, abort.signal)
  return { ...events, logger, abort: () => abort.abort() }
}

test('an API server takes Events, and counts what is told again', async () => {
  const { emit, logger, finished, abort } = start()
  const longName = `r${'.x'.repeat(125)}`
  emit(anEvent(longName, 'é'.repeat(2_000)))
  for (let i = 0; i < 3; i += 1) emit(anEvent('again', 'not confirmed by envoy-1'))
  const counted = await eventually(
    () => shown('again'),
    ([event]) => event?.series?.count === 3,
  )
  expect(counted).toHaveLength(1)
  const [long] = await shown(longName)
  expect(long?.note).toMatch(/^é{500,}…$/)
  abort()
  await finished
  expect(logger.entries()).toEqual([])
  const read = await cluster.kubectl(['-n', namespace, 'events', '--for', 'edgeroute/again'])
  expect(read).toMatch(/\(x3 over .*Warning +GlassBroken +EdgeRoute\/again +not confirmed/)
})

test('an Event that was removed meanwhile is told anew, and one of a namespace that is gone is dropped', async () => {
  const { emit, logger } = start()
  emit(anEvent('removed', 'once'))
  await eventually(
    () => shown('removed'),
    (events) => events.length === 1,
  )
  await cluster.kubectl(['-n', namespace, 'delete', 'events', '--all'])
  emit(anEvent('removed', 'once'))
  await eventually(
    () => shown('removed'),
    (events) => events.length === 1,
  )
  const { regarding, ...rest } = anEvent('x', 'x')
  emit({ ...rest, regarding: { ...regarding, namespace: 'nobody-has-this' } })
  await eventually(
    () => logger.entries().length,
    (count) => count === 1,
  )
})

test('who asks through the API server that an Envoy be forgotten is answered', async () => {
  const abort = new AbortController()
  const forgotten: Array<string> = []
  const served = serveForgetRequests(
    client,
    {
      namespace,
      forget: (id) => {
        forgotten.push(id)
        return Promise.resolve(id === 'envoy-1' ? 'Forgotten' : 'Connected')
      },
    },
    abort.signal,
  )
  const ids = ['envoy-1', 'é'.repeat(maxIdLength)]
  const answers = await Promise.all(
    ids.map((id) => askToForget(client, { namespace }, id, abort.signal)()),
  )
  expect(answers).toEqual([E.right('Forgotten'), E.right('Connected')])
  expect([...forgotten].sort()).toEqual([...ids].sort())
  const left = ['-n', namespace, 'get', 'cm', 'edgewright-forget', '-o', 'jsonpath={.data}']
  expect(await cluster.kubectl(left)).toMatch(/^(\{\})?$/)
  abort.abort()
  await served
})
