import { snapshotOf, type EdgeRoute } from 'edgewright'
import { memoryControlPlane, type MemoryControlPlane, type EnvoyOptions } from 'edgewright/memory'
import { describe, expect, test } from 'vitest'
import { mayStillServe } from '../../src/core/ledger.js'
import { variants } from '../support/xds.js'

const route = (name: string): EdgeRoute => ({
  metadata: { namespace: 'shop', name, uid: name, generation: 1, finalizers: [] },
  spec: { matches: [{ path: { prefix: `/${name}` } }], respond: { code: 200 } },
})

const both = snapshotOf([route('a'), route('b')])
const one = snapshotOf([route('a')])

const anEnvoy = (variant: EnvoyOptions['variant']): EnvoyOptions => ({
  node: { id: 'edge-1', cluster: 'edge-envoy' },
  variant,
})

const owed = (plane: MemoryControlPlane, uid = 'b'): ReadonlyArray<string> =>
  mayStillServe(plane.ledger(), uid).map(({ id }) => id)

const status = (envoy: ReturnType<MemoryControlPlane['connect']>, path: string): number => {
  const answer = envoy.request({ listener: 10000, host: 'x', path })
  return answer._tag === 'Responded' ? answer.code : 0
}

describe.each(variants)('%s', (variant) => {
  test('no node is sent a route table before it is admitted, and then it is', () => {
    const plane = memoryControlPlane({ keepsRoster: true })
    const envoy = plane.connect(anEnvoy(variant))
    plane.publish(both)
    plane.settle()
    expect(envoy.held()['type.googleapis.com/envoy.config.route.v3.RouteConfiguration'].size).toBe(
      0,
    )
    plane.admit('edge-1')
    plane.settle()
    expect(status(envoy, '/b')).toBe(200)
  })

  test('a node that was admitted once needs no second admission, unless it shares its id', () => {
    const plane = memoryControlPlane({ keepsRoster: true })
    const envoy = plane.connect(anEnvoy(variant))
    plane.publish(both)
    plane.admit('edge-1')
    plane.settle()
    envoy.restart()
    plane.settle()
    expect(status(envoy, '/b')).toBe(200)
    const twin = plane.connect(anEnvoy(variant))
    plane.settle()
    expect(status(twin, '/b')).toBe(0)
    plane.admit('edge-1')
    plane.settle()
    expect(status(twin, '/b')).toBe(200)
  })

  test('while a deletion waits, an Envoy that comes back is owed until it has accepted on this stream', () => {
    const plane = memoryControlPlane()
    const envoy = plane.connect(anEnvoy(variant))
    plane.publish(one)
    plane.settle()
    plane.demandAcks(true)
    plane.settle()
    expect(owed(plane)).toEqual([])
    envoy.reconnect()
    let steps = 0
    while (owed(plane).length === 0 && plane.deliverNext() !== undefined) steps += 1
    expect(owed(plane)).toEqual(['edge-1'])
    expect(steps).toBeLessThan(20)
    plane.settle()
    expect(owed(plane)).toEqual([])
  })

  test('an Envoy that is taken at its word is asked again as soon as a deletion waits', () => {
    const before = memoryControlPlane()
    const envoy = before.connect(anEnvoy(variant))
    before.publish(one)
    before.settle()
    envoy.reconnect()
    before.settle()
    before.demandAcks(true)
    const isOwed = owed(before).length > 0
    // In state of the world every table is sent on every stream, and accepted on it.
    expect(isOwed).toBe(variant === 'delta')
    before.settle()
    expect(owed(before)).toEqual([])
    before.demandAcks(false)
    before.demandAcks(true)
    expect(before.pending()).toEqual([])
  })

  test('a lost node is owed until it is forgotten; one that is connected cannot be', () => {
    const plane = memoryControlPlane()
    const envoy = plane.connect(anEnvoy(variant))
    plane.publish(both)
    plane.settle()
    expect(plane.forget('edge-1')).toBe('Connected')
    envoy.disconnect()
    plane.publish(one)
    expect(owed(plane)).toEqual(['edge-1'])
    expect(plane.forget('edge-2')).toBe('Unknown')
    expect(plane.forget('edge-1')).toBe('Forgotten')
    expect(owed(plane)).toEqual([])
    expect(plane.forget('edge-1')).toBe('Unknown')
  })

  test('a node that was forgotten waits for its admission again when it comes back', () => {
    const plane = memoryControlPlane({ keepsRoster: true })
    const envoy = plane.connect(anEnvoy(variant))
    plane.publish(both)
    plane.admit('edge-1')
    plane.settle()
    envoy.disconnect()
    plane.forget('edge-1')
    envoy.restart()
    plane.settle()
    expect(status(envoy, '/b')).toBe(0)
    plane.admit('edge-1')
    plane.settle()
    expect(status(envoy, '/b')).toBe(200)
  })

  test('of two nodes with one id the lost one is owed until it is forgotten', () => {
    const plane = memoryControlPlane()
    plane.connect(anEnvoy(variant))
    const lost = plane.connect(anEnvoy(variant))
    plane.publish(both)
    plane.settle()
    lost.disconnect()
    plane.publish(one)
    plane.settle()
    expect(owed(plane)).toEqual(['edge-1'])
    expect(plane.forget('edge-1')).toBe('Forgotten')
    expect(owed(plane)).toEqual([])
  })

  test('a stream that was open before another of its id had ended is not taken for its successor', () => {
    const plane = memoryControlPlane()
    const first = plane.connect(anEnvoy(variant))
    plane.publish(both)
    plane.settle()
    plane.connect(anEnvoy(variant))
    // Its first request is on its way as the other stream ends.
    first.disconnect()
    plane.publish(one)
    plane.settle()
    expect(owed(plane)).toEqual(['edge-1'])
    expect(plane.forget('edge-1')).toBe('Forgotten')
    expect(owed(plane)).toEqual([])
  })

  test('Envoys that come back with something are counted, and no other ones', () => {
    const plane = memoryControlPlane()
    const envoy = plane.connect(anEnvoy(variant))
    plane.publish(both)
    plane.settle()
    expect(plane.ledger().returns).toBe(0)
    envoy.reconnect()
    plane.settle()
    expect(plane.ledger().returns).toBe(1)
    envoy.restart()
    plane.settle()
    expect(plane.ledger().returns).toBe(1)
  })
})
