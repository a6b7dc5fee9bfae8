import type { ChildProcess } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { defaultXdsLimits } from '../../src/adapters/xds/index.js'
import { bytesResource } from '../../src/core/resource.js'
import { type Snapshot, view } from '../../src/core/snapshot.js'
import { clusterType, listenerType, typeUrls } from '../../src/core/type-url.js'
import { spawnClient } from '../support/frozen-client.js'
import { ackOf } from '../support/raw-ads-client.js'
import { connect, eventually, startServer, type TestXdsServer } from '../support/test-xds-server.js'
import { aNode, aResource, aSnapshot, dataPlane } from '../support/xds.js'

const mib = 1024 * 1024

/** One cluster of this size; equal numbers make equal snapshots. */
const ofSize = (bytes: number, version: number): Snapshot => {
  const content = new Uint8Array(bytes)
  new DataView(content.buffer).setUint32(0, version)
  return {
    dataPlanes: new Map([[dataPlane, view({ [listenerType]: [bytesResource('a', content)] })]]),
  }
}

const versionIn = (content: Uint8Array | undefined): number =>
  content === undefined ? -1 : new DataView(content.buffer, content.byteOffset).getUint32(0)

describe('messages may be large', () => {
  // xDS protocol: a reconnecting client names all that it holds (envoyproxy/envoy#46072).
  test('a request that names 60,000 resources of 80 bytes is answered', async () => {
    const server = await startServer()
    server.publish(aSnapshot({ lds: 'a' }))
    const names = Array.from({ length: 60_000 }, (_, at) => String(at).padStart(80, '0'))
    const stream = connect(server).delta()
    stream.send({
      node: aNode,
      typeUrl: listenerType,
      initialResourceVersions: Object.fromEntries(names.map((name) => [name, 'v'])),
    })
    const { nonce, removedResources } = await stream.next()
    expect(removedResources?.join() === names.join()).toBe(true) // a diff of these is no help
    stream.send({ typeUrl: listenerType, responseNonce: nonce ?? '' })
    expect((await stream.next()).resources?.map(({ name }) => name)).toEqual(['a'])
  })

  test('a response of more than 4 MiB arrives', async () => {
    const server = await startServer()
    server.publish(ofSize(9 * mib, 7))
    const stream = connect(server).sotw()
    stream.send({ node: aNode, typeUrl: listenerType })
    const [resource] = (await stream.next()).resources ?? []
    expect(resource?.value).toHaveLength(9 * mib)
    expect(versionIn(resource?.value)).toBe(7)
  })

  test('a request above the limit ends its stream with RESOURCE_EXHAUSTED, and no other', async () => {
    const server = await startServer({ limits: { maxRequestBytes: mib } })
    server.publish(aSnapshot({ lds: 'a' }))
    const client = connect(server)
    const [bad, good] = [client.sotw(), client.sotw()]
    good.send({ node: aNode, typeUrl: listenerType })
    const first = await good.next()
    bad.sendBytes(new Uint8Array(mib + 1))
    expect(await bad.ended).toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
    await eventually(() => expect(server.streams()).toBe(1))
    good.send(ackOf(first))
    server.publish(aSnapshot({ lds: 'b' }))
    expect((await good.next()).resources).toHaveLength(1)
  })
})

