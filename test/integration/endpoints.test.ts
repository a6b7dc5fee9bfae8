import { createServer, type Server } from 'node:http'
import {
  clusterType,
  type Context,
  defaultDataPlane,
  type EdgeRoute,
  type EndpointSlice,
  endpointType,
} from 'edgewright'
import { onTestFinished, describe, expect, test } from 'vitest'
import { type Edge, startEdge } from '../support/edge.js'

/** A backend that says who it is. */
const backend = async (name: string): Promise<number> => {
  const server: Server = createServer((_, response) => {
    response.setHeader('x-backend', name)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** One for each, since all are at one address and so have ports of their own. */
const sliceOf = (port: number, zone?: string): EndpointSlice => ({
  namespace: 'test',
  name: `web-${port}`,
  service: 'web',
  ports: [{ name: '', port }],
  endpoints: [{ addresses: ['127.0.0.1'], ready: true, ...(zone !== undefined && { zone }) }],
})

const web = [{ namespace: 'test', name: 'web', ports: [{ name: '', port: 80 }] }]

const route = (spec: EdgeRoute['spec']): EdgeRoute => ({
  metadata: { namespace: 'test', name: 'web', uid: 'web', generation: 1, finalizers: [] },
  spec,
})

const toWeb = route({ backends: [{ service: { name: 'web', port: 80 } }] })

const edgeFor = async (variant: 'sotw' | 'delta'): Promise<Edge> => {
  const edge = await startEdge(variant, { concurrency: 1 })
  onTestFinished(edge.stop)
  return edge
}

const countOf = async (edge: Edge, requests: number): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>()
  for (let sent = 0; sent < requests; sent += 1) {
    const { status, headers } = await edge.send({ path: '/' })
    const name = String(headers['x-backend'] ?? status)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

describe.each(['sotw', 'delta'] as const)('a real Envoy in %s', (variant) => {
  test('spreads requests over endpoints, not over zones', async () => {
    const edge = await edgeFor(variant)
    const names = ['a1', 'b1', 'b2', 'b3', 'none1', 'none2']
    const slices: Array<EndpointSlice> = []
    for (const name of names) {
      const zone = name.startsWith('none') ? undefined : `zone-${name.charAt(0)}`
      slices.push(sliceOf(await backend(name), zone))
    }
    await edge.apply([toWeb], { services: web, endpointSlices: slices })
    const counts = await countOf(edge, 120)
    expect(edge.nacks()).toEqual([])
    expect([...counts.keys()].sort()).toEqual(names)
    // By zone, a1 would get 40 and each of the b about 13.
    for (const [name, count] of counts)
      expect([name, count >= 15 && count <= 25]).toEqual([name, true])
  })

  test('gets endpoints alone when endpoints change', async () => {
    const edge = await edgeFor(variant)
    const slices = [sliceOf(await backend('one'), 'a'), sliceOf(await backend('two'), 'b')]
    const contextWith = (count: number): Partial<Context> => ({
      services: web,
      endpointSlices: slices.slice(0, count),
    })
    const sent = (typeUrl: string): number =>
      edge.events.filter((event) => event._tag === 'ResponseSent' && event.typeUrl === typeUrl)
        .length
    await edge.apply([toWeb], contextWith(1))
    expect([...(await countOf(edge, 4)).keys()]).toEqual(['one'])
    const before = [sent(clusterType), sent(endpointType)]
    await edge.apply([toWeb], contextWith(0))
    expect([...(await countOf(edge, 4)).keys()]).toEqual(['503'])
    await edge.apply([toWeb], contextWith(2))
    expect([...(await countOf(edge, 8)).keys()].sort()).toEqual(['one', 'two'])
    const [clusters = 0, endpoints = 0] = before
    expect([sent(clusterType), sent(endpointType)]).toEqual([clusters, endpoints + 2])
    expect(edge.nacks()).toEqual([])
  })

  test('answers 503 for an address that is not allowed, and reaches it as soon as it is', async () => {
    const edge = await edgeFor(variant)
    const listeners = [{ name: 'http', address: '127.0.0.1', port: Number(new URL(edge.url).port) }]
    const port = await backend('one')
    const routes = ['127.0.0.1', 'localhost', 'one.example.com'].map((host, index) => ({
      ...route({
        matches: [{ path: { prefix: `/${index}` } }],
        backends: [{ address: { host, port } }],
      }),
      metadata: { ...toWeb.metadata, name: `r${index}`, uid: `r${index}` },
    }))
    const statuses = async (): Promise<ReadonlyArray<number>> => [
      (await edge.send({ path: '/0' })).status,
      (await edge.send({ path: '/1' })).status,
      (await edge.send({ path: '/2' })).status,
    ]
    const addresses = { cidrs: ['0.0.0.0/0'], suffixes: ['.example.org'] }
    await edge.apply(routes, {
      dataPlanes: new Map([[defaultDataPlane, { listeners, addresses }]]),
    })
    expect(await statuses()).toEqual([503, 503, 503])
    await edge.apply(routes.slice(0, 2))
    expect((await statuses()).slice(0, 2)).toEqual([200, 200])
    expect(edge.nacks()).toEqual([])
  })
})
