import type { RequestListener, ServerResponse } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiFailure, ApiReply } from '../../src/adapters/k8s/api.js'
import type { KubernetesClient } from '../../src/adapters/k8s/client/index.js'
import { maxConnections, maxLineBytes } from '../../src/adapters/k8s/client/limits.js'
import { eventually } from '../support/envoy.js'
import { connectTo, startHttpsServer } from '../support/k8s-https-server.js'

const path = '/api/v1/pods'

interface Options {
  readonly onLine?: (line: string) => void
  readonly silenceMs?: number
  readonly signal?: AbortSignal
}

/** Opens a stream that is aborted when the test is over. */
const open = (client: KubernetesClient, options: Options = {}) => {
  const lines: Array<string> = []
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const onLine = (line: string): void => {
    lines.push(line)
    options.onLine?.(line)
  }
  const stream = { path, query: { watch: '1' }, silenceMs: options.silenceMs ?? 10_000 }
  return { lines, end: client.stream(stream, onLine, options.signal ?? abort.signal)() }
}

const reply = (status: number, body?: unknown): E.Either<ApiFailure, ApiReply> =>
  E.right({ status, body, retryAfterMs: undefined })

const failure = (tag: ApiFailure['_tag'], message: RegExp) =>
  E.left({ _tag: tag, message: expect.stringMatching(message) as unknown })

/** Writes one piece after the other, each as a packet of its own. */
const drip = async (answer: ServerResponse, pieces: ReadonlyArray<Uint8Array | string>) => {
  for (const piece of pieces) {
    answer.write(piece)
    await new Promise(setImmediate)
  }
  answer.end()
}

test('lines come whole, however the bytes are cut', async () => {
  const text = '{"a":"Zoë 🦊"}\n\n{"b":2}\n{"c":"no end"}'
  const server = await startHttpsServer((_, answer) => {
    void drip(
      answer,
      Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte)),
    )
  })
  const { lines, end } = open(await connectTo(server))
  expect(await end).toEqual(reply(200))
  expect(lines).toEqual(['{"a":"Zoë 🦊"}', '{"b":2}', '{"c":"no end"}'])
})

test('a line is told as soon as it is whole', async () => {
  const server = await startHttpsServer((_, answer) => void answer.write('{"a":1}\n{"b"'))
  const { lines } = open(await connectTo(server))
  await eventually(
    () => lines,
    (seen) => seen.length > 0,
  )
  expect(lines).toEqual(['{"a":1}'])
})

test('streams that the server ends use one connection, one after the other', async () => {
  const server = await startHttpsServer((_, answer) => answer.end('{}\n'))
  const client = await connectTo(server)
  for (let count = 0; count < 20; count += 1) expect(await open(client).end).toEqual(reply(200))
  expect(server.connections).toHaveLength(1)
})

test('a reply that is no stream ends it with its body, and no line comes', async () => {
  const gone = { kind: 'Status', code: 410 }
  const server = await startHttpsServer((_, answer) =>
    answer.writeHead(410).end(`${JSON.stringify(gone)}\n`),
  )
  const { lines, end } = open(await connectTo(server))
  expect(await end).toEqual(reply(410, gone))
  expect(lines).toEqual([])
})

test('a stream that breaks off is no end of it, and half a line is not told', async () => {
  const server = await startHttpsServer((_, answer) => {
    answer.write('{"a":1}\n{"b"', () => answer.socket?.destroy())
  })
  const { lines, end } = open(await connectTo(server))
  expect(await end).toEqual(failure('Unreachable', /in the middle of a reply|was reset/))
  expect(lines).toEqual(['{"a":1}'])
})

test.each<[string, RequestListener]>([
  ['nothing at all', () => undefined],
  ['a head and nothing more', (_, answer) => answer.writeHead(200).flushHeaders()],
  ['a line and nothing more', (_, answer) => void answer.write('{}\n')],
])('a stream that brings %s is given up after its silence', async (_, handler) => {
  const server = await startHttpsServer(handler)
  const message = /^GET https:\S+\/api\/v1\/pods brought nothing for 50 ms$/
  expect(await open(await connectTo(server), { silenceMs: 50 }).end).toEqual(
    failure('TimedOut', message),
  )
  await eventually(server.open, (count) => count === 0)
})

