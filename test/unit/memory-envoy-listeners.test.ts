import { describe, expect, test } from 'vitest'
import * as memoryEnvoy from '../../src/adapters/memory/envoy/client/index.js'
import { start } from '../../src/adapters/memory/envoy/client/index.js'
import {
  ask,
  at,
  clusterType,
  connected,
  disconnected,
  edsCluster,
  goOn,
  heldOf,
  listener,
  listenerType,
  node,
  play,
  type Played,
  response,
  routeType,
  staticCluster,
  table,
} from '../support/memory-envoy.js'

const both = ['sotw', 'delta'] as const
type Options = Parameters<typeof play>[0]

const listenersOf = (nonce: string, ...messages: ReadonlyArray<ReturnType<typeof listener>>) =>
  response(listenerType, nonce, messages, { version: nonce })
const l1 = listener('l1', 1, 't1')

/** Serves cluster `a` behind listener `l1` on port 1, with table `t1`. */
const serving = (options: Options): Played =>
  play(
    options,
    response(clusterType, 'c1', [staticCluster('a'), staticCluster('b')]),
    listenersOf('l1', l1),
    response(routeType, 'r1', [table('t1', 'a')]),
  )

/** Opens a connection, and fails where nobody listens. */
const connect = ({ state }: Played, to: string | number): readonly [Played, number] => {
  const [next, connection] = memoryEnvoy.openConnection(state, to)
  if (connection === undefined) throw new Error(`nobody listens at ${to}`)
  return [{ state: next, sent: [] }, connection]
}

const gone = (variant: 'sotw' | 'delta', nonce: string) =>
  response(listenerType, nonce, [], {
    version: nonce,
    removed: variant === 'delta' ? ['l1'] : [],
  })

describe('a listener whose table has not come', () => {
  test.each(both)('is accepted at once, and its port stays closed (E2, E12, X9; %s)', (variant) => {
    const waiting = goOn(serving({ variant }), listenersOf('l2', l1, listener('l2', 2, 't2')))
    expect(waiting.sent[0]?.at(-1)).toMatch(/^Listener .*n=l2$/)
    expect([ask(waiting, 1), ask(waiting, 2)]).toEqual(['a', 'ConnectionRefused'])
    expect(memoryEnvoy.openConnection(waiting.state, 'l2')[1]).toBeUndefined()
    const open = goOn(waiting, response(routeType, 'r2', [table('t2', 'b')], { version: '2' }))
    expect(ask(open, 2)).toBe('b')
  })

  test.each(both)('opens with an empty table after 15 s (%s)', (variant) => {
    const waiting = goOn(
      serving({ variant }),
      at(1_000),
      listenersOf('l2', l1, listener('l2', 2, 't2')),
      at(15_999),
    )
    expect(ask(waiting, 2)).toBe('ConnectionRefused')
    expect(memoryEnvoy.nextTimer(waiting.state)).toBe(16_000)
    expect(ask(goOn(waiting, at(16_000)), 2)).toBe('NotFound')
  })

  test('waits no longer because another one came', () => {
    const [second, third] = [listener('l2', 2, 't2'), listener('l3', 3, 't3')]
    const waiting = goOn(
      serving({ variant: 'delta' }),
      at(1_000),
      listenersOf('l2', second),
      at(5_000),
      listenersOf('l3', third),
      at(16_000),
    )
    expect([ask(waiting, 2), ask(waiting, 3)]).toEqual(['NotFound', 'ConnectionRefused'])
    expect(ask(goOn(waiting, at(20_000)), 3)).toBe('NotFound')
  })

  test('waits without end for a table that is said not to be there (F12)', () => {
    const waiting = goOn(
      serving({ variant: 'delta' }),
      listenersOf('l2', listener('l2', 2, 't2')),
      response(routeType, 'r2', [], { removed: ['t2'] }),
      at(1e9),
    )
    expect(ask(waiting, 2)).toBe('ConnectionRefused')
    expect(ask(goOn(waiting, response(routeType, 'r3', [table('t2', 'b')])), 2)).toBe('b')
  })

  test.each(both)('opens with an empty table when any table is refused (%s)', (variant) => {
    const refuse: Options['refuse'] = (_type, name) => (name === 't2' ? 'no' : undefined)
    const open = goOn(
      serving({ variant, refuse }),
      listenersOf('l2', l1, listener('l2', 2, 't2')),
      response(routeType, 'r2', [table('t2')]),
    )
    expect(ask(open, 2)).toBe('NotFound')
  })

  test('lets the old form serve that it replaces', () => {
    const waiting = goOn(serving({ variant: 'delta' }), listenersOf('l2', listener('l1', 1, 't2')))
    expect(ask(waiting, 'l1')).toBe('a')
    expect(heldOf(waiting, listenerType)).toEqual(['l1=l1'])
    const next = goOn(waiting, response(routeType, 'r2', [table('t2', 'b')]))
    expect(ask(next, 'l1')).toBe('b')
    expect(heldOf(next, listenerType)).toEqual(['l1=l2'])
  })

  test('is called off by the old form, and its table unsubscribed from at once', () => {
    const back = goOn(
      serving({ variant: 'delta' }),
      listenersOf('l2', listener('l1', 1, 't2')),
      listenersOf('l3', l1),
    )
    expect(back.sent[1]).toEqual(['RouteConfiguration -[t2]', 'Listener n=l3'])
    expect(heldOf(back, listenerType)).toEqual(['l1=l3'])
  })
})

