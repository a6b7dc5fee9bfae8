import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import {
  type Context,
  defaultDataPlane,
  type Snapshot,
  type TableForm,
  wholeForm,
} from 'edgewright'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Edge, type EdgeAnswer, startEdge } from '../support/edge.js'
import { eventually, freePort } from '../support/envoy.js'
import { formWorlds } from '../support/form-worlds.js'
import { start } from '../support/one-envoy.js'
import { answering, contextOf, snapshotOf } from '../support/rig.js'
import { ask } from '../support/traffic.js'

/** A real Envoy with the same routes in each form. */
const edges: Array<Edge> = []

/** Answers with what it was asked. */
const upstream = createServer((request, answer) => {
  const { method, url, headers } = request
  answer.end(JSON.stringify({ method, url, headers: told(headers) }))
})

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  edges.push(await startEdge('delta', { concurrency: 1 }))
  edges.push(await startEdge('delta', { concurrency: 1, form: { _tag: 'Sharded', shards: 7 } }))
  edges.push(await startEdge('sotw', { concurrency: 1, form: { _tag: 'Sharded', shards: 256 } }))
})

afterAll(async () => {
  await Promise.all(edges.map((edge) => edge.stop()))
  upstream.close()
})

/** What no two exchanges have in common, whatever their routes. */
const ofItsOwn: ReadonlySet<string> = new Set([
  'x-request-id',
  'date',
  'x-envoy-upstream-service-time',
])

const told = (headers: EdgeAnswer['headers']): ReadonlyArray<unknown> =>
  Object.entries(headers).filter(([name]) => !ofItsOwn.has(name))

const around = (): Partial<Context> => ({
  services: [{ namespace: 'test', name: 'echo', ports: [{ name: '', port: 80 }] }],
  endpointSlices: [
    {
      namespace: 'test',
      name: 'echo-1',
      service: 'echo',
      ports: [{ name: '', port: (upstream.address() as AddressInfo).port }],
      endpoints: [{ addresses: ['127.0.0.1'], ready: true }],
    },
  ],
})

const seen = ({ status, headers, body }: EdgeAnswer) => ({ status, headers: told(headers), body })

test(
  'the form of the tables makes no difference to any request',
  { timeout: 600_000 },
  async () => {
    const statuses = new Map<number, number>()
    const agrees = fc.asyncProperty(formWorlds, async ({ routes, requests }) => {
      await Promise.all(edges.map((edge) => edge.apply(routes, around())))
      for (const request of requests) {
        const [whole, ...sharded] = await Promise.all(
          edges.map(async (edge) => seen(await edge.send(request))),
        )
        for (const other of sharded) expect([request, other]).toEqual([request, whole])
        expect(whole?.body).not.toContain('edgewright')
        const { status = 0 } = whole ?? {}
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
    await fc.assert(agrees, { numRuns: 100, endOnFailure: true })
    expect(edges.flatMap((edge) => edge.nacks())).toEqual([])
    for (const status of [200, 301, 404])
      expect(statuses.get(status), `requests answered ${status}`).toBeGreaterThan(20)
  },
)

/** Of the client's side of its connections. */
const portsOf = ({ freeSockets }: Agent): ReadonlyArray<number | undefined> =>
  Object.values(freeSockets).flatMap((sockets = []) => sockets.map(({ localPort }) => localPort))

const sharded: TableForm = { _tag: 'Sharded', shards: 7 }

test.each([
  ['delta', wholeForm, sharded],
  ['sotw', wholeForm, sharded],
  ['delta', sharded, wholeForm],
  ['sotw', sharded, wholeForm],
] as const)(
  'in %s a connection that is drained after a change from %j to %j gets what is new, and loses what is gone',
  async (variant, before, after) => {
    const listener = { name: 'http', address: '127.0.0.1', port: await freePort() }
    const snapshot = (form: TableForm, ...names: ReadonlyArray<string>): Snapshot =>
      snapshotOf(
        names.map((name) => answering(name, `/${name}`, name)),
        {
          ...contextOf(),
          dataPlanes: new Map([[defaultDataPlane, { listeners: [listener], shards: 7, form }]]),
        },
      )
    const { rig, envoy, port } = await start(variant, snapshot(before, 'old', 'gone'))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const answersOn = (connection: Agent | false, path: string, answer: string) =>
      eventually(
        () => ask(port, path, connection),
        (got) => got === answer,
      )
    await answersOn(agent, '/old', '200 old')
    const connection = portsOf(agent)
    rig.publish(snapshot(after, 'old', 'gone'))
    await eventually(
      () => envoy.stat('listener_manager.total_filter_chains_draining'),
      (count) => count === 1,
    )
    rig.publish(snapshot(after, 'old', 'new'))
    for (const each of [agent, false] as const) {
      await answersOn(each, '/new', '200 new')
      expect(await ask(port, '/old', each)).toBe('200 old')
      expect(await ask(port, '/gone', each)).toBe('404')
    }
    // A control plane that begins anew has never sent what the old connection is served by.
    await rig.restart()
    rig.publish(snapshot(after, 'new', 'newer'))
    await answersOn(agent, '/newer', '200 newer')
    expect(await ask(port, '/old', agent)).toBe('404')
    expect(portsOf(agent)).toEqual(connection)
  },
)
