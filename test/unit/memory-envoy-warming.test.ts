import { describe, expect, test } from 'vitest'
import * as memoryEnvoy from '../../src/adapters/memory/envoy/client/index.js'
import {
  ask,
  assignment,
  at,
  clusterType,
  connected,
  disconnected,
  dnsCluster,
  edsCluster,
  endpointType,
  goOn,
  heldOf,
  listener,
  listenerType,
  play,
  type Played,
  response,
  routeType,
  staticCluster,
  table,
} from '../support/memory-envoy.js'

const both = ['sotw', 'delta'] as const
type Options = Parameters<typeof play>[0]

/** Serves `a`, an EDS cluster with endpoints, behind listener `l`. */
const serving = (options: Options): Played =>
  play(
    options,
    response(clusterType, 'c1', [edsCluster('a')]),
    response(endpointType, 'e1', [assignment('a', 1)]),
    response(listenerType, 'l1', [listener('l', 1, 't')]),
    response(routeType, 'r1', [table('t', 'a')]),
  )

const changedA = edsCluster('a', { altStatName: 'other' })
const withB = (nonce: string, ...more: ReadonlyArray<ReturnType<typeof edsCluster>>) =>
  response(clusterType, nonce, [edsCluster('a'), edsCluster('b'), ...more], { version: nonce })
const toB = response(routeType, 'rb', [table('t', 'b')], { version: 'b' })
const endpointsOfB = response(endpointType, 'eb', [assignment('b', 2)], { version: 'b' })

/** Of the requests that were sent, those that are about clusters. */
const clusterLines = ({ sent }: Played): ReadonlyArray<string> =>
  sent.flat().filter((line) => line.startsWith('Cluster '))

describe('a new cluster that warms', () => {
  test.each(both)(
    'does not exist for the router before its endpoints come, and then the answer is given before that to the endpoints (E3; %s)',
    (variant) => {
      const waiting = goOn(serving({ variant }), withB('c2'), toB)
      expect(clusterLines(waiting)).toEqual([])
      expect(ask(waiting, 'l')).toBe('NC b')
      expect(heldOf(waiting, clusterType)).toEqual(['a=c2'])
      const ready = goOn(waiting, endpointsOfB)
      expect(ready.sent[0]?.map((line) => line.split(' ')[0])).toEqual([
        'Cluster',
        'ClusterLoadAssignment',
      ])
      expect(ask(ready, 'l')).toBe('b')
    },
  )

  test.each(both)('holds up no other type (F8; %s)', (variant) => {
    const waiting = goOn(
      serving({ variant }),
      withB('c2'),
      response(routeType, 'r2', [table('t')], { version: '2' }),
    )
    expect(waiting.sent[1]?.[0]).toMatch(/^RouteConfiguration .*n=r2$/)
    expect(ask(waiting, 'l')).toBe('NotFound')
  })

  test.each(both)(
    'is ready with an empty assignment, and has no endpoint then (F10; %s)',
    (variant) => {
      const empty = response(endpointType, 'e2', [assignment('b')])
      const ready = goOn(serving({ variant }), withB('c2'), toB, empty)
      expect(clusterLines(ready)).toHaveLength(1)
      expect(ask(ready, 'l')).toBe('UH b')
    },
  )

  test('is ready without endpoints where they are said not to be there (F11)', () => {
    const absent = response(endpointType, 'e2', [], { removed: ['b'] })
    const ready = goOn(serving({ variant: 'delta' }), withB('c2'), toB, absent)
    expect(clusterLines(ready)).toEqual(['Cluster n=c2'])
    expect(ask(ready, 'l')).toBe('UH b')
  })

  test.each(both)(
    'is ready without endpoints where those that come are refused (%s)',
    (variant) => {
      const refuse: Options['refuse'] = (type, name) =>
        type === endpointType && name === 'b' ? 'no' : undefined
      const ready = goOn(serving({ variant, refuse }), withB('c2'), toB, endpointsOfB)
      expect(clusterLines(ready)).toHaveLength(1)
      expect(ask(ready, 'l')).toBe('UH b')
    },
  )

  test('is let go when it is removed, and all that was owed is answered in order (F9)', () => {
    const gone = goOn(
      serving({ variant: 'delta' }),
      withB('c2'),
      response(clusterType, 'c3', [], { removed: ['b'] }),
    )
    expect(gone.sent[1]).toEqual(['ClusterLoadAssignment -[b]', 'Cluster n=c2', 'Cluster n=c3'])
  })

  test('is let go when the state of the world leaves it out, and the newest response is answered alone (F9)', () => {
    const only = response(clusterType, 'c3', [edsCluster('a')], { version: '3' })
    expect(goOn(serving({ variant: 'sotw' }), withB('c2'), only).sent[1]).toEqual([
      'ClusterLoadAssignment [a] v=1 n=e1',
      'Cluster [] v=3 n=c3',
    ])
  })

  test('shares endpoints with an older cluster and is not asked for in delta: what was sent before does not count', () => {
    const named = edsCluster('b', { edsClusterConfig: { serviceName: 'a' } })
    const second = response(clusterType, 'c2', [named])
    const waiting = goOn(serving({ variant: 'delta' }), second, toB)
    expect(waiting.sent[0]).toEqual([])
    expect(ask(waiting, 'l')).toBe('NC b')
    expect(ask(goOn(waiting, response(endpointType, 'e2', [assignment('a', 3)])), 'l')).toBe('b')
  })

  test('gets no endpoints by "there are none", while an older cluster of the same service keeps them', () => {
    const named = edsCluster('b', { edsClusterConfig: { serviceName: 'a' } })
    const ready = goOn(
      serving({ variant: 'delta' }),
      response(clusterType, 'c2', [named]),
      response(endpointType, 'e2', [], { removed: ['a'] }),
    )
    expect(ask(ready, 'l')).toBe('a')
    expect(ask(goOn(ready, toB), 'l')).toBe('UH b')
  })
})

