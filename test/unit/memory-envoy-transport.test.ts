import {
  maxMessages,
  memoryControlPlane,
  type MemoryControlPlane,
  type MemoryEnvoy,
  memoryLogger,
} from 'edgewright/memory'
import { describe, expect, test } from 'vitest'
import { bytesResource, type Resource } from '../../src/core/resource.js'
import { type Snapshot, view } from '../../src/core/snapshot.js'
import { typeUrls } from '../../src/core/type-url.js'
import { clusterLingerMs } from '../../src/core/xds/linger.js'
import type { XdsEvent } from '../../src/ports/xds-observer.js'
import {
  assignment,
  clusterType,
  edsCluster,
  endpointType,
  item,
  listener,
  listenerType,
  routeType,
  table,
} from '../support/memory-envoy.js'

const port = 10000
const node = { id: 'envoy-1', cluster: 'edge' }
const both = ['sotw', 'delta'] as const

const resource = (...of: Parameters<typeof item>): Resource => {
  const { name, bytes } = item(...of)
  const refs = of[0] === clusterType ? [{ typeUrl: endpointType, name }] : []
  return bytesResource(name, bytes, refs)
}

/** Listeners whose one table sends everything to the first of these clusters. */
const world = (
  clusters: ReadonlyArray<string>,
  listeners: ReadonlyArray<string> = ['http'],
): Snapshot => ({
  dataPlanes: new Map([
    [
      'edge',
      view({
        [clusterType]: clusters.map((name) => resource(clusterType, edsCluster(name))),
        [endpointType]: clusters.map((name) => resource(endpointType, assignment(name, 1))),
        [listenerType]: listeners.map((name, index) =>
          resource(listenerType, listener(name, port + index, 't')),
        ),
        [routeType]: [resource(routeType, table('t', clusters[0]))],
      }),
    ],
  ]),
})

const ask = (envoy: MemoryEnvoy): string => {
  const answer = envoy.request({ listener: port, host: 'example.com', path: '/' })
  return answer._tag === 'Forwarded' ? answer.cluster : answer._tag
}

const heldNames = (envoy: MemoryEnvoy): ReadonlyArray<string> =>
  typeUrls.flatMap((typeUrl) => [...envoy.held()[typeUrl].keys()].sort())

/** As many deliveries as there may be before something must have come to rest. */
const bound = 200

/** Delivers in the order that these choices make. Bounded, as every loop of a test. */
const deliverAll = (plane: MemoryControlPlane, choices: ReadonlyArray<number>): void => {
  for (let turn = 0; turn < bound; turn += 1)
    if (plane.deliverNext(choices[turn % choices.length]) === undefined) return
  throw new Error('still not at rest')
}