test('a stream may last longer than its silence, as long as something comes', async () => {
  const server = await startHttpsServer((_, answer) => {
    let count = 0
    const timer = setInterval(() => {
      count += 1
      if (count < 20) return void answer.write(' ')
      clearInterval(timer)
      answer.end('\n')
    }, 20)
  })
  const { lines, end } = open(await connectTo(server), { silenceMs: 200 })
  expect(await end).toEqual(reply(200))
  expect(lines).toEqual([' '.repeat(19)])
})

test('a line that is too long ends the stream, before all of it is in memory', async () => {
  const piece = Buffer.alloc(2 ** 20, 'x')
  const server = await startHttpsServer((_, answer) => {
    const fill = (): void => {
      while (answer.write(piece));
    }
    answer.on('drain', fill)
    fill()
  })
  const { lines, end } = open(await connectTo(server))
  expect(await end).toEqual(failure('Unreachable', /a line of more than 16777216 bytes/))
  expect(maxLineBytes).toBe(16_777_216)
  expect(lines).toEqual([])
})

test('once a reader has aborted the stream it is told no line, not even of the same packet', async () => {
  const server = await startHttpsServer((_, answer) => void answer.write('1\n2\n3\n'))
  const abort = new AbortController()
  const stop = (line: string): void => {
    if (line === '2') abort.abort()
  }
  const { lines, end } = open(await connectTo(server), { onLine: stop, signal: abort.signal })
  expect(await end).toEqual(failure('Aborted', /was aborted/))
  expect(lines).toEqual(['1', '2'])
  await eventually(server.open, (count) => count === 0)
})

test('a reader that throws ends its stream, and nothing else', async () => {
  const server = await startHttpsServer((_, answer) => void answer.write('1\n2\n'))
  const fail = (): void => {
    throw new Error('out of order')
  }
  const { lines, end } = open(await connectTo(server), { onLine: fail })
  expect(await end).toEqual(failure('Unreachable', /what reads its lines .*out of order/))
  expect(lines).toEqual(['1'])
})

/** 16 KiB with its end. */
const longLine = `${'x'.repeat(16_383)}\n`

test('a slow reader holds the server up', async () => {
  const pieces = 2_000
  let written = 0
  let lead = 0
  let read = 0
  const server = await startHttpsServer((_, answer) => {
    const fill = (): void => {
      while (written < pieces) {
        written += 1
        lead = Math.max(lead, (written - read) * longLine.length)
        if (!answer.write(longLine)) return void answer.once('drain', fill)
      }
      answer.end()
    }
    fill()
  })
  const busy = (): void => {
    read += 1
    const endMs = performance.now() + 0.1
    while (performance.now() < endMs);
  }
  expect(await open(await connectTo(server), { onLine: busy }).end).toEqual(reply(200))
  expect(read).toBe(pieces)
  // What lies between the two is in buffers of the kernel, a few MiB of the 31 in all.
  expect(lead).toBeLessThan((pieces * longLine.length) / 2)
})

test('open streams keep no request waiting', async () => {
  const server = await startHttpsServer((asked, answer) => {
    if (asked.url === path) answer.end('{}')
    else answer.write('{}\n')
  })
  const client = await connectTo(server)
  const streams = Array.from({ length: 2 * maxConnections }, () => open(client))
  await eventually(
    () => streams.filter(({ lines }) => lines.length === 1).length,
    (count) => count === streams.length,
  )
  const { signal } = new AbortController()
  const sent = client.send({ method: 'GET', path, deadlineMs: 5_000 }, signal)
  expect(await sent()).toEqual(reply(200, {}))
})

test('a stream whose connection had died while nobody used it is asked for once more', async () => {
  const seen = new Set<unknown>()
  const server = await startHttpsServer(({ socket }, answer) => {
    if (seen.has(socket)) return void socket.destroy()
    seen.add(socket)
    answer.end('{}\n')
  })
  const client = await connectTo(server)
  expect(await open(client).end).toEqual(reply(200))
  const { lines, end } = open(client)
  expect(await end).toEqual(reply(200))
  expect(lines).toEqual(['{}'])
})
