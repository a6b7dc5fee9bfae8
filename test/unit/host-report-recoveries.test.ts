import { decodeEdgeRoute, snapshotOf } from 'edgewright'
import { reportRecoveries } from 'edgewright/host'
import { memoryControlPlane, memoryLogger, virtualClock } from 'edgewright/memory'
import { describe, expect, test } from 'vitest'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import type { TypeUrl } from '../../src/core/type-url.js'
import { statusDelayMs } from '../../src/host/follow-ledger.js'

const answering = (name: string, body: string): EdgeRoute => {
  const decoded = decodeEdgeRoute({
    apiVersion: 'net.10xdev.io/v1',
    kind: 'EdgeRoute',
    metadata: { namespace: 'shop', name, uid: `uid-of-${name}` },
    spec: { matches: [{ path: { exact: `/${name}` } }], respond: { code: 200, body } },
  })
  if (decoded._tag === 'Left') throw new Error('the route of this test is not valid')
  return decoded.right.route
}

const has = (bytes: Uint8Array, word: string): boolean => Buffer.from(bytes).includes(word)

type Refuse = (typeUrl: TypeUrl, bytes: Uint8Array) => boolean

const rude: Refuse = (_typeUrl, bytes) => has(bytes, 'rude')

/** One Envoy that refuses some things, and what is logged of it. */
const world = (refuses: Refuse = rude) => {
  const clock = virtualClock()
  const logger = memoryLogger()
  const server = memoryControlPlane({ clock })
  const names = new Map<string, string>()
  const envoy = server.connect({
    node: { id: 'envoy-1', cluster: 'edge-envoy' },
    variant: 'delta',
    refuse: (typeUrl, _name, bytes) => (refuses(typeUrl, bytes) ? 'not such words\n' : undefined),
  })
  const close = reportRecoveries(server, { clock, logger, nameOf: (uid) => names.get(uid) })
  const settle = (ms = statusDelayMs): void => {
    server.settle()
    clock.advance(ms)
    server.settle()
    clock.advance(statusDelayMs)
  }
  const publish = (...routes: ReadonlyArray<EdgeRoute>): void => {
    names.clear()
    for (const { metadata } of routes)
      names.set(metadata.uid, `${metadata.namespace}/${metadata.name}`)
    server.publish(snapshotOf(routes))
    settle()
  }
  const said = (): ReadonlyArray<string> => logger.entries().map(({ message }) => message)
  return { clock, logger, server, envoy, names, close, settle, publish, said }
}

const fine = answering('fine', 'hello')
const taken = 'the Envoy takes this again'
const unwanted = 'what the Envoy has refused is wanted no more'

describe('what an Envoy has refused', () => {
  test('is told of once the Envoy has accepted it in another form, with its name', () => {
    const { publish, logger, said } = world()
    publish(fine, answering('bad', 'rude'))
    expect(said()).toEqual([])
    publish(fine, answering('bad', 'polite'))
    expect(logger.entries()).toEqual([
      {
        level: 'info',
        message: taken,
        fields: {
          node: 'envoy-1',
          type: 'RouteConfiguration',
          name: 'uid-of-bad',
          objects: 'shop/bad',
        },
      },
    ])
    publish(fine)
    expect(said()).toEqual([taken])
  })

  test('is told of as wanted no more when it is deleted, with the name that it had', () => {
    const { server, names, publish, settle, logger, said } = world()
    publish(fine, answering('bad', 'rude'))
    names.clear()
    server.publish(snapshotOf([answering('fine', 'hello again'), answering('bad', 'rude')]))
    settle()
    publish(fine)
    expect(said()).toEqual([unwanted])
    expect(logger.entries()[0]?.fields['objects']).toBe('shop/bad')
  })

  test('is not told of while another form of it is refused too', () => {
    const { publish, said } = world()
    publish(fine, answering('bad', 'rude'))
    publish(fine, answering('bad', 'as rude'))
    expect(said()).toEqual([])
    publish(fine, answering('bad', 'polite'))
    expect(said()).toEqual([taken])
  })

  test('is not told of by what happens to others', () => {
    const { publish, said } = world()
    publish(fine, answering('bad', 'rude'))
    publish(answering('fine', 'hello again'), answering('bad', 'rude'), answering('new', 'hello'))
    expect(said()).toEqual([])
  })

  test('is not told of before the Envoy has answered', () => {
    const { server, clock, publish, settle, said } = world()
    publish(answering('bad', 'rude'))
    server.publish(snapshotOf([answering('bad', 'polite')]))
    clock.advance(statusDelayMs)
    expect(said()).toEqual([])
    settle()
    expect(said()).toEqual([taken])
  })

  test('is not told of while the Envoy is lost, nor when it comes back as it was', () => {
    const { server, envoy, publish, settle, said } = world()
    publish(answering('bad', 'rude'))
    envoy.disconnect()
    settle()
    envoy.reconnect()
    settle()
    expect(said()).toEqual([])
    envoy.disconnect()
    server.publish(snapshotOf([answering('bad', 'polite')]))
    settle()
    expect(said()).toEqual([])
    envoy.reconnect()
    settle()
    expect(said()).toEqual([taken])
  })

  test('is never told of when the Envoy is forgotten', () => {
    const { server, envoy, publish, settle, said } = world()
    publish(answering('bad', 'rude'))
    envoy.disconnect()
    expect(server.forget('envoy-1')).toBe('Forgotten')
    settle()
    publish(fine)
    expect(said()).toEqual([])
  })

  test('is told of as a resource where it belongs to no object: a listener that was busy', () => {
    let isBusy = true
    const { publish, logger, settle, said } = world(
      (typeUrl) => isBusy && typeUrl.endsWith('.Listener'),
    )
    publish(fine)
    expect(said()).toEqual([])
    isBusy = false
    settle(60_000)
    expect(logger.entries().map(({ message, fields }) => ({ message, ...fields }))).toEqual([
      { message: taken, node: 'envoy-1', type: 'Listener', name: 'http', objects: undefined },
    ])
  })
})

test('nothing is told any more once it was closed', () => {
  const { publish, close, said } = world()
  publish(answering('bad', 'rude'))
  close()
  publish(answering('bad', 'polite'))
  expect(said()).toEqual([])
})
