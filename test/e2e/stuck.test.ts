import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { runCli } from '../support/cli.js'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import type { DeletionEnvoy } from '../support/deletion/wired-envoy.js'
import { eventually } from '../support/envoy.js'
import { answers } from '../support/traffic.js'
import { type Edge, startEdge } from './support/edge.js'
import { conditionOf } from './support/edge-objects.js'
import { theCluster } from './support/the-cluster.js'

/** How long a route is seen to stay, in milliseconds: many times what a deletion takes. */
const staysMs = 3_000

const cluster = theCluster()
let backends: RecordingBackends
let edge: Edge
let well: DeletionEnvoy
let paused: DeletionEnvoy

beforeAll(async () => {
  backends = await startRecordingBackends()
  edge = await startEdge(cluster, { name: 'stuck' })
  well = await edge.startEnvoy({ variant: 'delta', id: 'envoy-well', until: 'live' })
  paused = await edge.startEnvoy({ variant: 'sotw', id: 'envoy-paused', until: 'live' })
  await Promise.all([well.port(), paused.port()])
  await edge.restart()
})

afterEach(() => paused.resume())

afterAll(async () => {
  await edge.stop()
  await backends.stop()
})

/** A route that both Envoys serve, of which one is paused before it is deleted. */
const stuckRoute = async (name: string): Promise<void> => {
  const address = await edge.applyServed(name, backends)
  for (const envoy of [well, paused])
    await answers(await envoy.port(), `/${name}`, `200 ${address}`)
  paused.pause()
  await edge.remove(name)
  await answers(await well.port(), `/${name}`, '404')
  await sleep(staysMs)
  await eventually(
    async () => conditionOf(await edge.get(name), 'Deprogrammed'),
    (condition) => condition !== undefined,
  )
}

const untilGone = (name: string): Promise<unknown> =>
  eventually(
    () => edge.get(name),
    (object) => object === undefined,
  )

interface ClusterEvent {
  readonly reason: string
  readonly type: string
  readonly note: string
  readonly regarding: { readonly name: string; readonly uid?: string }
}

const eventsAbout = async (name: string): Promise<ReadonlyArray<ClusterEvent>> => {
  const path = `/apis/events.k8s.io/v1/namespaces/${edge.namespace}/events`
  const { body } = await cluster.request({ path })
  const { items } = body as { readonly items: ReadonlyArray<ClusterEvent> }
  return items.filter(({ regarding }) => regarding.name === name)
}

const untilWarned = (name: string): Promise<ReadonlyArray<ClusterEvent>> =>
  eventually(
    () => eventsAbout(name),
    (events) => events.some(({ type }) => type === 'Warning'),
  )

const byAdmin = ['--kubernetes', '--kubeconfig', cluster.kubeconfig]

test('a route stays as long as an Envoy does not confirm, names it, and goes when it does', async () => {
  await stuckRoute('waits')
  const object = await edge.get('waits')
  expect(object?.metadata.deletionTimestamp).toBeDefined()
  const condition = conditionOf(object, 'Deprogrammed')
  expect(condition).toMatchObject({ status: 'False', reason: 'WaitingForAck' })
  expect(condition?.message).toContain('envoy-paused')
  expect(condition?.message).not.toContain('envoy-well')
  const explained = await runCli([
    'explain',
    `${edge.namespace}/waits`,
    ...byAdmin,
    ...['--own-namespace', edge.system],
  ])
  expect(explained).toMatchObject({ code: 0 })
  expect(explained.out).toContain('WaitingForAck')
  expect(explained.out).toContain('envoy-paused')
  const asked = await runCli(['explain', `${edge.namespace}/waits`, '--admin', edge.program.admin])
  expect(asked.out).toContain('envoy-paused')
  paused.resume()
  await untilGone('waits')
  expect((await eventsAbout('waits')).filter(({ type }) => type === 'Warning')).toEqual([])
})

test('a route that others hold after its release says last that no Envoy serves it', async () => {
  const address = await edge.applyServed('held', backends)
  await answers(await well.port(), '/held', `200 ${address}`)
  const patch = (ops: string): Promise<unknown> =>
    cluster.kubectl([
      ...['-n', edge.namespace, 'patch', 'edgeroute', 'held', '--type=json'],
      ...['-p', ops],
    ])
  await patch('[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/other"}]')
  await cluster.kubectl(['-n', edge.namespace, 'delete', 'edgeroute', 'held', '--wait=false'])
  const object = await eventually(
    () => edge.get('held'),
    (found) => conditionOf(found, 'Deprogrammed')?.status === 'True',
  )
  expect(object?.metadata.finalizers).toEqual(['example.com/other'])
  expect(conditionOf(object, 'Programmed')).toBeUndefined()
  await patch('[{"op":"remove","path":"/metadata/finalizers"}]')
  await untilGone('held')
})

test('the command breaks the glass: the object goes, and an Event says who had not confirmed', async () => {
  await stuckRoute('broken')
  const broken = await runCli([
    ...['break-glass', `${edge.namespace}/broken`, '--yes'],
    ...byAdmin,
    ...['--own-namespace', edge.system],
  ])
  expect(broken).toMatchObject({ code: 0 })
  await untilGone('broken')
  const events = await untilWarned('broken')
  expect(events.map(({ note }) => note).join('\n')).toContain('envoy-paused')
})

test('kubectl patch breaks the glass by hand, with the same Event', async () => {
  await stuckRoute('patched')
  const uid = (await edge.get('patched'))?.metadata.uid
  await cluster.kubectl([
    ...['-n', edge.namespace, 'patch', 'edgeroute', 'patched', '--type=merge'],
    ...['-p', '{"metadata":{"finalizers":null}}'],
  ])
  await untilGone('patched')
  const events = await untilWarned('patched')
  expect(events.map(({ note }) => note).join('\n')).toContain('envoy-paused')
  expect(events[0]?.regarding.uid).toBe(uid)
})