describe('the first listeners', () => {
  test.each(both)('open together, when the last of their tables has come (%s)', (variant) => {
    const one = play(
      { variant },
      response(clusterType, 'c1', [staticCluster('a')]),
      listenersOf('l1', l1, listener('l2', 2, 't2')),
      response(routeType, 'r1', [table('t1', 'a')]),
    )
    expect([ask(one, 1), ask(one, 2)]).toEqual(['ConnectionRefused', 'ConnectionRefused'])
    const two = goOn(one, response(routeType, 'r2', [table('t2', 'a')]))
    expect([ask(two, 1), ask(two, 2)]).toEqual(['a', 'a'])
  })

  test('are replaced without a drain while none is open', () => {
    const changed = play(
      { variant: 'delta' },
      response(clusterType, 'c1', [staticCluster('a')]),
      listenersOf('l1', l1),
      listenersOf('l2', listener('l1', 1, 't2')),
    )
    expect(changed.sent[3]).toEqual(['RouteConfiguration +[t2] -[t1]', 'Listener n=l2'])
    expect(changed.state.listeners.draining).toEqual([])
  })
})

describe('connections that were open before', () => {
  test.each(both)(
    'go on when their listener is removed, until the drain ends; new ones are refused (E13; %s)',
    (variant) => {
      const [open, connection] = connect(serving({ variant, drainMs: 5_000 }), 1)
      const removed = goOn(open, at(1_000), gone(variant, 'l2'), at(5_999))
      expect(removed.sent[1]?.at(-1)).toMatch(/^Listener .*n=l2$/)
      expect(ask(removed, 1)).toBe('ConnectionRefused')
      expect(ask(removed, 1, connection)).toBe('a')
      expect(memoryEnvoy.nextTimer(removed.state)).toBe(6_000)
      expect(ask(goOn(removed, at(6_000)), 1, connection)).toBe('ConnectionRefused')
    },
  )

  test('go on with the old tables when their listener changes, and see those change (design 5.4)', () => {
    const [open, connection] = connect(serving({ variant: 'delta' }), 'l1')
    const changed = goOn(
      open,
      listenersOf('l2', listener('l1', 1, 't2')),
      response(routeType, 'r2', [table('t2')], { version: '2' }),
    )
    expect([ask(changed, 'l1'), ask(changed, 'l1', connection)]).toEqual(['NotFound', 'a'])
    const old = goOn(changed, response(routeType, 'r3', [table('t1', 'b')], { version: '3' }))
    expect([ask(old, 'l1'), ask(old, 'l1', connection)]).toEqual(['NotFound', 'b'])
  })

  test('drain for 10 minutes if nothing else is said', () => {
    const [open, connection] = connect(serving({ variant: 'delta' }), 1)
    const removed = goOn(open, gone('delta', 'l2'), at(599_999))
    expect(ask(removed, 1, connection)).toBe('a')
    expect(ask(goOn(removed, at(600_000)), 1, connection)).toBe('ConnectionRefused')
  })

  test('see at once that a route is gone from their table (E6, F13, F14)', () => {
    const [open, connection] = connect(serving({ variant: 'delta' }), 1)
    const emptied = goOn(open, response(routeType, 'r2', [table('t1')]))
    expect(ask(emptied, 1, connection)).toBe('NotFound')
  })

  test('belong to their own form of a listener, even where an equal one came later', () => {
    const [open, connection] = connect(serving({ variant: 'delta', drainMs: 5_000 }), 1)
    const [back, newer] = connect(goOn(open, gone('delta', 'l2'), listenersOf('l3', l1)), 1)
    expect(newer).not.toBe(connection)
    const late = goOn(back, at(5_000))
    expect([ask(late, 1, connection), ask(late, 1, newer)]).toEqual(['ConnectionRefused', 'a'])
  })

  test('are as many as `keptConnections`: the oldest makes room', () => {
    let [open, first] = connect(serving({ variant: 'delta' }), 1)
    expect(ask(open, 1, first)).toBe('a')
    const many = new Map(Array.from({ length: memoryEnvoy.keptConnections }, (_, id) => [id, 1]))
    const connections = { open: many, count: memoryEnvoy.keptConnections }
    ;[open, first] = connect({ state: { ...open.state, connections }, sent: [] }, 1)
    expect(open.state.connections.open.size).toBe(memoryEnvoy.keptConnections)
    expect(ask(open, 1, 0)).toBe('ConnectionRefused')
    expect([ask(open, 1, 1), ask(open, 1, first)]).toEqual(['a', 'a'])
  })
})

