import { connect as connectHttp2 } from 'node:http2'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveXds } from '../../src/adapters/xds/index.js'
import { clusterType } from '../../src/core/type-url.js'
import { showHostPort } from '../../src/ports/host-port.js'
import { spawnClient } from '../support/frozen-client.js'
import { ackOf, rawAdsClient } from '../support/raw-ads-client.js'
import { connect, eventually, startServer } from '../support/test-xds-server.js'
import { aNode, aSnapshot } from '../support/xds.js'

/** What is said of a stream that no client has ended in order. */
const lost = 'the client cancelled it, or its connection was lost'

describe('streams', () => {
  test('end in any way, and leave nothing behind: 50 of them', async () => {
    const server = await startServer()
    server.publish(aSnapshot({ cds: 'a' }))
    const ways = 5
    for (let turn = 0; turn < 50; turn++) {
      const client = rawAdsClient(server.address.port)
      const stream = turn % 2 === 0 ? client.sotw() : client.delta()
      stream.send({ node: aNode, typeUrl: turn % ways === 3 ? '' : clusterType })
      if (turn % ways !== 3) await stream.next()
      if (turn % ways === 0) stream.cancel()
      if (turn % ways === 1) stream.end()
      if (turn % ways === 2) stream.sendBytes(Uint8Array.of(0xff))
      await (turn % ways === 4 ? undefined : stream.ended)
      client.close() // with the stream open, in the last of the ways
      if (turn % ways === 4) stream.cancel()
    }
    await eventually(() => expect(server.streams()).toBe(0))
    const closed = server.seen('StreamClosed').map(({ stream }) => stream)
    expect(closed).toHaveLength(50)
    expect(new Set(closed).size).toBe(50)
    expect(new Set(server.seen('StreamOpened').map(({ stream }) => stream))).toEqual(
      new Set(closed),
    )
  })

  test('end when the connection breaks', async () => {
    const server = await startServer()
    server.publish(aSnapshot({ cds: 'a' }))
    const child = spawnClient(server.address.port)
    await eventually(() => expect(server.streams()).toBe(1))
    child.kill('SIGKILL')
    await eventually(() => expect(server.streams()).toBe(0))
    expect(server.seen('StreamClosed')).toHaveLength(1)
  })

  test.each(['SIGKILL', 'SIGSTOP'] as const)(
    'of a client that gets %s are lost: it is not said that it has ended them',
    async (signal) => {
      const server = await startServer({ limits: { keepaliveMs: 100, keepaliveTimeoutMs: 2_000 } })
      server.publish(aSnapshot({ cds: 'a' }))
      const child = spawnClient(server.address.port)
      onTestFinished(() => void child.kill('SIGKILL'))
      await eventually(() => expect(server.streams()).toBe(1))
      child.kill(signal)
      await eventually(() => expect(server.streams()).toBe(0))
      expect(server.seen('StreamClosed').map(({ reason }) => reason)).toEqual([lost])
    },
  )

  test('say why they ended: ended by the client, or cancelled', async () => {
    const server = await startServer()
    server.publish(aSnapshot({ cds: 'a' }))
    const client = connect(server)
    for (const how of ['end', 'cancel'] as const) {
      const stream = client.sotw()
      stream.send({ node: aNode, typeUrl: clusterType })
      await stream.next()
      stream[how]()
      await eventually(() => expect(server.streams()).toBe(0))
    }
    const said = server.seen('StreamClosed').map(({ reason }) => reason)
    expect(said).toEqual(['the client ended it', lost])
  })

  test('that end leave the others their order and their ids', async () => {
    const server = await startServer()
    server.publish(aSnapshot({ cds: 'a' }))
    const client = connect(server)
    const [first, second] = [client.sotw(), client.sotw()]
    first.send({ node: aNode, typeUrl: clusterType })
    second.send({ node: aNode, typeUrl: clusterType })
    await Promise.all([first.next(), second.next()])
    first.cancel()
    await eventually(() => expect(server.streams()).toBe(1))
    const third = client.sotw()
    third.send({ node: aNode, typeUrl: clusterType })
    await third.next()
    const opened = server.seen('StreamOpened').map(({ stream }) => stream)
    expect(new Set(opened).size).toBe(3)
  })
})

