import { request } from 'node:http'
import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { AdminLimits } from '../../src/host/admin/index.js'
import { serveAdmin } from '../../src/host/admin/index.js'
import type { Operator } from '../../src/host/operator.js'
import { eventually } from '../support/envoy.js'
import {
  aNode,
  anExplanation,
  before,
  type FakeAdmin,
  fakeOperator,
  sendRaw,
  startAdmin,
} from '../support/fake-operator.js'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const start = async (
  operator: Operator | undefined = fakeOperator(),
  limits: Partial<AdminLimits> = {},
): Promise<FakeAdmin> => {
  const admin = await startAdmin(operator, limits)
  cleanups.push(admin.stop)
  return admin
}

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  readonly json: unknown
}

const json = { 'content-type': 'application/json' }

/** Asks, and reads the whole answer: every connection is one of its own. */
const ask = ({ address }: FakeAdmin, path: string, asked: Asked = {}): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = asked
    const sent = request(
      { ...address, path, method, headers, agent: false, timeout: 5_000 },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: text,
            json: text === '' ? undefined : JSON.parse(text),
          }),
        )
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.on('error', reject)
    sent.end(body)
  })

const post = (admin: FakeAdmin, path: string, body = '{}'): Promise<Answered> =>
  ask(admin, path, { method: 'POST', headers: json, body })

const stillAnswers = async (admin: FakeAdmin): Promise<void> => {
  expect((await ask(admin, '/v1/nodes')).status).toBe(200)
}

