import { Client, credentials, status } from '@grpc/grpc-js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bytesResource, type Resource } from '../../src/core/resource.js'
import { type Snapshot, view } from '../../src/core/snapshot.js'
import { clusterType, listenerType } from '../../src/core/type-url.js'
import { aNode, aSnapshot, versionOf } from '../support/xds.js'
import { ackOf } from '../support/raw-ads-client.js'
import { connect, eventually, startServer } from '../support/test-xds-server.js'

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

describe('a state-of-the-world stream', () => {
  test('gets what it asks for, and then what is new', async () => {
    const server = await startServer()
    server.publish(aSnapshot({ cds: 'a=1' }))
    const stream = connect(server).sotw()
    stream.send({ node: aNode, typeUrl: clusterType })
    const first = await stream.next()
    expect(first.typeUrl).toBe(clusterType)
    expect(first.resources).toHaveLength(1)
    expect(first.resources?.[0]?.typeUrl).toBe(clusterType)
    expect(text(first.resources?.[0]?.value)).toBe('1')
    stream.send(ackOf(first))
    server.publish(aSnapshot({ cds: 'a=1 b=2' }))
    const second = await stream.next()
    expect(second.nonce).not.toBe(first.nonce)
    expect(second.versionInfo).not.toBe(first.versionInfo)
    expect(second.resources?.map(({ value }) => text(value))).toEqual(['1', '2'])
  })

  test('that asks before anything is published is answered with the first snapshot', async () => {
    const server = await startServer()
    const stream = connect(server).sotw()
    stream.send({ node: aNode, typeUrl: listenerType })
    await eventually(() => expect(server.streams()).toBe(1))
    server.publish(aSnapshot({ lds: 'l' }))
    expect((await stream.next()).resources).toHaveLength(1)
  })
})

describe('an incremental stream', () => {
  test('gets names with versions, and then only what has changed', async () => {
    const server = await startServer()
    server.publish(aSnapshot({ lds: 'a=1 b' }))
    const stream = connect(server).delta()
    stream.send({ node: aNode, typeUrl: listenerType, initialResourceVersions: { gone: 'v' } })
    // What is gone goes first: two listeners cannot have one address.
    const gone = await stream.next()
    expect(gone.resources).toEqual([])
    expect(gone.removedResources).toEqual(['gone'])
    stream.send({ typeUrl: listenerType, responseNonce: gone.nonce ?? '' })
    const first = await stream.next()
    expect(first.resources?.map(({ name, version }) => [name, version])).toEqual([
      ['a', versionOf('a=1')],
      ['b', versionOf('b')],
    ])
    expect(text(first.resources?.[0]?.resource?.value)).toBe('1')
    stream.send({ typeUrl: listenerType, responseNonce: first.nonce ?? '' })
    server.publish(aSnapshot({ lds: 'a=2' }))
    const second = await stream.next()
    expect(second.removedResources).toEqual(['b'])
    stream.send({ typeUrl: listenerType, responseNonce: second.nonce ?? '' })
    const third = await stream.next()
    expect(third.resources?.map(({ name }) => name)).toEqual(['a'])
  })
})

test('whether a request without names asks for everything can be said', async () => {
  const server = await startServer({ session: { legacyWildcard: new Set([listenerType]) } })
  server.publish(aSnapshot({ cds: 'a', lds: 'l' }))
  const stream = connect(server).delta()
  stream.send({ node: aNode, typeUrl: clusterType })
  stream.send({ typeUrl: listenerType })
  const { typeUrl, resources } = await stream.next() // in the order of the requests
  expect([typeUrl, resources?.length]).toEqual([listenerType, 1])
})