describe('a stop', () => {
  test('sends GOAWAY, ends streams with OK, and frees the port, well within its grace', async () => {
    const stopGraceMs = 20_000
    const server = await startServer({ limits: { stopGraceMs } })
    server.publish(aSnapshot({ cds: 'a' }))
    const stream = connect(server).sotw()
    stream.send({ node: aNode, typeUrl: clusterType })
    await stream.next()
    const idle = connectHttp2(`http://127.0.0.1:${server.address.port}`)
    onTestFinished(() => idle.destroy())
    const goaway = new Promise((resolve) => idle.once('goaway', resolve))
    await new Promise((resolve) => idle.once('remoteSettings', resolve))

    const startedMs = performance.now()
    await server.stop()
    expect(performance.now() - startedMs).toBeLessThan(stopGraceMs / 4)
    expect(await goaway).toBe(0)
    expect(await stream.ended).toMatchObject({ code: 'OK' })
    expect(server.events.at(-1)).toMatchObject({ _tag: 'StreamClosed' })
    expect(server.streams()).toBe(0)
    await listenOn(server.address.port)
  })

  test('cuts a client that does not react when its grace is over', async () => {
    const stopGraceMs = 300
    const server = await startServer({ limits: { stopGraceMs } })
    server.publish(aSnapshot({ cds: 'a' }))
    const frozen = spawnClient(server.address.port)
    onTestFinished(() => void frozen.kill('SIGKILL'))
    await eventually(() => expect(server.seen('ResponseSent')).toHaveLength(1))
    frozen.kill('SIGSTOP')
    const startedMs = performance.now()
    await server.stop()
    const tookMs = performance.now() - startedMs
    expect(tookMs).toBeGreaterThan(stopGraceMs - 5) // timers may fire a little early
    expect(tookMs).toBeLessThan(stopGraceMs + 5_000)
    expect(server.seen('StreamClosed')).toHaveLength(1)
  })

  test('leaves a server that takes snapshots, and sends them to nobody', async () => {
    const server = await startServer()
    server.publish(aSnapshot({ cds: 'a' }))
    const stream = connect(server).sotw()
    stream.send({ node: aNode, typeUrl: clusterType })
    stream.send(ackOf(await stream.next()))
    await eventually(() => expect(server.seen('ResponseAcked')).toHaveLength(1))
    await server.stop()
    server.publish(aSnapshot({ cds: 'b' }))
    expect(server.seen('ResponseSent')).toHaveLength(1)
    expect(server.events.at(-1)).toMatchObject({ _tag: 'StreamClosed' })
  })

  test.each(['StreamOpened', 'ResponseSent', 'ResponseAcked', 'StreamClosed'] as const)(
    'that an observer asks for on %s comes to its end, with every stream closed',
    async (tag) => {
      const controller = new AbortController()
      const server = await startServer(
        { observer: ({ _tag }) => (_tag === tag ? controller.abort() : undefined) },
        controller,
      )
      server.publish(aSnapshot({ cds: 'a' }))
      const client = connect(server)
      const stream = client.sotw()
      stream.send({ node: aNode, typeUrl: clusterType })
      if (tag !== 'StreamOpened') stream.send(ackOf(await stream.next()))
      if (tag === 'StreamClosed') stream.cancel()
      await server.finished
      expect(await stream.ended).toMatchObject({
        code: tag === 'StreamClosed' ? 'CANCELLED' : 'OK',
      })
      expect(server.streams()).toBe(0)
      expect(server.seen('StreamOpened')).toHaveLength(1)
      expect(server.seen('StreamClosed')).toHaveLength(1)
    },
  )
})

describe('a start', () => {
  test('that is aborted before rejects with the reason, and listens nowhere', async () => {
    const reason = new Error('changed my mind')
    const port = await freePort()
    const started = serveXds({ host: '127.0.0.1', port }, AbortSignal.abort(reason))
    await expect(started).rejects.toBe(reason)
    await listenOn(port)
  })

  test('that is aborted on its way rejects with the reason, and listens nowhere', async () => {
    const reason = new Error('changed my mind')
    const port = await freePort()
    const controller = new AbortController()
    const started = serveXds({ host: '127.0.0.1', port }, controller.signal)
    controller.abort(reason)
    await expect(started).rejects.toBe(reason)
    await listenOn(port)
  })

  test('on a port in use rejects with the address and what to do', async () => {
    const server = await startServer()
    const { port } = server.address
    const second = serveXds({ host: '127.0.0.1', port }, new AbortController().signal)
    await expect(second).rejects.toThrow(
      `cannot listen for Envoys on 127.0.0.1:${port}: the port is in use. ` +
        'Stop the process that holds it, or choose another port.',
    )
  })

  test('on an address of another machine rejects with the address and what to do', async () => {
    // RFC 5737: an address for documentation, that no machine has.
    const started = serveXds({ host: '192.0.2.1', port: 0 }, new AbortController().signal)
    await expect(started).rejects.toThrow(/192\.0\.2\.1:0: this machine has no such address/)
  })

  test('on a host name listens on its address', async () => {
    const server = await startServer({ host: 'localhost' })
    expect(['127.0.0.1', '::1']).toContain(server.address.host)
    expect(server.address.port).toBeGreaterThan(0)
  })

  test('on an IPv6 address names it in brackets', () => {
    expect(showHostPort({ host: '::1', port: 18000 })).toBe('[::1]:18000')
    expect(showHostPort({ host: '127.0.0.1', port: 18000 })).toBe('127.0.0.1:18000')
  })
})

/** Resolves if the port can be listened on; it is free again afterwards. */
const listenOn = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        resolve(address !== null && typeof address !== 'string' ? address.port : 0),
      )
    })
  })

const freePort = (): Promise<number> => listenOn(0)
