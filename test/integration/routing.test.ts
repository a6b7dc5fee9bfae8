import { createServer, type Server } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import {
  decodeEdgeRoute,
  type EdgeRoute,
  type EdgeRouteSpec,
  type Match,
  showFieldError,
} from 'edgewright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Edge, startEdge } from '../support/edge.js'

const route = (name: string, spec: EdgeRouteSpec): EdgeRoute => {
  const decoded = decodeEdgeRoute({
    apiVersion: 'net.10xdev.io/v1',
    kind: 'EdgeRoute',
    metadata: { namespace: 'test', name },
    spec,
  })
  if (E.isLeft(decoded)) throw new Error(decoded.left.map(showFieldError).join('; '))
  return decoded.right.route
}

const prefixes = (...paths: ReadonlyArray<string>): ReadonlyArray<Match> =>
  paths.map((prefix) => ({ path: { prefix } }))

/** A backend that says who it is, and what it was asked for. */
const backend = async (name: string): Promise<{ server: Server; port: number }> => {
  const server = createServer((request, response) => {
    response.setHeader('x-backend', name)
    response.end(
      JSON.stringify({
        name,
        path: request.url,
        host: request.headers.host,
        headers: request.headers,
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 }
}

describe.each(['sotw', 'delta'] as const)('a real Envoy in %s', (variant) => {
  let edge: Edge
  let one: { server: Server; port: number }
  let two: { server: Server; port: number }

  beforeAll(async () => {
    one = await backend('one')
    two = await backend('two')
    edge = await startEdge(variant)
  })
  afterAll(async () => {
    await edge.stop()
    one.server.close()
    two.server.close()
  })

  const to = (port: number, weight?: number) => ({
    address: { host: '127.0.0.1', port },
    ...(weight === undefined ? {} : { weight }),
  })

  test('a prefix matches whole path elements, and the longest wins in whatever order they come', async () => {
    const routes = [
      route('a', { matches: prefixes('/a'), respond: { code: 200, body: 'a' } }),
      route('a-b', { matches: prefixes('/a/b'), respond: { code: 200, body: 'a-b' } }),
      route('z', { matches: prefixes('/a/b/c'), respond: { code: 200, body: 'a-b-c' } }),
    ]
    for (const order of [routes, [...routes].reverse()]) {
      await edge.apply(order)
      for (const [path, body] of [
        ['/a', 'a'],
        ['/a/', 'a'],
        ['/a/x', 'a'],
        ['/a?b', 'a'],
        ['/a/bc', 'a'],
        ['/a/b', 'a-b'],
        ['/a/b/x', 'a-b'],
        ['/a/b/c/d', 'a-b-c'],
        ['//a//b', 'a-b'],
        ['/x/../a/b', 'a-b'],
      ] as const)
        expect([path, (await edge.send({ path })).body]).toEqual([path, body])
      for (const path of ['/ab', '/', '/b', '/A'])
        expect([path, (await edge.send({ path })).status]).toEqual([path, 404])
    }
  })

  test('of a path of slashes alone two are left: / as a prefix matches them, / as a whole does not', async () => {
    const root = route('root', {
      matches: [{ path: { exact: '/' } }],
      respond: { code: 200, body: 'exact' },
    })
    const all = route('all', { respond: { code: 200, body: 'prefix' } })
    await edge.apply([root, all])
    for (const [path, body] of [
      ['/', 'exact'],
      ['//', 'prefix'],
      ['///', 'prefix'],
    ] as const)
      expect([path, (await edge.send({ path })).body]).toEqual([path, body])
    await edge.apply([root])
    expect((await edge.send({ path: '//' })).status).toBe(404)
  })

  test('rewriting a prefix never makes two slashes, and keeps the query', async () => {
    await edge.apply([
      route('root', {
        matches: prefixes('/checkout', '/a.b+c'),
        rewrite: { prefix: '/' },
        backends: [to(one.port)],
      }),
      route('other', {
        matches: prefixes('/old'),
        rewrite: { prefix: '/new/' },
        backends: [to(one.port)],
      }),
      route('all', { rewrite: { prefix: '/all', host: 'in.test' }, backends: [to(one.port)] }),
      route('exact', {
        matches: [{ path: { exact: '/exact' } }],
        rewrite: { prefix: '/whole/' },
        backends: [to(one.port)],
      }),
    ])
    const seen = async (path: string): Promise<unknown> =>
      (JSON.parse((await edge.send({ path })).body) as { path: unknown }).path
    for (const [path, rewritten] of [
      ['/checkout', '/'],
      ['/checkout/', '/'],
      ['/checkout/x', '/x'],
      ['/checkout//x', '/x'],
      ['/checkout/checkout/x?q=/checkout', '/checkout/x?q=/checkout'],
      ['/checkout?x=1', '/?x=1'],
      ['/a.b+c/d', '/d'],
      ['/old', '/new'],
      ['/old/x?y', '/new/x?y'],
      ['/exact?x', '/whole/?x'],
      ['/', '/all/'],
      ['/x', '/all/x'],
      ['/axb+c/d', '/all/axb+c/d'],
    ] as const)
      expect([path, await seen(path)]).toEqual([path, rewritten])
    const { host } = JSON.parse((await edge.send({ path: '/x' })).body) as { host: unknown }
    expect(host).toBe('in.test')
  })

  test('weights split 2,000 requests within five percentage points', async () => {
    await edge.apply([route('split', { backends: [to(one.port, 70), to(two.port, 30)] })])
    let first = 0
    for (let i = 0; i < 100; i++) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => edge.send({ path: '/' })))
      first += answers.filter(({ headers }) => headers['x-backend'] === 'one').length
    }
    expect(first).toBeGreaterThan(2_000 * 0.65)
    expect(first).toBeLessThan(2_000 * 0.75)
  })

  test('header changes reach the backend and the client as they are written, percent signs too', async () => {
    await edge.apply([
      route('headers', {
        backends: [to(one.port)],
        headers: {
          request: {
            set: [{ name: 'x-set', value: '100%' }],
            add: [{ name: 'x-add', value: '%REQ(:path)%' }],
            remove: ['x-gone'],
          },
          response: { set: [{ name: 'x-backend', value: 'edge' }] },
        },
      }),
    ])
    const answer = await edge.send({
      path: '/',
      headers: { 'x-set': 'client', 'x-add': 'client', 'x-gone': 'client' },
    })
    const { headers } = JSON.parse(answer.body) as { headers: Record<string, unknown> }
    expect(headers['x-set']).toBe('100%')
    expect(headers['x-add']).toBe('client, %REQ(:path)%')
    expect(headers).not.toHaveProperty('x-gone')
    expect(answer.headers['x-backend']).toBe('edge')
  })

  test('a route that changes its backend, and then goes, answers 200 and then 404, and nothing else', async () => {
    const moving = (port: number) => route('moving', { backends: [to(port)] })
    await edge.apply([moving(one.port)])
    const seen: Array<number> = []
    let loading = true
    const worker = async (): Promise<void> => {
      while (loading) seen.push((await edge.send({ path: '/' })).status)
    }
    const workers = Array.from({ length: 4 }, worker)
    for (let i = 0; i < 10; i++) await edge.apply([moving(i % 2 === 0 ? two.port : one.port)])
    const changes = seen.length
    await edge.apply([])
    loading = false
    await Promise.all(workers)
    expect(changes).toBeGreaterThan(0)
    expect(new Set(seen.slice(0, changes))).toEqual(new Set([200]))
    expect([...new Set(seen)].filter((status) => status !== 404)).toEqual([200])
  })

  test('redirects and fixed responses answer in place of a backend', async () => {
    await edge.apply([
      route('moved', {
        matches: prefixes('/moved'),
        redirect: { scheme: 'https', host: 'www.test', path: '/new', code: 308 },
      }),
      route('gone', { matches: prefixes('/gone'), respond: { code: 410, body: 'gone' } }),
    ])
    const moved = await edge.send({ path: '/moved/x?y=1' })
    expect([moved.status, moved.headers['location']]).toEqual([308, 'https://www.test/new?y=1'])
    const gone = await edge.send({ path: '/gone' })
    expect([gone.status, gone.body]).toEqual([410, 'gone'])
  })

  test('a Service that is not there answers 503 for its share, and the others keep theirs', async () => {
    await edge.apply([
      route('half', {
        backends: [{ service: { name: 'absent', port: 80 } }, to(one.port)],
      }),
    ])
    const statuses = new Set<number>()
    for (let i = 0; i < 60; i++) statuses.add((await edge.send({ path: '/' })).status)
    expect([...statuses].sort()).toEqual([200, 503])
  })

  test('a Service is found through its endpoints, and follows them', async () => {
    const routes = [route('service', { backends: [{ service: { name: 'web', port: 'http' } }] })]
    const services = [{ namespace: 'test', name: 'web', ports: [{ name: 'http', port: 80 }] }]
    const at = (port: number) => ({
      services,
      endpointSlices: [
        {
          namespace: 'test',
          name: 'web-1',
          service: 'web',
          ports: [{ name: 'http', port }],
          endpoints: [{ addresses: ['127.0.0.1'], ready: true }],
        },
      ],
    })
    await edge.apply(routes, at(one.port))
    expect((await edge.send({ path: '/' })).headers['x-backend']).toBe('one')
    const sent = edge.events.length
    await edge.apply(routes, at(two.port))
    expect((await edge.send({ path: '/' })).headers['x-backend']).toBe('two')
    const types = edge.events
      .slice(sent)
      .flatMap((e) => (e._tag === 'ResponseSent' ? e.typeUrl : []))
    expect(new Set(types).size, 'endpoints move without the cluster being touched').toBe(1)
  })

  test('the most specific host decides, without fall-through; case and port do not matter', async () => {
    await edge.apply([
      route('exact', {
        hostnames: ['shop.example.com'],
        matches: prefixes('/only'),
        respond: { code: 200, body: 'exact' },
      }),
      route('wild', { hostnames: ['*.example.com'], respond: { code: 200, body: 'wild' } }),
      route('any', { respond: { code: 200, body: 'any' } }),
    ])
    for (const [host, path, body] of [
      ['shop.example.com', '/only', 'exact'],
      ['SHOP.example.com:8080', '/only', 'exact'],
      ['shop.example.com.', '/only', 'exact'],
      ['blog.example.com', '/', 'wild'],
      ['a.blog.example.com', '/', 'wild'],
      ['example.com', '/', 'any'],
      ['other.test', '/', 'any'],
    ] as const)
      expect([host, (await edge.send({ host, path })).body]).toEqual([host, body])
    expect((await edge.send({ host: 'shop.example.com', path: '/' })).status).toBe(404)
  })

  test('nothing of all this was refused', () => {
    expect(edge.nacks()).toEqual([])
  })
})