describe('answers to responses with clusters that wait', () => {
  const bad: Options['refuse'] = (_type, name) => (name === 'bad' ? 'it is bad' : undefined)

  test('are given one for each response, oldest first, in delta (E3, F7)', () => {
    const third = response(clusterType, 'c3', [staticCluster('s')])
    const waiting = goOn(serving({ variant: 'delta' }), withB('c2'), third, withB('c4'))
    expect(clusterLines(waiting)).toEqual([])
    expect(clusterLines(goOn(waiting, endpointsOfB))).toEqual([
      'Cluster n=c2',
      'Cluster n=c3',
      'Cluster n=c4',
    ])
  })

  test('are given for the newest alone, with the state of the world (E3, S3)', () => {
    const waiting = goOn(serving({ variant: 'sotw' }), withB('c2'), withB('c3'), withB('c4'))
    const ready = goOn(waiting, endpointsOfB)
    expect(clusterLines(ready)).toEqual(['Cluster [] v=c4 n=c4'])
    expect(memoryEnvoy.acked(ready.state).map(({ nonce }) => nonce)).toEqual([
      'c1',
      'e1',
      'l1',
      'r1',
      'c4',
      'eb',
    ])
  })

  test.each([
    ['sotw', 'Cluster [] v=1 n=c2 ! Error adding/updating cluster(s) bad: it is bad'],
    ['delta', 'Cluster n=c2 ! Error adding/updating cluster(s) bad: it is bad'],
  ] as const)(
    'are refusals as well, and the good cluster works afterwards (E8; %s)',
    (variant, line) => {
      const waiting = goOn(serving({ variant, refuse: bad }), withB('c2', edsCluster('bad')), toB)
      expect(clusterLines(waiting)).toEqual([])
      expect(memoryEnvoy.nacked(waiting.state)).toEqual([])
      const ready = goOn(waiting, endpointsOfB)
      expect(clusterLines(ready)).toEqual([line])
      expect(ask(ready, 'l')).toBe('b')
    },
  )

  test('tell an older refusal with a newer, accepted version, with the state of the world', () => {
    const waiting = goOn(
      serving({ variant: 'sotw', refuse: bad }),
      withB('c2', edsCluster('bad')),
      withB('c3'),
    )
    expect(clusterLines(goOn(waiting, endpointsOfB))).toEqual([
      'Cluster [] v=c3 n=c3 ! Error adding/updating cluster(s) bad: it is bad',
    ])
  })

  test.each(both)('are lost with the stream (%s)', (variant) => {
    const broken = goOn(serving({ variant }), withB('c2'), disconnected, connected, endpointsOfB)
    expect(clusterLines(broken).some((line) => line.includes('c2 n='))).toBe(false)
    expect(memoryEnvoy.acked(broken.state).some(({ nonce }) => nonce === 'c2')).toBe(false)
  })

  test.each(both)(
    'are none while the very first clusters warm: those are answered at once (E1; %s)',
    (variant) => {
      const first = play({ variant }, withB('c1'), response(clusterType, 'c2', [edsCluster('a')]))
      expect(clusterLines(first).map((line) => line.replace(/.* n=/, ''))).toEqual([
        variant === 'sotw' ? 'Cluster of envoy-1 []' : 'Cluster of envoy-1',
        'c1',
        'c2',
      ])
    },
  )
})