describe('the tables of a listener that drains', () => {
  test('stay subscribed and are updated, then are given up, in delta (E13)', () => {
    const removed = goOn(
      serving({ variant: 'delta', drainMs: 5_000 }),
      gone('delta', 'l2'),
      at(4_999),
    )
    expect(removed.sent).toEqual([['Listener n=l2'], []])
    const updated = goOn(removed, response(routeType, 'r2', [table('t1', 'b')], { version: '2' }))
    expect(heldOf(updated, routeType)).toEqual(['t1=2'])
    const ended = goOn(updated, at(5_000))
    expect(ended.sent).toEqual([['RouteConfiguration -[t1]']])
    expect(heldOf(ended, routeType)).toEqual([])
  })

  test('are given up by a request with the names that are left, with the state of the world (S7)', () => {
    const two = goOn(
      serving({ variant: 'sotw', drainMs: 5_000 }),
      listenersOf('l2', l1, listener('l2', 2, 't2')),
      response(routeType, 'r2', [table('t2', 'b')], { version: '2' }),
      listenersOf('l3', listener('l2', 2, 't2')),
      at(5_000),
    )
    expect(two.sent.slice(2)).toEqual([
      ['Listener [] v=l3 n=l3'],
      ['RouteConfiguration [t2] v=2 n=r2'],
    ])
  })

  test('are asked for again on a new stream', () => {
    const again = goOn(serving({ variant: 'delta' }), gone('delta', 'l2'), disconnected, connected)
    expect(again.sent[2]?.at(-1)).toBe('RouteConfiguration +[t1] t1=1')
  })

  test('are given up in silence where there is no stream', () => {
    const off = goOn(
      serving({ variant: 'delta', drainMs: 1 }),
      gone('delta', 'l2'),
      disconnected,
      at(1),
    )
    expect(off.sent.slice(1)).toEqual([[], []])
    expect(goOn(off, connected).sent[0]).toEqual(['Cluster of envoy-1 a=1 b=1', 'Listener'])
  })
})

