import { getEventListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer } from 'node:net'
import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiFailure, ApiReply, ApiRequest } from '../../src/adapters/k8s/api.js'
import {
  connectKubernetes,
  type KubeCluster,
  type KubernetesClient,
} from '../../src/adapters/k8s/client/index.js'
import { maxConnections } from '../../src/adapters/k8s/client/limits.js'
import { type Clock, systemClock } from '../../src/ports/clock.js'
import { eventually } from '../support/envoy.js'
import {
  connectTo,
  kubeConfigOf,
  startHttpServer,
  startHttpsServer,
  testCertificates,
} from '../support/k8s-https-server.js'

const forever = new AbortController().signal
const path = '/api/v1/pods'
const pods: ApiRequest = { method: 'GET', path, deadlineMs: 10_000 }

const send = (
  client: KubernetesClient,
  request: Partial<ApiRequest> = {},
  signal = forever,
): Promise<E.Either<ApiFailure, ApiReply>> => client.send({ ...pods, ...request }, signal)()

const reply = (status: number, body?: unknown, retryAfterMs?: number) =>
  E.right({ status, body, retryAfterMs })

const failure = (tag: ApiFailure['_tag'], message: RegExp) =>
  E.left({ _tag: tag, message: expect.stringMatching(message) as unknown })

const textOf = async (asked: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of asked.setEncoding('utf8')) text += String(chunk)
  return text
}

const ok: RequestListener = (_, answer) => answer.end('{}')

test('a request arrives as it was meant, and its reply comes back', async () => {
  const server = await startHttpsServer((asked, answer) => {
    const { method, url, headers } = asked
    void textOf(asked).then((body) => {
      answer.writeHead(201, { 'content-type': 'application/json' })
      answer.end(JSON.stringify({ method, url, headers, body }))
    })
  })
  const client = await connectTo(server, {}, { userAgent: 'edgewright/1.0' })
  expect(client.server).toBe(server.url)
  const patched = await send(client, {
    method: 'PATCH',
    path: '/apis/g/v1/things/a%2Fb',
    query: { fieldManager: 'me & you', force: 'true' },
    body: { name: 'Zoë' },
    contentType: 'application/apply-patch+yaml',
  })
  expect(patched).toMatchObject(
    reply(201, {
      method: 'PATCH',
      url: '/apis/g/v1/things/a%2Fb?fieldManager=me+%26+you&force=true',
      body: '{"name":"Zoë"}',
      headers: {
        authorization: 'Bearer secret',
        'user-agent': 'edgewright/1.0',
        accept: 'application/json',
        'content-type': 'application/apply-patch+yaml',
        'content-length': String(Buffer.byteLength('{"name":"Zoë"}')),
      },
    }),
  )
  const got = await send(client)
  const seen = E.isRight(got) ? (got.right.body as Record<string, unknown>) : {}
  expect(seen).toMatchObject({ method: 'GET', url: path, body: '' })
  expect(seen['headers']).not.toHaveProperty('content-type')
})

test('a server below a path is asked below it', async () => {
  const server = await startHttpsServer((asked, answer) => answer.end(JSON.stringify(asked.url)))
  const client = await connectTo({ ...server, url: `${server.url}/k8s/clusters/c-1/` })
  expect(await send(client, { query: { limit: '1' } })).toEqual(
    reply(200, `/k8s/clusters/c-1${path}?limit=1`),
  )
})

test.each([
  [200, '{"a":1}', { a: 1 }],
  [404, '{"kind":"Status"}', { kind: 'Status' }],
  [500, 'Internal error', undefined],
  [204, '', undefined],
])('a reply with %i and %j is a reply', async (status, text, body) => {
  const server = await startHttpsServer((_, answer) => answer.writeHead(status).end(text))
  expect(await send(await connectTo(server))).toEqual(reply(status, body))
})

const date = (offsetMs: number): string =>
  new Date(Date.UTC(2030, 0, 1, 12) + offsetMs).toUTCString()