describe('a new stream that is opened while a cluster warms', () => {
  test.each([
    [
      'sotw',
      [
        'ClusterLoadAssignment of envoy-1 [a,b] v=1',
        'Listener [] v=1',
        'RouteConfiguration [t] v=1',
      ],
    ],
    [
      'delta',
      [
        'ClusterLoadAssignment of envoy-1 +[a,b] a=1',
        'Listener l=1',
        'RouteConfiguration +[t] t=1',
      ],
    ],
  ] as const)(
    'asks for everything but clusters, and for those once it is ready (%s)',
    (variant, expected) => {
      const again = goOn(serving({ variant }), withB('c2'), disconnected, connected)
      expect(again.sent[2]).toEqual(expected)
      const ready = goOn(again, endpointsOfB)
      expect(ready.sent[0]?.[0]).toBe(variant === 'sotw' ? 'Cluster [] v=c2' : 'Cluster a=c2 b=c2')
    },
  )

  test.each([
    ['sotw', ['ClusterLoadAssignment [a] v=1', 'Cluster [] v=3 n=c3']],
    ['delta', ['Cluster a=c2 b=c2', 'ClusterLoadAssignment -[b]', 'Cluster n=c3']],
  ] as const)(
    'takes clusters that it has not asked for, which can free it (%s)',
    (variant, expected) => {
      const again = goOn(serving({ variant }), withB('c2'), disconnected, connected)
      const unasked = response(clusterType, 'c3', variant === 'sotw' ? [edsCluster('a')] : [], {
        version: '3',
        removed: variant === 'sotw' ? [] : ['b'],
      })
      expect(goOn(again, unasked).sent[0]).toEqual(expected)
    },
  )
})

