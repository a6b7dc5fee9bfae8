import type { Refuse } from 'edgewright/memory'
import { describe, expect, test } from 'vitest'
import * as memoryEnvoy from '../../src/adapters/memory/envoy/client/index.js'
import { Cluster } from '../../src/gen/envoy/config/cluster/v3/cluster.js'
import {
  assignment,
  at,
  clusterType,
  connected,
  disconnected,
  edsCluster,
  endpointType,
  goOn,
  heldOf,
  item,
  listener,
  listenerType,
  play,
  response,
  routeType,
  staticCluster,
  table,
} from '../support/memory-envoy.js'

/** Refuses what is named `bad…`, whatever it is. */
const refuse: Refuse = (_typeUrl, name) => (name.startsWith('bad') ? `${name} is bad` : undefined)

/** With two listeners and their tables, up to accepted routes. */
const running = (variant: 'sotw' | 'delta', refusing: Refuse = refuse) =>
  play(
    { variant, refuse: refusing },
    response(clusterType, 'c1', [staticCluster('a'), edsCluster('e')]),
    response(endpointType, 'e1', [assignment('e', 1)]),
    response(listenerType, 'l1', [listener('l1', 1, 't1'), listener('l2', 2, 't2')]),
    response(routeType, 'r1', [table('t1', 'a'), table('t2', 'a')]),
  )

const both = ['sotw', 'delta'] as const

/** Late enough for every drain of what was removed before. */
const drained = at(memoryEnvoy.defaultDrainMs)

describe('a refusal', () => {
  test.each([
    ['sotw', 'Cluster [] v=1 n=c2 ! Error adding/updating cluster(s) bad: bad is bad'],
    ['delta', 'Cluster n=c2 ! Error adding/updating cluster(s) bad: bad is bad'],
  ] as const)(
    'names the last accepted version with the new nonce, and its reason (S5; %s)',
    (variant, expected) => {
      const two = response(clusterType, 'c2', [staticCluster('a'), staticCluster('bad')], {
        version: '2',
      })
      expect(goOn(running(variant), two).sent[0]?.at(-1)).toBe(expected)
    },
  )

  test.each(both)('is kept in the log, as an acceptance is (%s)', (variant) => {
    const two = response(clusterType, 'c2', [staticCluster('bad')], { version: '2' })
    const { state } = goOn(running(variant), two)
    expect(memoryEnvoy.acked(state).map(({ nonce }) => nonce)).toEqual(['c1', 'e1', 'l1', 'r1'])
    expect(memoryEnvoy.nacked(state)).toEqual([
      {
        _tag: 'Nacked',
        typeUrl: clusterType,
        nonce: 'c2',
        version: '2',
        message: 'Error adding/updating cluster(s) bad: bad is bad',
      },
    ])
  })

  test.each(both)(
    'lets the good clusters and listeners of the response work, and keeps the bad in their old form (2.8, A; %s)',
    (variant) => {
      let refused = ''
      const envoy = running(variant, (_type, name) => (name === refused ? 'no' : undefined))
      refused = 'l1'
      const mixed = response(
        listenerType,
        'l9',
        [listener('l1', 9, 't1'), listener('l2', 2, 't2'), listener('l3', 3, 't1')],
        { version: '2' },
      )
      const after = goOn(envoy, mixed)
      expect(heldOf(after, listenerType)).toEqual(['l1=1', 'l2=2', 'l3=2'])
      expect(memoryEnvoy.nacked(after.state)).toHaveLength(1)
    },
  )

  test.each(both)(
    'lets the good route tables and endpoints work one by one (2.8, B; %s)',
    (variant) => {
      let refused = ''
      const envoy = running(variant, (_type, name) => (name === refused ? 'no' : undefined))
      refused = 't2'
      const mixed = response(routeType, 'r9', [table('t1'), table('t2')], { version: '2' })
      expect(heldOf(goOn(envoy, mixed), routeType)).toEqual(['t1=2', 't2=1'])
    },
  )

  test('of a response with removals removes all the same (2.8, C)', () => {
    const mixed = response(listenerType, 'l9', [listener('bad', 3)], { removed: ['l2'] })
    const after = goOn(running('delta'), mixed)
    expect(heldOf(after, listenerType)).toEqual(['l1=1'])
    expect(memoryEnvoy.nacked(after.state)).toHaveLength(1)
  })

  test('of a state of the world still deletes what the response leaves out', () => {
    const mixed = response(listenerType, 'l9', [listener('l1', 1, 't1'), listener('bad', 3)])
    expect(heldOf(goOn(running('sotw'), mixed), listenerType)).toEqual(['l1=1'])
  })

  test('leaves what a delta client reports untouched: applied but absent, old, or gone (2.8, A to C)', () => {
    const mixed = response(listenerType, 'l9', [listener('l3', 3), listener('bad', 4)], {
      version: '2',
      removed: ['l2'],
    })
    const tables = response(routeType, 'r9', [table('t1'), table('bad')], { version: '2' })
    const after = goOn(running('delta'), tables, mixed, disconnected, connected)
    expect(heldOf(after, listenerType)).toEqual(['l1=1', 'l3=2'])
    expect(after.sent[3]?.[2]).toBe('Listener l1=1 l2=1')
  })

  test('keeps nobody waiting: a cluster works without hosts, a listener without routes', () => {
    const bad: Refuse = (type, name) => (type === endpointType || name === 't' ? 'no' : undefined)
    const envoy = play(
      { variant: 'delta', refuse: bad },
      response(clusterType, 'c1', [staticCluster('a'), edsCluster('e')]),
      response(endpointType, 'e1', [assignment('e', 1)]),
      response(listenerType, 'l1', [listener('l', 1, 't'), listener('m', 2, 'u')]),
      response(routeType, 'r1', [table('t', 'a')]),
    )
    const ask = ({ state }: typeof envoy, at: string) =>
      memoryEnvoy.request(state, { listener: at, host: 'x', path: '/' })
    expect(envoy.sent[2]?.[0]).toBe('Listener')
    expect(ask(envoy, 'l')).toEqual({ _tag: 'NotFound' })
    expect(ask(envoy, 'm')).toEqual({ _tag: 'NotFound' })
    expect(ask(goOn(envoy, response(routeType, 'r2', [table('u', 'e')])), 'm')).toEqual({
      _tag: 'ServiceUnavailable',
      flag: 'UH',
      cluster: 'e',
    })
  })
})

