import { request as httpRequest } from 'node:http'
import { createServer, type Socket } from 'node:net'
import {
  bytesResource,
  defaultContext,
  defaultDataPlane,
  type EdgeRoute,
  type EdgeRouteSpec,
  entries,
  routeType,
  type Snapshot,
  snapshotOf,
  typeUrls,
  view,
  viewOf,
} from 'edgewright'
import { afterEach, expect, test } from 'vitest'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { startMemoryEnvoy } from '../../src/host/cli/demo/memory-envoy.js'
import { get, type HttpAnswer } from '../../src/host/cli/demo/http.js'
import { eventually, freePort } from '../support/envoy.js'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** An in-memory Envoy that serves this, and how to ask it. */
const serve = async (snapshot: Snapshot) => {
  const port = await freePort()
  const sink = await startMemoryEnvoy({ defer: (undo) => void cleanups.push(undo) }, port)
  sink.publish(snapshot)
  return {
    port,
    publish: (next: Snapshot) => {
      sink.publish(next)
    },
    ask: (path: string): Promise<HttpAnswer> => get(`http://127.0.0.1:${port}${path}`),
  }
}

const route = (name: string, spec: EdgeRouteSpec): EdgeRoute => ({
  metadata: { namespace: 'test', name, uid: name, generation: 1, finalizers: [] },
  spec: { matches: [{ path: { prefix: `/${name}` } }], ...spec },
})
const fine = route('fine', { respond: { code: 200, body: 'fine' } })
const snapshotWith = (...routes: ReadonlyArray<EdgeRoute>): Snapshot =>
  snapshotOf(routes, defaultContext)

/** A server that answers with these bytes, and does with the connection what is wanted then. */
const rawBackend = async (bytes: string, then: (socket: Socket) => void): Promise<EdgeRoute> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write(bytes, () => then(socket)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return route('raw', { backends: [{ address: { host: '127.0.0.1', port } }] })
}

test('a path that no client should send is answered, and harms no other request', async () => {
  const { ask } = await serve(snapshotWith(fine))
  for (const path of ['/%00', '/%', '/%zz', '/a%0d%0ab', '//', '/..%2f'])
    expect([path, (await ask(path)).status]).toEqual([path, expect.toSatisfy(isAnswer)])
  expect((await ask('/fine')).body).toBe('fine')
})

const isAnswer = (status: number): boolean => status === 400 || status === 404

test('what the in-memory Envoy does not know is answered with 500 and its reason', async () => {
  const own = viewOf(snapshotWith(fine), defaultDataPlane)
  const all = Object.fromEntries(typeUrls.map((typeUrl) => [typeUrl, [...entries(own[typeUrl])]]))
  const table = RouteConfiguration.encode({ name: 'http', vhds: {} }).finish()
  const strange = view({ ...all, [routeType]: [bytesResource('http', table)] })
  const { ask, publish } = await serve({ dataPlanes: new Map([[defaultDataPlane, strange]]) })
  expect(await ask('/fine')).toMatchObject({
    status: 500,
    body: 'not modelled: RouteConfiguration.vhds\n',
  })
  publish(snapshotWith(fine))
  expect((await ask('/fine')).body).toBe('fine')
})

test('an answer of a backend that cannot be passed on is a 500, and harms no other one', async () => {
  const raw = await rawBackend('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n', () => undefined)
  const { ask } = await serve(snapshotWith(fine, raw))
  const { status, body } = await ask('/raw')
  expect({ status, body }).toEqual({ status: 500, body: 'Invalid status code: 99\n' })
  expect((await ask('/fine')).body).toBe('fine')
})

test('half an answer of a backend does not look like a whole one', async () => {
  const half = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'
  const raw = await rawBackend(half, (socket) => socket.destroy())
  const { ask } = await serve(snapshotWith(fine, raw))
  await expect(ask('/raw')).rejects.toThrow(/aborted|hang up/)
  expect((await ask('/fine')).body).toBe('fine')
})

test('a client that goes away before its answer leaves no request to a backend behind', async () => {
  let open: Socket | undefined
  const raw = await rawBackend('', (socket) => void (open = socket))
  const { port, ask } = await serve(snapshotWith(fine, raw))
  const sent = httpRequest({ host: '127.0.0.1', port, path: '/raw' })
  sent.on('error', () => undefined).end()
  await eventually(
    () => open !== undefined,
    (asked) => asked,
  )
  sent.destroy()
  await eventually(
    () => open?.destroyed,
    (closed) => closed === true,
  )
  expect((await ask('/fine')).body).toBe('fine')
})