describe('a changed cluster', () => {
  const changed = response(clusterType, 'c2', [changedA], { version: '2' })

  test.each(both)('serves in its old form until the new one is ready (E11; %s)', (variant) => {
    const waiting = goOn(serving({ variant }), changed)
    expect(ask(waiting, 'l')).toBe('a')
    expect(heldOf(waiting, clusterType)).toEqual(['a=1'])
    const ready = goOn(waiting, response(endpointType, 'e2', [assignment('a')]))
    expect(heldOf(ready, clusterType)).toEqual(['a=2'])
    expect(ask(ready, 'l')).toBe('UH a')
  })

  test('asks for no endpoints in delta, and goes on with those that it knows after 15 s (E11)', () => {
    const waiting = goOn(serving({ variant: 'delta' }), at(1_000), changed, at(15_999))
    expect(waiting.sent.flat()).toEqual([])
    const ready = goOn(waiting, at(16_000))
    expect(ready.sent).toEqual([['Cluster n=c2']])
    expect(heldOf(ready, clusterType)).toEqual(['a=2'])
    expect(ask(ready, 'l')).toBe('a')
  })

  test('asks again with the same names and nonce, with the state of the world, also when the old form goes (E11, S4)', () => {
    const ready = goOn(serving({ variant: 'sotw' }), changed, at(15_000))
    expect(ready.sent).toEqual([
      ['ClusterLoadAssignment [a] v=1 n=e1'],
      ['ClusterLoadAssignment [a] v=1 n=e1', 'Cluster [] v=2 n=c2'],
    ])
  })

  test('has no endpoints after 15 s where none came, or where those were said to be gone', () => {
    const gone = response(endpointType, 'e2', [], { removed: ['a'] })
    const late = goOn(serving({ variant: 'delta' }), gone, changed, at(15_000))
    expect(ask(late, 'l')).toBe('UH a')
    const never = goOn(serving({ variant: 'delta' }), withB('c2'), toB, at(15_000))
    expect(ask(never, 'l')).toBe('UH b')
  })

  test('waits as long as it says itself', () => {
    const seconds = (value: bigint): ReturnType<typeof response> =>
      response(clusterType, 'c2', [
        edsCluster('b', {
          edsClusterConfig: { edsConfig: { initialFetchTimeout: { seconds: value } } },
        }),
      ])
    const two = goOn(serving({ variant: 'delta' }), seconds(2n))
    expect(memoryEnvoy.nextTimer(two.state)).toBe(2_000)
    expect(clusterLines(goOn(two, at(2_000)))).toEqual(['Cluster n=c2'])
    const endless = goOn(serving({ variant: 'delta' }), seconds(0n))
    expect(memoryEnvoy.nextTimer(endless.state)).toBeUndefined()
    expect(clusterLines(goOn(endless, at(1e9)))).toEqual([])
  })

  test('that is changed back while it warms warms once more, in its old form', () => {
    const back = response(clusterType, 'c3', [edsCluster('a')], { version: '3' })
    const waiting = goOn(serving({ variant: 'delta' }), changed, at(14_000), back, at(15_000))
    expect(clusterLines(waiting)).toEqual([])
    expect(clusterLines(goOn(waiting, at(29_000)))).toEqual(['Cluster n=c2', 'Cluster n=c3'])
  })

  test('that stays as it is warms not at all, and is not looked at again', () => {
    let refusing = false
    const refuse: Options['refuse'] = () => (refusing ? 'no' : undefined)
    const before = serving({ variant: 'delta', refuse })
    refusing = true
    const same = response(clusterType, 'c2', [edsCluster('a')], { version: '2' })
    expect(goOn(before, same).sent).toEqual([['Cluster n=c2']])
  })
})

test.each(both)(
  'any end of a subscription to endpoints makes a client ask again only with the state of the world (%s)',
  (variant) => {
    const named = edsCluster('b', { edsClusterConfig: { serviceName: 'a' } })
    const two = goOn(
      serving({ variant }),
      response(clusterType, 'c2', [edsCluster('a'), named], { version: '2' }),
      response(endpointType, 'e2', [assignment('a', 1)], { version: '2' }),
    )
    const removal =
      variant === 'delta'
        ? response(clusterType, 'c3', [], { removed: ['b'] })
        : response(clusterType, 'c3', [edsCluster('a')], { version: '3' })
    expect(goOn(two, removal).sent[0]).toEqual(
      variant === 'delta'
        ? ['Cluster n=c3']
        : ['ClusterLoadAssignment [a] v=2 n=e2', 'Cluster [] v=3 n=c3'],
    )
  },
)