describe('a whole response is refused, and nothing of it applied,', () => {
  test('where a name stands in it twice (E9, G8)', () => {
    const twice = response(clusterType, 'c2', [staticCluster('x'), staticCluster('x')])
    const after = goOn(running('delta'), twice)
    expect(after.sent[0]).toEqual([
      'Cluster n=c2 ! duplicate name x found among added/updated resources',
    ])
    expect(heldOf(after, clusterType)).toEqual(['a=1', 'e=1'])
  })

  test('where the last of 100,000 names is the first once more, in less than 2 s', () => {
    const names = Array.from({ length: 100_000 }, (_, at) => String(at))
    const startedMs = performance.now()
    const after = goOn(
      running('delta'),
      response(clusterType, 'c2', [], { removed: names.concat('0') }),
    )
    expect(performance.now() - startedMs).toBeLessThan(2_000)
    expect(after.sent[0]?.[0]).toContain('! duplicate name 0')
  })

  test('where a name is added and removed (2.2, 22)', () => {
    const twice = response(clusterType, 'c2', [staticCluster('a')], { removed: ['a', 'e'] })
    const after = goOn(running('delta'), twice)
    expect(after.sent[0]?.[0]).toContain('! duplicate name a')
    expect(heldOf(after, clusterType)).toEqual(['a=1', 'e=1'])
  })

  test.each(both)('where an Any is of another type (2.2, 23; %s)', (variant) => {
    const stray = { ...item(clusterType, staticCluster('y')), typeUrl: listenerType }
    const mixed = response(clusterType, 'c2', [], {
      resources: [item(clusterType, staticCluster('x')), stray],
    })
    const after = goOn(running(variant), mixed)
    expect(after.sent[0]?.[0]).toContain('does not match the message-wide type URL')
    expect(heldOf(after, clusterType)).toEqual(['a=1', 'e=1'])
  })

  test.each(both)('where the bytes are no message (%s)', (variant) => {
    const broken = { ...item(clusterType, staticCluster('x')), bytes: new Uint8Array([0x0a, 9]) }
    const after = goOn(running(variant), response(clusterType, 'c2', [], { resources: [broken] }))
    expect(after.sent[0]?.[0]).toContain('! Unable to unpack')
  })
})