describe.each(both)('with a %s client', (variant) => {
  test('a snapshot that is published before or after it connects is what the Envoy serves', () => {
    const early = memoryControlPlane()
    early.publish(world(['a']))
    const first = early.connect({ node, variant })
    early.settle()
    const late = memoryControlPlane()
    const second = late.connect({ node, variant })
    late.settle()
    expect(ask(second)).toBe('ConnectionRefused')
    late.publish(world(['a']))
    late.settle()
    expect([ask(first), ask(second)]).toEqual(['a', 'a'])
    expect(heldNames(second)).toEqual(['a', 'a', 'http', 't'])
  })

  test('the next snapshot replaces it, and what it leaves out goes', () => {
    const plane = memoryControlPlane()
    const envoy = plane.connect({ node, variant })
    plane.publish(world(['a', 'b']))
    plane.settle()
    plane.publish(world(['b']))
    plane.settle()
    expect(ask(envoy)).toBe('b')
    expect(heldNames(envoy)).toEqual(['a', 'b', 'a', 'b', 'http', 't'])
    plane.pass(clusterLingerMs)
    plane.settle()
    expect(ask(envoy)).toBe('b')
    expect(heldNames(envoy)).toEqual(['b', 'b', 'http', 't'])
  })

  test('an unchanged snapshot sends nothing, and a settled fleet has nothing to deliver', () => {
    const plane = memoryControlPlane()
    plane.connect({ node, variant })
    plane.publish(world(['a']))
    expect(plane.settle()).toBeGreaterThan(0)
    plane.publish(world(['a']))
    expect(plane.pending()).toEqual([])
    expect(plane.deliverNext()).toBeUndefined()
    expect(plane.settle()).toBe(0)
  })

  test('every order of deliveries leads to the same end', () => {
    for (const choices of [[0], [1], [2, 0], [5, 3, 1], [0, 1, 2, 3, 4]]) {
      const plane = memoryControlPlane()
      const envoys = ['1', '2', '3'].map((id) => plane.connect({ node: { ...node, id }, variant }))
      plane.publish(world(['a', 'b']))
      plane.deliverNext(choices[0])
      plane.publish(world(['b']))
      deliverAll(plane, choices)
      expect(envoys.map(ask)).toEqual(['b', 'b', 'b'])
    }
  })

  test('a broken stream loses what is on its way, the Envoy serves on, and a new stream makes it good', () => {
    const plane = memoryControlPlane()
    const envoy = plane.connect({ node, variant })
    plane.publish(world(['a']))
    plane.settle()
    plane.publish(world(['b']))
    envoy.disconnect()
    expect(plane.settle()).toBe(0)
    expect(ask(envoy)).toBe('a')
    envoy.reconnect()
    plane.settle()
    plane.pass(clusterLingerMs)
    plane.settle()
    expect(ask(envoy)).toBe('b')
    expect(heldNames(envoy)).toEqual(['b', 'b', 'http', 't'])
  })

  test('a refused response is sent once, and a new version of it is delivered (2.2, 14-15)', () => {
    const plane = memoryControlPlane()
    const envoy = plane.connect({
      node,
      variant,
      refuse: (typeUrl, _name, bytes) =>
        typeUrl === routeType && Buffer.from(bytes).includes('bad') ? 'no' : undefined,
    })
    plane.publish(world(['bad']))
    plane.settle()
    expect(envoy.nacked()).toMatchObject([{ typeUrl: routeType, message: 'no' }])
    plane.publish(world(['good']))
    plane.settle()
    expect(envoy.nacked()).toHaveLength(1)
    expect(ask(envoy)).toBe('good')
  })
})

test('of one stream each direction keeps its order, and the choice is taken modulo what is pending', () => {
  const plane = memoryControlPlane()
  plane.publish(world(['a']))
  plane.connect({ node, variant: 'delta' })
  plane.connect({ node: { ...node, id: 'envoy-2' }, variant: 'delta' })
  expect(plane.pending().map(({ _tag, stream }) => [_tag, stream])).toEqual([
    ['Request', '1'],
    ['Request', '2'],
  ])
  expect(plane.deliverNext(3)).toMatchObject({ _tag: 'Request', stream: '2' })
  expect(plane.pending().map(({ _tag, stream }) => [_tag, stream])).toEqual([
    ['Request', '1'],
    ['Response', '2'],
  ])
})

test('the observer is told what happens, in order', () => {
  const events: Array<XdsEvent> = []
  const plane = memoryControlPlane({ observer: (event) => events.push(event) })
  plane.publish(world(['a']))
  const envoy = plane.connect({ node, variant: 'delta' })
  plane.deliverNext()
  plane.deliverNext()
  envoy.disconnect()
  expect(events[0]).toEqual({
    _tag: 'StreamOpened',
    stream: '1',
    variant: 'delta',
    peer: 'memory:envoy-1',
  })
  expect(events[1]).toEqual({
    _tag: 'NodeIdentified',
    stream: '1',
    node: { ...node, buildVersion: { major: 1, minor: 40, patch: 0 } },
    dataPlane: 'edge',
    known: true,
  })
  const cluster = item(clusterType, edsCluster('a'))
  expect(events[2]).toMatchObject({
    _tag: 'ResponseSent',
    typeUrl: clusterType,
    resources: 1,
    removed: 0,
    bytes: cluster.bytes.length,
  })
  expect(events.at(-1)).toEqual({
    _tag: 'StreamClosed',
    stream: '1',
    reason: 'the client ended it',
  })
})