describe('what is answered', () => {
  test('a route that waits is told with the Envoys that it waits for', async () => {
    const owed = [aNode({ holdsUp: ['shop/checkout'] })]
    const asked: Array<unknown> = []
    const admin = await start(
      fakeOperator({
        explain: (key) => {
          asked.push(key)
          return [anExplanation({ owed })]
        },
      }),
    )
    const { status, headers, json: document } = await ask(admin, '/v1/routes/shop/checkout')
    expect({ status, asked }).toEqual({
      status: 200,
      asked: [{ namespace: 'shop', name: 'checkout' }],
    })
    expect(headers).toMatchObject({ ...json, connection: 'close', 'cache-control': 'no-store' })
    expect(document).toEqual({
      version: 1,
      now: before(0),
      routes: [
        {
          namespace: 'shop',
          name: 'checkout',
          uid: 'uid-1',
          state: 'Waiting',
          since: before(200),
          waitsFor: { reason: 'Owed', nodeCount: 1 },
          conditions: [],
          owed: [
            {
              id: 'envoy-1',
              dataPlane: 'edge-envoy',
              connected: true,
              awaited: false,
              shared: false,
              since: before(3_600),
              lastSaid: { what: 'ACK', at: before(60), version: 'v1', message: '' },
              upToDate: true,
              refusals: [],
              refusalsCount: 0,
              holdsUp: ['shop/checkout'],
              holdsUpCount: 1,
            },
          ],
          owedCount: 1,
        },
      ],
    })
  })

  test('what a node refuses is told up to a bound, and counted', async () => {
    const refusals = Array.from({ length: 5 }, (_, index) => ({
      ...{ type: 'Listener', name: `l${index}`, message: 'x'.repeat(10_000) },
    }))
    const operator = fakeOperator({ nodes: () => [aNode({ refusals })] })
    const { json: document } = await ask(await start(operator), '/v1/nodes')
    expect(document).toMatchObject({
      nodes: [{ refusals: [{ name: 'l0' }, { name: 'l1' }, { name: 'l2' }], refusalsCount: 5 }],
    })
    expect(JSON.stringify(document).length).toBeLessThan(3_000)
  })

  test('a forgotten node is told with what it had held up', async () => {
    const nodes = [
      aNode({ id: 'a', holdsUp: ['shop/a', 'shop/b'] }),
      aNode({ id: 'b', holdsUp: ['shop/c'] }),
    ]
    const operator = { nodes: () => nodes, forget: () => Promise.resolve('Forgotten' as const) }
    const { status, json: document } = await post(
      await start(fakeOperator(operator)),
      '/v1/nodes/a/forget',
    )
    expect({ status, document }).toEqual({
      status: 200,
      document: { version: 1, id: 'a', heldUp: ['shop/a', 'shop/b'], heldUpCount: 2 },
    })
  })

  test.each(['a/b', '../x', '..', '', ' ', 'ünïcode 😀', '100%', 'a?b#c', '-x', '\u001b[31m'])(
    'the node %j is found by its percent-encoded id',
    async (id) => {
      const asked: Array<string> = []
      const forget = (each: string) => {
        asked.push(each)
        return Promise.resolve('Forgotten' as const)
      }
      const admin = await start(fakeOperator({ forget }))
      expect((await post(admin, `/v1/nodes/${encodeURIComponent(id)}/forget`)).status).toBe(200)
      expect(asked).toEqual([id])
    },
  )

  test.each([
    ['Connected', 409, 'Connected'],
    ['Unknown', 404, 'NotFound'],
    [{ failure: 'the disk is full' }, 502, 'Failed'],
  ] as const)(
    'a node that is not forgotten (%j) is a %i with the reason',
    async (result, ...is) => {
      const admin = await start(fakeOperator({ forget: () => Promise.resolve(result) }))
      const { status, json: document } = await post(admin, '/v1/nodes/a/forget')
      expect(status).toBe(is[0])
      expect(document).toMatchObject({ version: 1, error: { reason: is[1] } })
      if (typeof result === 'object')
        expect(document).toMatchObject({ error: { message: 'the disk is full' } })
    },
  )

  test.each([
    [{ _tag: 'NotTerminating' }, 409, 'NotTerminating'],
    [{ _tag: 'Unknown' }, 404, 'NotFound'],
    [{ _tag: 'Failed', message: 'no rights' }, 502, 'Failed'],
  ] as const)('a glass that is not broken (%j) is a %i with the reason', async (result, ...is) => {
    const admin = await start(fakeOperator({ breakGlass: () => Promise.resolve(result) }))
    const { status, json: document } = await post(admin, '/v1/routes/a/b/break-glass')
    expect(status).toBe(is[0])
    expect(document).toMatchObject({ version: 1, error: { reason: is[1] } })
  })

  test('a logger that throws keeps nobody from an answer', async () => {
    const stopping = new AbortController()
    const log = (): never => {
      throw new Error('no log')
    }
    const operator = fakeOperator({ forget: () => Promise.resolve('Forgotten') })
    const broken = fakeOperator({ nodes: () => log() })
    for (const [of, status] of [
      [operator, 200],
      [broken, 500],
    ] as const) {
      const options = { host: '127.0.0.1', port: 0, logger: { log } }
      const { address } = await serveAdmin(options, () => of, stopping.signal)
      const admin = { ...(await start()), address }
      expect(await post(admin, '/v1/nodes/a/forget', '{}')).toMatchObject({ status })
    }
    stopping.abort()
  })

  test('the glass is broken for the objects that were agreed to, and for no other of that name', async () => {
    let broken = 0
    const breakGlass = () => {
      broken += 1
      return Promise.resolve({
        _tag: 'Broken',
        unconfirmed: ['envoy-1'],
        waitedFor: { _tag: 'Owed', nodes: ['envoy-1'], nodeCount: 1 },
      } as const)
    }
    const released = anExplanation({ uid: 'uid-0', state: { _tag: 'Released', sinceMs: 0 } })
    const explain = () => [released, anExplanation({ uid: 'uid-1' })]
    const admin = await start(fakeOperator({ breakGlass, explain }))
    const path = '/v1/routes/shop/checkout/break-glass'
    const other = await post(admin, path, '{"uids":["uid-0"]}')
    expect(other).toMatchObject({ status: 409, json: { error: { reason: 'Changed' } } })
    expect(await post(admin, path, '{"uids":"uid-1"}')).toMatchObject({ status: 400 })
    expect(broken).toBe(0)
    const same = await post(admin, path, '{"uids":["uid-1"]}')
    expect(same).toMatchObject({
      status: 200,
      json: {
        version: 1,
        unconfirmed: ['envoy-1'],
        unconfirmedCount: 1,
        waitedFor: { reason: 'Owed', message: 'not yet confirmed by envoy-1' },
      },
    })
    expect(broken).toBe(1)
    expect(admin.logged).toEqual([
      ['warn', 'asked to break the glass', { route: 'shop/checkout', outcome: 'Broken' }],
    ])
  })

  test('an answer is bounded, and says how much it leaves out', async () => {
    const holdsUp = Array.from({ length: 1_000 }, (_, index) => `shop/route-${index}`)
    const nodes = Array.from({ length: 6_000 }, (_, index) => aNode({ id: `n${index}`, holdsUp }))
    const admin = await start(fakeOperator({ nodes: () => nodes }))
    const { body, json: document } = await ask(admin, '/v1/nodes')
    expect(body.length).toBeLessThan(8_000_000)
    expect(document).toMatchObject({ nodeCount: 6_000 })
    const { nodes: listed } = document as { nodes: ReadonlyArray<{ holdsUpCount: number }> }
    expect(listed).toHaveLength(5_000)
    expect(listed[0]?.holdsUpCount).toBe(1_000)
  })

  test('before the control plane has begun that is what is said', async () => {
    const admin = await startAdmin(undefined)
    cleanups.push(admin.stop)
    expect(await ask(admin, '/v1/nodes')).toMatchObject({
      status: 503,
      json: { error: { reason: 'Starting' } },
    })
  })

  test('what is thrown behind the endpoint is an answer and an error in the log, not a crash', async () => {
    const admin = await start(
      fakeOperator({
        explain: () => {
          throw new Error('a bug')
        },
        forget: () => Promise.reject(new Error('another bug')),
      }),
    )
    const broken = { status: 500, json: { error: { reason: 'Failed' } } }
    expect(await ask(admin, '/v1/routes/a/b')).toMatchObject(broken)
    expect(await post(admin, '/v1/nodes/a/forget')).toMatchObject(broken)
    expect(admin.logged.map(([level, , fields]) => [level, fields?.['message']])).toEqual([
      ['error', 'a bug'],
      ['error', 'another bug'],
    ])
    await stillAnswers(admin)
  })

  test('what takes too long is said to be unknown, not held open', async () => {
    const forget = () => new Promise<never>(() => undefined)
    const admin = await start(fakeOperator({ forget }), { operatorTimeoutMs: 50 })
    expect(await post(admin, '/v1/nodes/a/forget')).toMatchObject({
      status: 504,
      json: { error: { reason: 'TimedOut' } },
    })
  })
})