test.each(both)('a response that is refused as a whole keeps nobody waiting (%s)', (variant) => {
  const stray = { ...item(endpointType, assignment('e', 1)), typeUrl: clusterType }
  const envoy = play(
    { variant },
    response(clusterType, 'c1', [edsCluster('e')]),
    response(endpointType, 'e1', [], { resources: [stray] }),
  )
  expect(envoy.sent[2]?.[0]).toMatch(/^Listener/)
})

describe('with the state of the world, of two resources with one name the first counts,', () => {
  test('and a refusal of the second says so, of clusters and listeners', () => {
    const changed = { ...staticCluster('x'), altStatName: 'second' }
    const after = goOn(
      running('sotw'),
      response(clusterType, 'c2', [staticCluster('x'), changed]),
      response(listenerType, 'l2', [listener('l1', 1, 't1'), listener('l1', 9, 't1')]),
    )
    expect(after.sent).toEqual([
      [
        'ClusterLoadAssignment [] v=1 n=e1',
        'Cluster [] v=1 n=c2 ! Error adding/updating cluster(s) x: duplicate cluster x found',
      ],
      [
        'Listener [] v=1 n=l2 ! Error adding/updating listener(s) l1: duplicate listener l1 found\n',
      ],
    ])
    expect(memoryEnvoy.held(after.state)[clusterType].get('x')?.bytes).toEqual(
      item(clusterType, staticCluster('x')).bytes,
    )
    expect(heldOf(after, listenerType)).toEqual(['l1=1'])
  })

  test('and nothing is refused, of route tables', () => {
    const twice = response(routeType, 'r2', [table('t1', 'e'), table('t1', 'a')])
    const after = goOn(running('sotw'), twice)
    expect(after.sent).toEqual([['RouteConfiguration [t1,t2] v=1 n=r2']])
    const asked = memoryEnvoy.request(after.state, { listener: 'l1', host: 'x', path: '/' })
    expect(asked).toMatchObject({ _tag: 'Forwarded', cluster: 'e' })
  })
})

test('a resource whose inner name is another one is refused (2.2, 23)', () => {
  const bytes = Cluster.encode(staticCluster('other')).finish()
  const renamed = { ...item(clusterType, staticCluster('x')), bytes }
  const after = goOn(running('delta'), response(clusterType, 'c2', [], { resources: [renamed] }))
  expect(after.sent[0]?.[0]).toContain('unexpected name (expecting x): other')
})