test.each([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': date(90_000), date: date(0) }, 90_000],
  [{ 'retry-after': date(0), date: date(5_000) }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('what the headers %j ask for is %s ms', async (headers, expected) => {
  const server = await startHttpsServer((_, answer) => answer.writeHead(429, headers).end('{}'))
  expect(await send(await connectTo(server))).toEqual(reply(429, {}, expected))
})

test('requests one after the other use one connection', async () => {
  const server = await startHttpsServer(ok)
  const client = await connectTo(server)
  for (let count = 0; count < 50; count += 1) expect(await send(client)).toEqual(reply(200, {}))
  expect(server.connections).toHaveLength(1)
})

test('a vital request is not kept waiting by as many others as there are connections', async () => {
  const server = await startHttpsServer((asked, answer) => {
    if (asked.url === '/vital') answer.end('{}')
  })
  const client = await connectTo(server)
  const stop = new AbortController()
  const others = Array.from({ length: maxConnections + 1 }, () => send(client, {}, stop.signal))
  await eventually(server.open, (open) => open === maxConnections)
  const vital = { path: '/vital', deadlineMs: 3_000 }
  expect(await send(client, { ...vital, isVital: true })).toEqual(reply(200, {}))
  expect(await send(client, { ...vital, deadlineMs: 100 })).toEqual(failure('TimedOut', /took/))
  stop.abort()
  await Promise.all(others)
})

test('many requests at once use a bounded number of connections, and leave nothing behind', async () => {
  const warnings: Array<Error> = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  let atOnce = 0
  let most = 0
  const server = await startHttpsServer((_, answer) => {
    most = Math.max(most, (atOnce += 1))
    setTimeout(() => {
      atOnce -= 1
      answer.end('{}')
    }, 5)
  })
  let timers = 0
  const clock: Clock = {
    ...systemClock,
    after: (delayMs, callback) => {
      timers += 1
      const cancel = systemClock.after(delayMs, callback)
      return () => {
        timers -= 1
        cancel()
      }
    },
  }
  const client = await connectTo(server, {}, { clock })
  const { signal } = new AbortController()
  const replies = await Promise.all(
    Array.from({ length: 200 }, () => send(client, { deadlineMs: 30_000 }, signal)),
  )
  expect(replies).toEqual(replies.map(() => reply(200, {})))
  expect(most).toBe(maxConnections)
  expect(server.connections).toHaveLength(maxConnections)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(timers).toBe(0)
  await new Promise(setImmediate)
  expect(warnings).toEqual([])
})

test.each<[string, RequestListener]>([
  ['says nothing', () => undefined],
  ['does not end its reply', (_, answer) => void answer.writeHead(200).write('{"items":[')],
])('a server that %s is given up at the deadline', async (_, handler) => {
  const server = await startHttpsServer(handler)
  const client = await connectTo(server)
  const message = /^GET https:\/\/127.0.0.1:\d+\/api\/v1\/pods took more than 50 ms$/
  expect(await send(client, { deadlineMs: 50 })).toEqual(failure('TimedOut', message))
  await eventually(server.open, (open) => open === 0)
})

test('a server that drips its reply is given up at the deadline all the same', async () => {
  const server = await startHttpsServer((_, answer) => {
    const timer = setInterval(() => void answer.write(' '), 10)
    answer.on('close', () => clearInterval(timer))
  })
  expect(await send(await connectTo(server), { deadlineMs: 100 })).toEqual(
    failure('TimedOut', /100 ms/),
  )
})

test('the deadline holds for a request that waits for a connection', async () => {
  const server = await startHttpsServer(() => undefined)
  const client = await connectTo(server)
  const busy = new AbortController()
  const others = Array.from({ length: maxConnections }, () => send(client, {}, busy.signal))
  await eventually(server.open, (open) => open === maxConnections)
  expect(await send(client, { deadlineMs: 50 })).toEqual(failure('TimedOut', /50 ms/))
  busy.abort()
  expect(await Promise.all(others)).toEqual(others.map(() => failure('Aborted', /was aborted/)))
})

test('a request that is aborted ends its connection, or never makes one', async () => {
  const server = await startHttpsServer((_, answer) => void answer.writeHead(200).write('{'))
  const client = await connectTo(server)
  const abort = new AbortController()
  const sent = send(client, {}, abort.signal)
  await eventually(server.open, (open) => open === 1)
  abort.abort()
  expect(await sent).toEqual(failure('Aborted', /^GET https.* was aborted$/))
  await eventually(server.open, (open) => open === 0)
  expect(await send(client, {}, abort.signal)).toEqual(failure('Aborted', /was aborted/))
  expect(server.connections).toHaveLength(1)
})

test('a reply that breaks off is none', async () => {
  const server = await startHttpsServer((_, answer) => {
    answer.writeHead(200, { 'content-length': '100' })
    answer.write('{"items":[]', () => answer.socket?.end())
  })
  expect(await send(await connectTo(server))).toEqual(
    failure('Unreachable', /in the middle of a reply/),
  )
})

/** Answers the first request of each connection, and resets the connection at the second. */
const onceEach = () => {
  const seen = new Set<unknown>()
  const asked: Array<string> = []
  const handler: RequestListener = (request, answer) => {
    asked.push(request.method ?? '')
    const { socket } = request
    if (seen.has(socket)) return void socket.destroy()
    seen.add(socket)
    answer.end('{}')
  }
  return { asked, handler }
}

test('a GET is sent once more when its connection had died while nobody used it', async () => {
  const { asked, handler } = onceEach()
  const server = await startHttpsServer(handler)
  const client = await connectTo(server)
  await send(client)
  expect(await send(client)).toEqual(reply(200, {}))
  expect(asked).toEqual(['GET', 'GET', 'GET'])
  expect(server.connections).toHaveLength(2)
})

test('of several connections that had died one costs a GET a second attempt, not all of them', async () => {
  const { asked, handler } = onceEach()
  const server = await startHttpsServer(handler)
  const client = await connectTo(server)
  await Promise.all(Array.from({ length: 5 }, () => send(client)))
  expect(await send(client)).toEqual(reply(200, {}))
  expect(asked).toHaveLength(7)
})

test('a write is never sent twice', async () => {
  const { asked, handler } = onceEach()
  const client = await connectTo(await startHttpsServer(handler))
  await send(client)
  const post = await send(client, { method: 'POST', body: {} })
  expect(post).toEqual(failure('Unreachable', /the connection was reset/))
  expect(asked).toEqual(['GET', 'POST'])
})

test('a GET whose connection is new is not sent again', async () => {
  let count = 0
  const server = await startHttpsServer(({ socket }) => {
    count += 1
    socket.destroy()
  })
  expect(await send(await connectTo(server))).toEqual(
    failure('Unreachable', /the connection was reset/),
  )
  expect(count).toBe(1)
})

test('what is under way when a client is closed ends, and so do its connections', async () => {
  const server = await startHttpsServer((asked, answer) => {
    if (asked.url === '/quick') answer.end('{}')
  })
  const client = await connectTo(server)
  await Promise.all([send(client, { path: '/quick' }), send(client, { path: '/quick' })])
  const sent = send(client)
  const stream = client.stream({ path, silenceMs: 10_000 }, () => undefined, forever)()
  await eventually(server.open, (open) => open === 3)
  client.close()
  expect([await sent, await stream]).toEqual([
    failure('Aborted', /the client is closed/),
    failure('Aborted', /the client is closed/),
  ])
  await eventually(server.open, (open) => open === 0)
  expect(await send(client)).toEqual(failure('Aborted', /the client is closed/))
})

test('a server without TLS is asked without credentials', async () => {
  const server = await startHttpServer((asked, answer) =>
    answer.end(JSON.stringify(asked.headers.authorization ?? 'none')),
  )
  expect(await send(await connectTo(server))).toEqual(reply(200, 'none'))
})

test('a body that is no JSON, and a header that is none, are failures and not exceptions', async () => {
  const server = await startHttpsServer(ok)
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  expect(await send(await connectTo(server), { method: 'POST', body: circle })).toEqual(
    failure('Unreachable', /could not be sent: .*circular/s),
  )
  expect(await send(await connectTo(server, { user: { token: 'a\nb' } }))).toEqual(
    failure('Unreachable', /could not be sent: .*header/),
  )
})

test('who cannot be reached is said with what to do', async () => {
  const server = await startHttpsServer(ok)
  const { certificates } = server
  const plain = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void plain.close())
  const at = plain.address()
  const plainPort = typeof at === 'object' && at !== null ? at.port : 0
  const stopped = await startHttpsServer(ok)
  stopped.close()
  const cases: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, RegExp]> = [
    [
      stopped.url,
      {},
      /^GET https:\S+\/api\/v1\/pods: nothing listens .* Is the API server running/,
    ],
    ['https://nowhere.invalid', {}, /nowhere\.invalid.* Check .*DNS|DNS .* Check/],
    [server.url, { 'certificate-authority': undefined }, /not signed by whom we trust/],
    [server.url, { 'tls-server-name': 'other.example' }, /is for other names.*tls-server-name/],
    [`https://127.0.0.1:${plainPort}`, {}, /does not speak TLS/],
    [
      server.url,
      { 'certificate-authority': '/nowhere' },
      /authority \/nowhere: there is no such file/,
    ],
  ]
  for (const [url, cluster, message] of cases)
    expect(await send(await connectTo({ url, certificates }, { cluster }))).toEqual(
      failure('Unreachable', message),
    )
})

test('a certificate of another name is taken where the kubeconfig says so, and any where it says that', async () => {
  const server = await startHttpsServer(ok)
  const named = { 'tls-server-name': 'kubernetes.default.svc' }
  expect(await send(await connectTo(server, { cluster: named }))).toEqual(reply(200, {}))
  const careless = { 'certificate-authority': undefined, 'insecure-skip-tls-verify': true }
  expect(await send(await connectTo(server, { cluster: careless }))).toEqual(reply(200, {}))
  const inline = {
    'certificate-authority': undefined,
    'certificate-authority-data': readFileSync((await testCertificates()).ca).toString('base64'),
  }
  expect(await send(await connectTo(server, { cluster: inline }))).toEqual(reply(200, {}))
})

test('a KubeConfig that cannot be used is a failure that says so', async () => {
  const cases: ReadonlyArray<readonly [KubeCluster | null, RegExp]> = [
    [null, /^the kubeconfig has no current cluster. Set current-context/],
    [{ name: 'c', server: 'https://a', proxyUrl: 'http://p' }, /^the proxy-url of cluster "c"/],
    [{ name: 'c', server: 'ftp://a' }, /^the server "ftp:\/\/a" of cluster "c" is no address/],
  ]
  for (const [cluster, message] of cases) {
    const client = connectKubernetes({ kubeConfig: kubeConfigOf(cluster) })
    expect(client.server).toBe('')
    expect(await send(client)).toEqual(failure('Unreachable', message))
    client.close()
  }
})

test('a context without a user trusts what its cluster trusts, and sends no credentials', async () => {
  const server = await startHttpsServer((asked, answer) =>
    answer.end(JSON.stringify(asked.headers.authorization ?? 'none')),
  )
  const cluster = { name: 'c', server: server.url, caFile: server.certificates.ca }
  const client = connectKubernetes({ kubeConfig: kubeConfigOf(cluster) })
  onTestFinished(client.close)
  expect(await send(client)).toEqual(reply(200, 'none'))
})