describe('what is refused', () => {
  const told: Array<string> = []
  const tattling = fakeOperator({
    explain: () => {
      told.push('explain')
      return [anExplanation()]
    },
    nodes: () => {
      told.push('nodes')
      return []
    },
    forget: () => {
      told.push('forget')
      return Promise.resolve('Forgotten')
    },
    breakGlass: () => {
      told.push('breakGlass')
      return Promise.resolve({ _tag: 'Broken', unconfirmed: [], waitedFor: undefined })
    },
  })
  afterEach(() => told.splice(0))

  /** The message of an answer that has the shape of an error. */
  const errorOf = ({ json: document }: Answered): string => {
    expect(document).toMatchObject({ version: 1, error: {} })
    return (document as { readonly error: { readonly message: string } }).error.message
  }

  const refusing = async (path: string, asked: Asked): Promise<Answered> => {
    const admin = await start(tattling)
    told.splice(0)
    const answered = await ask(admin, path, asked)
    expect(told).toEqual([])
    if (asked.method !== 'HEAD') expect(errorOf(answered)).toMatch(/^.{5,200}$/)
    await stillAnswers(admin)
    return answered
  }

  test.each([
    'evil.example',
    'evil.example:18001',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1@evil.example',
    '0x7f.1',
    '[::1',
  ])('the name %j in Host, which may lead here by DNS rebinding', async (host) => {
    const { status, headers } = await refusing('/v1/nodes', { headers: { host } })
    expect(status).toBe(403)
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })

  test.each(['localhost', 'LOCALHOST:18001', '127.0.0.1', '10.0.0.7:80', '[::1]:18001', '[::1]'])(
    'not %j in Host, which no page can have for a name',
    async (host) => {
      const admin = await start()
      expect((await ask(admin, '/v1/nodes', { headers: { host } })).status).toBe(200)
    },
  )

  test('a request without a Host, with an empty one, and with two', async () => {
    const { address } = await start(tattling)
    const hosts = ['', 'Host: \r\n', 'Host: localhost\r\nHost: evil.example\r\n']
    for (const host of hosts) {
      const { text } = await sendRaw(address.port, `GET /v1/nodes HTTP/1.1\r\n${host}\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 403 /)
    }
    expect(told).toEqual([])
  })

  test.each([
    [{ origin: 'http://evil.example' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('the request of a web page: %j', async (headers) => {
    expect((await refusing('/v1/nodes', { headers })).status).toBe(403)
    const posted = { method: 'POST', headers: { ...json, ...headers }, body: '{}' }
    expect((await refusing('/v1/nodes/a/forget', posted)).status).toBe(403)
  })

  test.each([
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonp',
    'text/plain; application/json',
  ])(
    'a POST with the content type %s, which a page could send without being asked',
    async (type) => {
      const headers = type === undefined ? {} : { 'content-type': type }
      for (const path of ['/v1/nodes/a/forget', '/v1/routes/a/b/break-glass']) {
        const { status } = await refusing(path, { method: 'POST', headers, body: '{}' })
        expect(status).toBe(415)
      }
    },
  )

  test.each(['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'POST'])(
    '%s where GET is meant; no method is allowed to other origins',
    async (method) => {
      const { status, headers, body } = await refusing('/v1/nodes', { method, headers: json })
      expect({ status, allow: headers['allow'] }).toEqual({ status: 405, allow: 'GET' })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      if (method === 'HEAD') expect(body).toBe('')
    },
  )

  test.each(['GET', 'HEAD', 'OPTIONS', 'DELETE'])(
    '%s where POST is meant: nothing is done by being looked at',
    async (method) => {
      for (const path of ['/v1/nodes/a/forget', '/v1/routes/a/b/break-glass']) {
        const { status, headers } = await refusing(path, { method })
        expect({ status, allow: headers['allow'] }).toEqual({ status: 405, allow: 'POST' })
      }
    },
  )

  test.each([
    '/',
    '/v1',
    '/v2/nodes',
    '/v1/nodes/',
    '/v1/nodes/a',
    '/v1/nodes/a/forget/',
    '/v1/nodes/a/b/forget',
    '/v1/nodes?x',
    '/v1/routes',
    '/v1/routes/a',
    '/v1/routes/a/b/c',
    '/v1/routes/a/b/break-glass/c',
    '/v1/../v1/nodes',
    '/v1/nodes/%ff/forget',
    '/v1/nodes/%',
    '/V1/nodes',
    '//v1/nodes',
    '/v1/__proto__/x',
    'http://127.0.0.1/v1/nodes',
  ])('the path %s', async (path) => {
    expect((await refusing(path, {})).status).toBe(404)
  })

  test.each(['{', '[]', 'null', '"a"', '1', '{} {}', '\u0000', 'a=b'])(
    'the body %j',
    async (body) => {
      const asked = { method: 'POST', headers: json, body }
      expect((await refusing('/v1/nodes/a/forget', asked)).status).toBe(400)
    },
  )

  test('a body of more than its bound, with its length said and without', async () => {
    const body = JSON.stringify({ uids: ['x'.repeat(20_000)] })
    const chunked = { ...json, 'transfer-encoding': 'chunked' }
    for (const headers of [json, chunked])
      expect(
        (await refusing('/v1/routes/a/b/break-glass', { method: 'POST', headers, body })).status,
      ).toBe(413)
  })

  test('headers and paths of more than their bound', async () => {
    const { address } = await start(tattling)
    for (const text of [
      `GET /v1/nodes/${'a'.repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      `GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`,
    ])
      expect((await sendRaw(address.port, text)).text).not.toMatch(/^HTTP\/1\.1 200/)
    expect(told).toEqual([])
  })
})

describe('whatever is sent, the endpoint goes on', () => {
  test.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['the greeting of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a tunnel', 'CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['smuggling', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
    [
      'an upgrade',
      'GET /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n',
    ],
  ])('%s ends its own connection, at once', async (_, bytes) => {
    const admin = await start()
    const { text, tookMs } = await sendRaw(admin.address.port, bytes)
    expect(text).not.toMatch(/^HTTP\/1\.1 [23]/)
    expect(tookMs).toBeLessThan(2_000)
    await stillAnswers(admin)
  })

  test('a client that goes away in the middle of anything costs nothing', async () => {
    let asked = 0
    const nodes = () => {
      asked += 1
      return [aNode()]
    }
    const admin = await start(fakeOperator({ nodes }))
    const head = 'POST /v1/nodes/a/forget HTTP/1.1\r\nHost: localhost\r\n'
    for (const bytes of [
      '',
      'GET /v1',
      `${head}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
      'GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n',
    ])
      await new Promise<void>((resolve) => {
        const socket = connect(admin.address.port, '127.0.0.1', () =>
          socket.write(bytes, () => socket.resetAndDestroy()),
        )
        socket.on('error', () => undefined).on('close', () => resolve())
      })
    await stillAnswers(admin)
    expect(asked).toBeLessThanOrEqual(2)
  })

  test.each([
    ['headers', 'GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\nX'],
    [
      'a body',
      'POST /v1/nodes/a/forget HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{',
    ],
    ['nothing at all', ''],
  ])('a slow client that never ends %s is ended', async (_, bytes) => {
    const admin = await start(fakeOperator(), { requestTimeoutMs: 150, connectionTimeoutMs: 400 })
    const { text, tookMs } = await sendRaw(admin.address.port, bytes)
    if (bytes !== '') expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(tookMs).toBeLessThan(2_000)
    await stillAnswers(admin)
  })

  test('slow clients take a bounded number of connections, and give them back', async () => {
    const admin = await start(fakeOperator(), { maxConnections: 4, requestTimeoutMs: 300 })
    const slow = Array.from({ length: 4 }, () => sendRaw(admin.address.port, 'GET /v1'))
    await eventually(
      () => sendRaw(admin.address.port, ''),
      ({ text, tookMs }) => text === '' && tookMs < 200,
    )
    await Promise.all(slow)
    await eventually(
      () => ask(admin, '/v1/nodes'),
      ({ status }) => status === 200,
    )
  })

  test('a client that does not read its answer is ended', async () => {
    let asked = 0
    const large = Array.from({ length: 5_000 }, (_, index) =>
      aNode({ id: `${index}${'x'.repeat(2_000)}` }),
    )
    const nodes = () => {
      asked += 1
      return asked === 1 ? large : []
    }
    const limits = { maxConnections: 1, connectionTimeoutMs: 500 }
    const admin = await start(fakeOperator({ nodes }), limits)
    const reluctant = connect(admin.address.port, '127.0.0.1')
    cleanups.push(() => void reluctant.destroy())
    reluctant.on('error', () => undefined)
    reluctant.write('GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await eventually(
      () => asked,
      (times) => times === 1,
    )
    await expect(ask(admin, '/v1/nodes')).rejects.toThrow()
    await eventually(
      () => ask(admin, '/v1/nodes'),
      ({ status }) => status === 200,
      3_000,
    )
  })

  test('of many requests on one connection only the first is answered', async () => {
    let asked = 0
    const nodes = () => {
      asked += 1
      return []
    }
    const admin = await start(fakeOperator({ nodes }))
    const one = 'GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n'
    await sendRaw(admin.address.port, one.repeat(2_000))
    expect(asked).toBe(1)
    await stillAnswers(admin)
  })

  test('however many ask for what is dear, at least half of the time is left to others', async () => {
    const dearMs = 20
    const nodes = () => {
      const endMs = performance.now() + dearMs
      while (performance.now() < endMs);
      return []
    }
    const stopping = new AbortController()
    const timed = await serveAdmin(
      { host: '127.0.0.1', port: 0 },
      () => fakeOperator({ nodes }),
      stopping.signal,
    )
    cleanups.push(() => {
      stopping.abort()
      return timed.finished
    })
    const beganMs = performance.now()
    const path = 'GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => sendRaw(timed.address.port, path)),
    )
    expect(answers.filter(({ text }) => text.startsWith('HTTP/1.1 200'))).toHaveLength(10)
    // Ten pieces of work, and nine rests between them.
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(19 * dearMs - 5)
  })
})

describe('the end', () => {
  test('comes at once where connections do nothing, and frees the port', async () => {
    const admin = await startAdmin(fakeOperator())
    const idle = [sendRaw(admin.address.port, ''), sendRaw(admin.address.port, 'GET /v1')]
    await stillAnswers(admin)
    const beganMs = performance.now()
    await admin.stop()
    await Promise.all(idle)
    expect(performance.now() - beganMs).toBeLessThan(500)
    await expect(ask(admin, '/v1/nodes')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('waits for what is being done, and tells it', async () => {
    let finish = (): void => undefined
    const forget = () =>
      new Promise<'Forgotten'>((resolve) => (finish = () => resolve('Forgotten')))
    const begun = { forget: false }
    const admin = await startAdmin(
      fakeOperator({
        forget: () => {
          begun.forget = true
          return forget()
        },
      }),
    )
    const asked = post(admin, '/v1/nodes/a/forget')
    await eventually(
      () => begun.forget,
      (isBegun) => isBegun,
    )
    const stopped = admin.stop()
    finish()
    expect((await asked).status).toBe(200)
    await stopped
  })

  test('does not wait for long', async () => {
    let begun = false
    const forget = (): Promise<never> => {
      begun = true
      return new Promise(() => undefined)
    }
    const admin = await startAdmin(fakeOperator({ forget }), { stopGraceMs: 100 })
    const asked = post(admin, '/v1/nodes/a/forget').catch(() => 'cut off')
    await eventually(
      () => begun,
      (isBegun) => isBegun,
    )
    await admin.stop()
    expect(await asked).toBe('cut off')
  })

  test('comes also where the signal had aborted before', async () => {
    const { finished } = await serveAdmin(
      { host: '127.0.0.1', port: 0 },
      () => undefined,
      AbortSignal.abort(),
    )
    await finished
  })
})

describe('where it listens', () => {
  test('on a loopback address nothing is warned of', async () => {
    expect((await start()).logged).toEqual([])
  })

  test('on an address that others reach there is a warning', async () => {
    const admin = await startAdmin(fakeOperator(), {}, '0.0.0.0')
    cleanups.push(admin.stop)
    expect(admin.logged).toEqual([
      [
        'warn',
        'the admin endpoint has no authentication, and others can reach it',
        { admin: `0.0.0.0:${admin.address.port}` },
      ],
    ])
  })

  test('the name that it was told to listen on may be in Host', async () => {
    const admin = await startAdmin(fakeOperator(), {}, 'localhost')
    cleanups.push(admin.stop)
    expect((await ask(admin, '/v1/nodes', { headers: { host: 'localhost' } })).status).toBe(200)
    expect(admin.logged).toEqual([])
  })

  test('a port that is taken is said, with the address', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => void taken.close())
    const address = taken.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await expect(
      serveAdmin({ host: '127.0.0.1', port }, () => undefined, new AbortController().signal),
    ).rejects.toThrow(`cannot listen for operators on 127.0.0.1:${port}: the port is in use`)
  })
})