describe('a port', () => {
  test.each(both)(
    'that somebody else has makes a listener refused, by its name; the same bytes are accepted once it is free (%s)',
    (variant) => {
      let busy = true
      const before = serving({ variant, busyPorts: (port) => busy && port === 2 })
      const both = listenersOf('l2', l1, listener('l2', 2, 't1'))
      const refused = goOn(before, both)
      expect(refused.sent[0]?.at(-1)).toContain(
        "! Error adding/updating listener(s) l2: cannot bind '10.0.0.1:2': Address already in use\n",
      )
      expect([ask(refused, 1), ask(refused, 2)]).toEqual(['a', 'ConnectionRefused'])
      busy = false
      const accepted = goOn(refused, { ...both, nonce: 'l3' })
      expect(accepted.sent[0]?.at(-1)).not.toContain('!')
      expect(ask(accepted, 2)).toBe('a')
    },
  )

  test('that is busy leaves a listener that would move there in its old form', () => {
    const before = serving({ variant: 'delta', busyPorts: (port) => port === 2 })
    const refused = goOn(before, listenersOf('l2', listener('l1', 2, 't1')))
    expect(memoryEnvoy.nacked(refused.state)).toHaveLength(1)
    expect([ask(refused, 1), ask(refused, 2)]).toEqual(['a', 'ConnectionRefused'])
  })

  test('that the Envoy has itself is not asked for again: for another form, after a removal, while a drain lasts', () => {
    let busy = false
    const before = serving({ variant: 'delta', drainMs: 5_000, busyPorts: () => busy })
    busy = true
    const other = listener('l1', 1, 't1')
    const after = goOn(
      before,
      listenersOf('l2', { ...other, statPrefix: 'x' }),
      gone('delta', 'l3'),
      listenersOf('l4', other),
    )
    expect(memoryEnvoy.nacked(after.state)).toEqual([])
    const late = goOn(after, gone('delta', 'l5'), at(5_000), listenersOf('l6', other))
    expect(memoryEnvoy.nacked(late.state)).toHaveLength(1)
  })

  test('is for one listener alone: a second one is refused, of two new ones the first counts', () => {
    const two = listenersOf(
      'l2',
      listener('l2', 1, 't1'),
      listener('l3', 3, 't1'),
      listener('l4', 3, 't1'),
    )
    const after = goOn(serving({ variant: 'delta' }), two)
    expect(heldOf(after, listenerType)).toEqual(['l1=l1', 'l3=l2'])
    const { message } = memoryEnvoy.nacked(after.state)[0] ?? {}
    expect(message?.split('\n').map((line) => line.slice(0, 75))).toEqual([
      "Error adding/updating listener(s) l2: error adding listener: 'l2' has dupli",
      "l4: error adding listener: 'l4' has duplicate address '10.0.0.1:3' as exist",
      '',
    ])
  })

  test('may go to another listener in the response that removes the first', () => {
    const moved = response(listenerType, 'l2', [listener('l2', 1, 't1')], { removed: ['l1'] })
    const after = goOn(serving({ variant: 'delta', busyPorts: () => false }), moved)
    expect(memoryEnvoy.nacked(after.state)).toEqual([])
    expect(ask(after, 1)).toBe('a')
  })
})

describe('time', () => {
  test('that an Envoy waits for its first clusters and listeners is 15 s each', () => {
    const silent = play({ variant: 'delta' }, at(14_999))
    expect(memoryEnvoy.nextTimer(silent.state)).toBe(15_000)
    expect(silent.sent.flat()).toEqual(['Cluster of envoy-1'])
    const asks = goOn(silent, at(15_000))
    expect(asks.sent).toEqual([['Listener']])
    expect(memoryEnvoy.nextTimer(asks.state)).toBe(30_000)
    expect(memoryEnvoy.nextTimer(goOn(asks, at(30_000)).state)).toBeUndefined()
  })

  test('that has passed before the first stream opens counts', () => {
    const early = goOn(
      { state: start({ node, variant: 'delta' }, 7), sent: [] },
      at(15_007),
      connected,
    )
    expect(early.sent).toEqual([[], ['Cluster of envoy-1', 'Listener']])
  })

  test('does not go back', () => {
    const { state } = goOn(serving({ variant: 'delta' }), at(5_000), at(1_000))
    expect(state.nowMs).toBe(5_000)
  })
})

test('a restarted Envoy has its options, its time, and nothing else', () => {
  const options = { variant: 'delta', seed: 3 } as const
  const before = goOn(serving(options), at(4_000), response(clusterType, 'c2', [edsCluster('e')]))
  const state = memoryEnvoy.restarted(before.state)
  expect(state).toEqual(start({ node, ...options }, 4_000))
  const again = goOn({ state, sent: [] }, connected)
  expect(again.sent).toEqual([['Cluster of envoy-1']])
  expect(ask(again, 1)).toBe('ConnectionRefused')
  expect(memoryEnvoy.nextTimer(state)).toBe(19_000)
})