describe('a client that does not read', () => {
  const versions = 1_000
  /** More than the 64 KiB that the client's window lets through before it reads. */
  const bytes = 100 * 1024

  const large = bytesResource('large', new Uint8Array(bytes))
  /** Messages that the client's gRPC takes in before anybody reads them. */
  const readAhead = 16

  test('gets one response, and then the newest only, and delays nobody', async () => {
    const server = await startServer()
    server.publish(ofSize(bytes, 0))
    const slow = connect(server).sotw()
    slow.pause()
    slow.send({ node: aNode, typeUrl: listenerType })
    await eventually(() => expect(server.seen('ResponseSent')).toHaveLength(1))
    const slowId = server.seen('ResponseSent')[0]?.stream
    const sentToSlow = (): number =>
      server.seen('ResponseSent').filter(({ stream }) => stream === slowId).length

    const fast = connect(server).sotw()
    fast.send({ node: aNode, typeUrl: listenerType })
    fast.send(ackOf(await fast.next()))
    for (let version = 1; version < versions; version++) {
      server.publish(ofSize(bytes, version))
      const response = await fast.next()
      expect(versionIn(response.resources?.[0]?.value)).toBe(version)
      fast.send(ackOf(response))
    }
    expect(sentToSlow()).toBe(1)

    slow.resume()
    const first = await slow.next()
    expect(versionIn(first.resources?.[0]?.value)).toBe(0)
    slow.send(ackOf(first))
    expect(versionIn((await slow.next()).resources?.[0]?.value)).toBe(versions - 1)
    expect(sentToSlow()).toBe(2)
  })

  test('but answers all the same queues no more than the limit, and loses nothing', async () => {
    const requests = 200
    const server = await startServer()
    const withListener = (version: number): Snapshot => ({
      dataPlanes: new Map([
        [dataPlane, view({ [clusterType]: [large], [listenerType]: [aResource(`l=${version}`)] })],
      ]),
    })
    server.publish(withListener(0))
    const bold = connect(server).delta()
    bold.pause()
    // Nonces can be guessed, and a name that is subscribed to again is sent again.
    bold.send({ node: aNode, typeUrl: clusterType, resourceNamesSubscribe: ['large'] })
    for (let nonce = 1; nonce <= requests; nonce++)
      bold.send({
        typeUrl: clusterType,
        responseNonce: String(nonce),
        resourceNamesSubscribe: ['large'],
      })
    const sentToBold = (): number =>
      server.seen('ResponseSent').filter(({ typeUrl }) => typeUrl === clusterType).length
    await eventually(() => expect(sentToBold()).toBeGreaterThanOrEqual(1))
    // Another client gets the server's attention a hundred times over, and so could the bold one.
    const other = connect(server).sotw()
    other.send({ node: aNode, typeUrl: listenerType })
    for (let version = 1; version <= 100; version++) {
      other.send(ackOf(await other.next()))
      server.publish(withListener(version))
    }
    const bound = readAhead + defaultXdsLimits.maxQueuedResponses + typeUrls.length
    expect(sentToBold()).toBeLessThanOrEqual(bound)

    bold.resume()
    await eventually(() => expect(bold.receivedBytes()).toHaveLength(requests + 1))
  })
})

describe('keepalive', () => {
  // Both clients are processes of their own, so that only the frozen one can be late.
  test('drops a client that is frozen, and keeps one that is only silent', async () => {
    const server = await startServer({ limits: { keepaliveMs: 100, keepaliveTimeoutMs: 3_000 } })
    server.publish(aSnapshot({ cds: 'a' }))
    const clients: ReadonlyArray<ChildProcess> = [
      await spawnedClient(server, 1),
      await spawnedClient(server, 2),
    ]
    clients[1]?.kill('SIGSTOP')
    await eventually(() => expect(server.streams()).toBe(1))
    const [silent, frozen] = server.seen('StreamOpened').map(({ stream }) => stream)
    expect(server.seen('StreamClosed').map(({ stream }) => stream)).toEqual([frozen])
    clients[0]?.kill('SIGKILL')
    await eventually(() => expect(server.streams()).toBe(0))
    expect(server.seen('StreamClosed')[1]?.stream).toBe(silent)
  })
})

/** The client that is answered as number `at`. */
const spawnedClient = async (server: TestXdsServer, at: number): Promise<ChildProcess> => {
  const child = spawnClient(server.address.port)
  onTestFinished(() => void child.kill('SIGKILL'))
  await eventually(() => expect(server.seen('ResponseSent')).toHaveLength(at))
  return child
}