describe('the observer', () => {
  test('is told what happens on a stream, in order, with its figures', async () => {
    const server = await startServer()
    server.publish(aSnapshot({ lds: 'a' }))
    const stream = connect(server).sotw()
    stream.send({ node: aNode, typeUrl: listenerType })
    const first = await stream.next()
    stream.send(ackOf(first))
    await eventually(() => expect(server.seen('ResponseAcked')).toHaveLength(1))
    server.publish(aSnapshot({ lds: 'b' }))
    const second = await stream.next()
    const errorDetail = { code: 13, message: 'no such thing' }
    stream.send({ typeUrl: listenerType, responseNonce: second.nonce ?? '', errorDetail })
    await eventually(() => expect(server.seen('ResponseNacked')).toHaveLength(1))
    stream.cancel()
    await eventually(() => expect(server.seen('StreamClosed')).toHaveLength(1))

    const id = server.events[0]?.stream
    const sent = { stream: id, typeUrl: listenerType }
    const [firstBytes, secondBytes] = stream.receivedBytes()
    const one = { ...sent, nonce: first.nonce, version: first.versionInfo }
    const two = { ...sent, nonce: second.nonce, version: second.versionInfo }
    expect(server.events).toMatchObject([
      { _tag: 'StreamOpened', stream: id, variant: 'sotw' },
      { _tag: 'NodeIdentified', stream: id, node: aNode, dataPlane: aNode.cluster, known: true },
      { _tag: 'ResponseSent', ...one, resources: 1, removed: 0, bytes: firstBytes },
      { _tag: 'ResponseAcked', ...one },
      { _tag: 'ResponseSent', ...two, resources: 1, removed: 0, bytes: secondBytes },
      { _tag: 'ResponseNacked', ...two, error: errorDetail },
      // Without what was refused, and without what is to go.
      { _tag: 'ResponseSent', ...sent, resources: 0, removed: 0 },
      {
        _tag: 'RefusalFound',
        stream: id,
        typeUrl: listenerType,
        name: 'b',
        message: 'no such thing',
      },
      { _tag: 'StreamClosed', stream: id },
    ])
    expect(server.seen('StreamOpened')[0]?.peer).toMatch(/^127\.0\.0\.1:\d+$/)
  })

  test('may throw, and so may the logger, and no stream notices', async () => {
    const fail = (): never => {
      throw new Error('out of order')
    }
    const server = await startServer({ observer: fail, logger: { log: fail } })
    server.publish(aSnapshot({ cds: 'a' }))
    const stream = connect(server).sotw()
    stream.send({ node: aNode, typeUrl: clusterType })
    expect((await stream.next()).resources).toHaveLength(1)
  })

  test('may publish: to every stream that comes behind what was published before', async () => {
    const server = await startServer({
      observer: (event) => {
        if (event._tag === 'ResponseSent' && event.typeUrl === clusterType && event.resources === 1)
          server.publish(aSnapshot({ cds: 'a', lds: 'l' }))
      },
    })
    server.publish(aSnapshot({}))
    const client = connect(server)
    const streams = [client.sotw(), client.sotw()]
    for (const stream of streams)
      for (const typeUrl of [clusterType, listenerType]) {
        stream.send({ node: aNode, typeUrl })
        stream.send(ackOf(await stream.next()))
      }
    await eventually(() => expect(server.seen('ResponseAcked')).toHaveLength(4))
    server.publish(aSnapshot({ cds: 'a' }))
    for (const stream of streams) {
      expect((await stream.next()).typeUrl).toBe(clusterType)
      expect((await stream.next()).typeUrl).toBe(listenerType)
    }
  })
})

describe('a client that does what it must not', () => {
  test.each(['sotw', 'delta'] as const)(
    'loses its %s stream with INVALID_ARGUMENT for a message that is none, and no other stream',
    async (variant) => {
      const server = await startServer()
      server.publish(aSnapshot({ cds: 'a' }))
      const client = connect(server)
      const [bad, good] = [client[variant](), client.sotw()]
      bad.sendBytes(Uint8Array.of(0x22, 0x05, 0x61))
      expect(await bad.ended).toMatchObject({
        code: 'INVALID_ARGUMENT',
        details: expect.stringContaining('DiscoveryRequest') as string,
      })
      good.send({ node: aNode, typeUrl: clusterType })
      expect((await good.next()).resources).toHaveLength(1)
    },
  )

  test('is told how it broke the protocol', async () => {
    const server = await startServer()
    const stream = connect(server).sotw()
    stream.send({ node: aNode, typeUrl: '' })
    expect(await stream.ended).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: expect.stringContaining('type_url') as string,
    })
    expect(server.seen('StreamClosed')).toMatchObject([
      { reason: expect.stringContaining('type_url') as string },
    ])
    expect(server.streams()).toBe(0)
  })

  // The length of a status is bounded, and the cut may fall into the middle of a character.
  test.each(['', 'a'])('is told so in a message that gRPC can carry (%j)', async (shift) => {
    const server = await startServer()
    const stream = connect(server).sotw()
    stream.send({ node: aNode, typeUrl: clusterType })
    stream.send({ node: { id: shift + '\u{1f6a6}'.repeat(20_000) }, typeUrl: clusterType })
    expect(await stream.ended).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: expect.stringContaining('\u{1f6a6}') as string,
    })
  })

  test('gets UNIMPLEMENTED for a unary fetch', async () => {
    const server = await startServer()
    const client = new Client(`127.0.0.1:${server.address.port}`, credentials.createInsecure())
    onTestFinished(() => client.close())
    const code = await new Promise((resolve) => {
      client.makeUnaryRequest(
        '/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters',
        (bytes: Buffer) => bytes,
        (bytes) => bytes,
        Buffer.alloc(0),
        (error) => resolve(error?.code),
      )
    })
    expect(code).toBe(status.UNIMPLEMENTED)
  })
})

test('a stream on which the control plane itself fails ends with INTERNAL, and no other', async () => {
  const broken: Resource = {
    ...bytesResource('a', new Uint8Array()),
    content: {
      _tag: 'Bytes',
      get bytes(): Uint8Array {
        throw new Error('cannot be encoded')
      },
    },
  }
  const both: Snapshot = {
    dataPlanes: new Map([
      ['odd', view({ [clusterType]: [broken] })],
      ['even', view({ [clusterType]: [bytesResource('a', new Uint8Array())] })],
    ]),
  }
  const logged: Array<string> = []
  const server = await startServer({
    logger: { log: (level, message) => logged.push(`${level}: ${message}`) },
  })
  const client = connect(server)
  const [odd, even] = [client.sotw(), client.sotw()]
  odd.send({ node: { id: '1', cluster: 'odd' }, typeUrl: clusterType })
  even.send({ node: { id: '2', cluster: 'even' }, typeUrl: clusterType })
  await eventually(() => expect(server.streams()).toBe(2))
  server.publish(both)
  expect(await odd.ended).toMatchObject({ code: 'INTERNAL' })
  expect((await even.next()).resources).toHaveLength(1)
  expect(logged).toEqual(['error: a stream failed'])
})