describe('an accepted response', () => {
  test('of clusters or listeners is the whole state of the world: the rest is deleted (2.3, 25; S7)', () => {
    const one = response(listenerType, 'l2', [listener('l2', 2, 't2')], { version: '2' })
    const after = goOn(running('sotw'), one)
    expect(heldOf(after, listenerType)).toEqual(['l2=2'])
    expect(heldOf(goOn(after, drained), routeType)).toEqual(['t2=1'])
  })

  test('of routes or endpoints deletes nothing that it leaves out (2.3, 26; S6)', () => {
    const after = goOn(
      running('sotw'),
      response(routeType, 'r2', [table('t2')], { version: '2' }),
      response(routeType, 'r3', [], { version: '3' }),
      response(endpointType, 'e2', [], { version: '2' }),
    )
    expect(heldOf(after, routeType)).toEqual(['t1=1', 't2=2'])
    expect(heldOf(after, endpointType)).toEqual(['e=1'])
    expect(after.sent[1]).toEqual(['RouteConfiguration [t1,t2] v=3 n=r3'])
  })

  test('that removes a route table is accepted, and the table goes on working (E5)', () => {
    const removed = response(routeType, 'r2', [], { removed: ['t1'] })
    const after = goOn(running('delta'), removed)
    expect(after.sent).toEqual([['RouteConfiguration n=r2']])
    const asked = memoryEnvoy.request(after.state, { listener: 'l1', host: 'x', path: '/' })
    expect(asked).toMatchObject({ _tag: 'Forwarded', cluster: 'a' })
    const again = goOn(after, disconnected, connected)
    expect(again.sent[1]?.[3]).toBe('RouteConfiguration +[t1,t2] t2=1')
  })

  test('that removes a route table which has not come yet leaves its port closed', () => {
    const envoy = play(
      { variant: 'delta' },
      response(clusterType, 'c1', []),
      response(listenerType, 'l1', [listener('l', 1, 't')]),
      response(routeType, 'r1', [], { removed: ['t'] }),
    )
    const asked = memoryEnvoy.request(envoy.state, { listener: 'l', host: 'x', path: '/' })
    expect(asked).toEqual({ _tag: 'ConnectionRefused' })
  })

  test('that removes endpoints is accepted, and the hosts go on working (E7)', () => {
    const removed = response(endpointType, 'e2', [], { removed: ['e'] })
    expect(heldOf(goOn(running('delta'), removed), endpointType)).toEqual(['e=1'])
  })

  test('that removes a cluster or a listener in delta takes it away (E10, E13)', () => {
    const after = goOn(
      running('delta'),
      response(clusterType, 'c2', [], { removed: ['a'] }),
      response(listenerType, 'l2', [], { removed: ['l2'] }),
    )
    expect(heldOf(after, clusterType)).toEqual(['e=1'])
    expect(heldOf(after, listenerType)).toEqual(['l1=1'])
    const ask = (at: string) =>
      memoryEnvoy.request(after.state, { listener: at, host: 'x', path: '/' })
    expect(ask('l1')).toEqual({ _tag: 'ServiceUnavailable', flag: 'NC', cluster: 'a' })
    expect(ask('l2')).toEqual({ _tag: 'ConnectionRefused' })
  })

  test('may remove what the client has never had (F6)', () => {
    const unknown = response(clusterType, 'c2', [], { removed: ['nobody'] })
    expect(goOn(running('delta'), unknown).sent).toEqual([['Cluster n=c2']])
  })

  test.each(both)('of a name that was not asked for has no effect (G4; %s)', (variant) => {
    const stranger = response(routeType, 'r2', [table('stranger')], { version: '2' })
    const after = goOn(running(variant), stranger)
    expect(heldOf(after, routeType)).toEqual(['t1=1', 't2=1'])
    expect(memoryEnvoy.acked(after.state).at(-1)?.nonce).toBe('r2')
  })

  test.each(both)('with new content under the same version is applied (G5; %s)', (variant) => {
    const emptied = response(routeType, 'r2', [table('t1'), table('t2')])
    const { state } = goOn(running(variant), emptied)
    expect(memoryEnvoy.request(state, { listener: 'l1', host: 'x', path: '/' })).toEqual({
      _tag: 'NotFound',
    })
  })
})

describe('with the state of the world, a response of a type that nobody watches any more', () => {
  const unwatched = () =>
    goOn(running('sotw'), response(listenerType, 'l2', [], { version: '2' }), drained)

  test('is answered with its nonce and the old version, and is not applied (S8)', () => {
    const late = response(routeType, 'r2', [table('t1')], { version: '2' })
    const after = goOn(unwatched(), late)
    expect(after.sent).toEqual([['RouteConfiguration [] v=1 n=r2']])
    expect(memoryEnvoy.acked(after.state).some(({ nonce }) => nonce === 'r2')).toBe(false)
  })

  test('gets no reply where it is empty, and its nonce and version stand in the next request (S9)', () => {
    const empty = response(routeType, 'r2', [], { version: '2' })
    const after = goOn(unwatched(), empty)
    expect(after.sent).toEqual([[]])
    const again = response(listenerType, 'l3', [listener('l1', 1, 't1')], { version: '3' })
    expect(goOn(after, again).sent[0]?.[0]).toBe('RouteConfiguration [t1] v=2 n=r2')
  })
})

test('the log of answers is bounded', () => {
  const responses = Array.from({ length: memoryEnvoy.keptAnswers + 5 }, (_, index) =>
    response(clusterType, `n${index}`, []),
  )
  const { state } = play({ variant: 'delta' }, ...responses)
  expect(memoryEnvoy.acked(state)).toHaveLength(memoryEnvoy.keptAnswers)
  expect(memoryEnvoy.acked(state)[0]?.nonce).toBe('n5')
})