describe('a cluster that resolves names', () => {
  const silent = { variant: 'delta', resolves: () => false } as const
  const named = (settings: Parameters<typeof dnsCluster>[2] = {}) =>
    response(clusterType, 'c2', [dnsCluster('b', 'shop.test', settings)])

  test('is ready at once where names resolve, which they do if nothing else is said', () => {
    const ready = goOn(serving({ variant: 'delta' }), named(), toB)
    expect(clusterLines(ready)).toEqual(['Cluster n=c2'])
    expect(ask(ready, 'l')).toBe('b')
  })

  test('warms for ever behind a silent resolver, and withholds every answer', () => {
    const waiting = goOn(serving(silent), named(), toB, at(1e9))
    expect(clusterLines(waiting)).toEqual([])
    expect(ask(waiting, 'l')).toBe('NC b')
    const gone = response(clusterType, 'c3', [], { removed: ['b'] })
    expect(clusterLines(goOn(waiting, gone))).toEqual(['Cluster n=c2', 'Cluster n=c3'])
  })

  test('does not warm where it is told not to wait, and has no endpoint before its name resolves', () => {
    const hurried = goOn(serving(silent), named({ waitForWarmOnInit: false }), toB)
    expect(clusterLines(hurried)).toEqual(['Cluster n=c2'])
    expect(ask(hurried, 'l')).toBe('UH b')
  })

  test('is ready when its name resolves in the end', () => {
    let answers = false
    const waiting = goOn(
      serving({ variant: 'delta', resolves: () => answers }),
      named(),
      toB,
      at(1),
    )
    expect(clusterLines(waiting)).toEqual([])
    answers = true
    const ready = goOn(waiting, at(2))
    expect(clusterLines(ready)).toEqual(['Cluster n=c2'])
    expect(ask(ready, 'l')).toBe('b')
  })

  test('needs no resolver for addresses', () => {
    const literal = response(clusterType, 'c2', [dnsCluster('b', '10.0.0.7')])
    const ready = goOn(serving(silent), literal, toB)
    expect(clusterLines(ready)).toEqual(['Cluster n=c2'])
    expect(ask(ready, 'l')).toBe('b')
  })
})

describe('a refused cluster that sticks', () => {
  const refuse: Options['refuse'] = (_type, name) =>
    name === 'bad' ? { reason: 'ring hash', sticks: true } : undefined
  const refused = () =>
    goOn(serving({ variant: 'delta', refuse }), response(clusterType, 'c2', [edsCluster('bad')]))
  const more = response(clusterType, 'c3', [staticCluster('s')])

  test('is refused at once where nothing else changes, and asks for no endpoints', () => {
    expect(refused().sent).toEqual([
      ['Cluster n=c2 ! Error adding/updating cluster(s) bad: ring hash'],
    ])
  })

  test('withholds the answers from the next change of any cluster on, until it is removed', () => {
    const stuck = goOn(refused(), more, at(1e9))
    expect(clusterLines(stuck)).toEqual([])
    const freed = goOn(stuck, response(clusterType, 'c4', [], { removed: ['bad'] }))
    expect(clusterLines(freed)).toEqual(['Cluster n=c3', 'Cluster n=c4'])
  })

  test('withholds its own refusal where a good cluster stands beside it', () => {
    const mixed = response(clusterType, 'c2', [edsCluster('bad'), staticCluster('s')])
    const stuck = goOn(serving({ variant: 'delta', refuse }), mixed, at(1e9))
    expect(clusterLines(stuck)).toEqual([])
  })

  test('lets the old form of the cluster serve, and gives way to a good one', () => {
    let form = ''
    const turning: Options['refuse'] = (_type, name) =>
      name === form ? { reason: 'ring hash', sticks: true } : undefined
    const before = serving({ variant: 'delta', refuse: turning })
    form = 'a'
    const worse = goOn(before, response(clusterType, 'c2', [changedA], { version: '2' }))
    expect(ask(worse, 'l')).toBe('a')
    form = ''
    const back = response(clusterType, 'c3', [edsCluster('a')], { version: '3' })
    const again = goOn(worse, back, response(endpointType, 'e2', [assignment('a', 1)]))
    expect(again.sent[0]).toEqual([])
    expect(clusterLines(again)).toEqual(['Cluster n=c3'])
  })

  test('does not stick among the very first clusters', () => {
    const first = response(clusterType, 'c1', [edsCluster('bad'), staticCluster('s')])
    expect(play({ variant: 'delta', refuse }, first).sent[1]?.[0]).toBe('Listener')
  })
})