test('acceptances and refusals reach the observer with the nonces that were sent', () => {
  const events: Array<XdsEvent> = []
  const plane = memoryControlPlane({ observer: (event) => events.push(event) })
  plane.connect({
    node,
    variant: 'sotw',
    refuse: (typeUrl) => (typeUrl === routeType ? 'no' : undefined),
  })
  plane.publish(world(['a']))
  plane.settle()
  const noncesOf = (tag: XdsEvent['_tag']) =>
    events.flatMap((event) => (event._tag === tag && 'nonce' in event ? [event.nonce] : []))
  expect(noncesOf('ResponseNacked')).toHaveLength(1)
  expect([...noncesOf('ResponseAcked'), ...noncesOf('ResponseNacked')].sort()).toEqual(
    [...noncesOf('ResponseSent')].sort(),
  )
})

test('an observer may publish: it waits for its turn, and responses keep their order', () => {
  const nonces: Array<number> = []
  let publishNext: (() => void) | undefined
  const plane = memoryControlPlane({
    observer: (event) => {
      if (event._tag !== 'ResponseSent') return
      nonces.push(Number(event.nonce))
      publishNext?.()
      publishNext = undefined
    },
  })
  const envoy = plane.connect({ node, variant: 'delta' })
  plane.publish(world(['a']))
  plane.settle()
  publishNext = () => plane.publish(world(['c', 'b'], ['http', 'other']))
  plane.publish(world(['b', 'a']))
  plane.settle()
  expect(ask(envoy)).toBe('c')
  expect(nonces).toEqual([...nonces].sort((x, y) => x - y))
})

test('two ends that keep each other busy for ever are an error, and no hanging test', () => {
  let turn = 0
  const plane = memoryControlPlane({
    observer: ({ _tag }) => {
      if (_tag === 'ResponseAcked') plane.publish(world([(turn += 1) % 2 === 0 ? 'a' : 'b']))
    },
  })
  plane.connect({ node, variant: 'delta' })
  plane.publish(world(['a']))
  expect(() => plane.settle()).toThrow(`no rest after ${maxMessages} messages`)
})

const fail = (): never => {
  throw new Error('out of order')
}

test('an observer that throws, and a logger that does, hinder nobody, and the logger knows', () => {
  const logger = memoryLogger()
  const loud = memoryControlPlane({ observer: fail, logger })
  const silent = memoryControlPlane({ observer: fail, logger: { log: fail } })
  for (const plane of [loud, silent]) {
    const envoys = both.map((variant) => plane.connect({ node, variant }))
    plane.publish(world(['a']))
    plane.settle()
    expect(envoys.map(ask)).toEqual(['a', 'a'])
  }
  expect(logger.entries()[0]).toEqual({
    level: 'error',
    message: 'an observer threw',
    fields: { event: 'StreamOpened', error: 'Error: out of order' },
  })
})

test('a resource that cannot be encoded ends the streams that it is for, and no other', () => {
  const broken: Resource = {
    ...bytesResource('a', new Uint8Array()),
    content: {
      _tag: 'Bytes',
      get bytes(): Uint8Array {
        return fail()
      },
    },
  }
  const events: Array<XdsEvent> = []
  const plane = memoryControlPlane({ observer: (event) => events.push(event) })
  const odd = plane.connect({ node: { id: '1', cluster: 'odd' }, variant: 'delta' })
  const good = plane.connect({ node, variant: 'delta' })
  plane.settle()
  plane.publish({
    dataPlanes: new Map([['odd', view({ [clusterType]: [broken] })], ...world(['a']).dataPlanes]),
  })
  plane.settle()
  expect(ask(good)).toBe('a')
  expect([odd.state().connected, good.state().connected]).toEqual([false, true])
  expect(events.filter(({ _tag }) => _tag === 'StreamClosed')).toEqual([
    {
      _tag: 'StreamClosed',
      stream: '1',
      reason: 'INTERNAL: the control plane failed on this stream; its log says how',
    },
  ])
})

test('whether a request without names asks for everything can be said', () => {
  const strict = memoryControlPlane({ session: { legacyWildcard: new Set() } })
  strict.publish(world(['a']))
  const legacy = strict.connect({ node, variant: 'delta', wildcard: 'legacy' })
  const star = strict.connect({ node, variant: 'delta', wildcard: 'star' })
  strict.settle()
  expect([ask(legacy), ask(star)]).toEqual(['ConnectionRefused', 'a'])
})
