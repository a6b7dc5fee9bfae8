import { expect, test } from 'vitest'
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
  listener,
  listenerType,
  play,
  response,
  routeType,
  staticCluster,
  table,
} from '../support/memory-envoy.js'

const clusters = response(clusterType, 'c1', [edsCluster('a'), edsCluster('b')])
const endpoints = response(endpointType, 'e1', [assignment('a', 1), assignment('b', 2)])
const listeners = response(listenerType, 'l1', [listener('http', 10000, 't')])
const routes = response(routeType, 'r1', [table('t', 'a')])
const wholeStart = [clusters, endpoints, listeners, routes] as const

const transcripts = {
  sotw: [
    ['Cluster of envoy-1 []'],
    ['ClusterLoadAssignment [a,b]', 'Cluster [] v=1 n=c1'],
    ['Listener []', 'ClusterLoadAssignment [a,b] v=1 n=e1'],
    ['RouteConfiguration [t]', 'Listener [] v=1 n=l1'],
    ['RouteConfiguration [t] v=1 n=r1'],
  ],
  delta: [
    ['Cluster of envoy-1'],
    ['ClusterLoadAssignment +[a,b]', 'Cluster n=c1'],
    ['Listener', 'ClusterLoadAssignment n=e1'],
    ['RouteConfiguration +[t]', 'Listener n=l1'],
    ['RouteConfiguration n=r1'],
  ],
} as const

test.each(['sotw', 'delta'] as const)(
  'an Envoy asks for clusters, endpoints, listeners and routes in that order, each once what needs it is there, and answers behind it (E1; %s)',
  (variant) => {
    expect(play({ variant }, ...wholeStart).sent).toEqual(transcripts[variant])
  },
)

test('the node is named in the first request of a stream, and in no other (2.1, 1)', () => {
  const again = goOn(play({ variant: 'delta' }, ...wholeStart), disconnected, connected)
  expect(again.sent.flat().filter((line) => line.includes('envoy-1'))).toHaveLength(1)
  expect(again.sent[1]?.[0]).toContain('Cluster of envoy-1')
})

test('a delta client asks for everything by no name, or by the star where it is told to (2.3, 30-32)', () => {
  const star = play({ variant: 'delta', wildcard: 'star' }, response(clusterType, 'c1', []))
  expect(star.sent).toEqual([['Cluster of envoy-1 +[*]'], ['Listener +[*]', 'Cluster n=c1']])
})

test.each(['sotw', 'delta'] as const)(
  'listeners are asked for at once where no cluster waits for endpoints (2.3, 40; %s)',
  (variant) => {
    const none = play({ variant }, response(clusterType, 'c1', []))
    expect(none.sent[1]?.[0]).toMatch(/^Listener/)
    const fixed = play({ variant }, response(clusterType, 'c1', [staticCluster('a')]))
    expect(fixed.sent[1]?.[0]).toMatch(/^Listener/)
  },
)

test.each(['sotw', 'delta'] as const)(
  'listeners are not asked for while one cluster waits for its endpoints (E1; %s)',
  (variant) => {
    const one = play({ variant }, clusters, response(endpointType, 'e1', [assignment('a')]))
    expect(one.sent.flat().some((line) => line.startsWith('Listener'))).toBe(false)
    const both = goOn(one, response(endpointType, 'e2', [assignment('b')]))
    expect(both.sent[0]?.[0]).toMatch(/^Listener/)
  },
)

test('endpoints that a delta server says it does not have keep nobody waiting', () => {
  const removed = response(endpointType, 'e1', [], { removed: ['a', 'b'] })
  expect(play({ variant: 'delta' }, clusters, removed).sent[2]).toEqual([
    'Listener',
    'ClusterLoadAssignment n=e1',
  ])
})

test('a cluster asks for endpoints under the service name that it gives', () => {
  const named = edsCluster('a', { edsClusterConfig: { serviceName: 'shop' } })
  expect(play({ variant: 'delta' }, response(clusterType, 'c1', [named])).sent[1]?.[0]).toBe(
    'ClusterLoadAssignment +[shop]',
  )
})

const onlyA = response(clusterType, 'c2', [edsCluster('a')], { version: '2' })

test('names that nothing needs any more are given up, with all names again in the state of the world (2.3, 26)', () => {
  const sotw = goOn(play({ variant: 'sotw' }, ...wholeStart), onlyA)
  expect(sotw.sent).toEqual([['ClusterLoadAssignment [a] v=1 n=e1', 'Cluster [] v=2 n=c2']])
  expect(heldOf(sotw, endpointType)).toEqual(['a=1'])
})

test('names that nothing needs any more are unsubscribed from in delta (2.3, 36)', () => {
  const remove = response(clusterType, 'c2', [], { removed: ['b'] })
  const delta = goOn(play({ variant: 'delta' }, ...wholeStart), remove)
  expect(delta.sent).toEqual([['ClusterLoadAssignment -[b]', 'Cluster n=c2']])
  expect(heldOf(delta, endpointType)).toEqual(['a=1'])
})

test('the last name that is given up leaves a request without names, once the listener has drained (S7)', () => {
  const none = response(listenerType, 'l2', [], { version: '2' })
  const sotw = goOn(play({ variant: 'sotw', drainMs: 5_000 }, ...wholeStart), none, at(5_000))
  expect(sotw.sent).toEqual([['Listener [] v=2 n=l2'], ['RouteConfiguration [] v=1 n=r1']])
  expect(heldOf(sotw, routeType)).toEqual([])
})

test('a cluster that comes back waits for its endpoints again (E10)', () => {
  const removed = response(clusterType, 'c2', [], { removed: ['a'] })
  const back = response(clusterType, 'c3', [edsCluster('a')])
  const gone = goOn(play({ variant: 'delta' }, ...wholeStart), removed, back)
  expect(gone.sent[1]).toEqual(['ClusterLoadAssignment +[a]'])
  expect(heldOf(gone, endpointType)).toEqual(['b=1'])
})

const changedA = edsCluster('a', { altStatName: 'other' })

test('a changed cluster makes a state-of-the-world client ask again with what it has already sent (2.5, 53)', () => {
  const before = play({ variant: 'sotw' }, ...wholeStart)
  const changed = response(clusterType, 'c2', [changedA, edsCluster('b')], { version: '2' })
  expect(goOn(before, changed).sent).toEqual([['ClusterLoadAssignment [a,b] v=1 n=e1']])
})

test('a changed cluster makes a delta client ask for nothing (2.5, 53)', () => {
  const changed = response(clusterType, 'c2', [changedA])
  expect(goOn(play({ variant: 'delta' }, ...wholeStart), changed).sent).toEqual([[]])
})

test('the same cluster under another version is no changed cluster (G5)', () => {
  const same = response(clusterType, 'c2', [edsCluster('a'), edsCluster('b')], { version: '2' })
  expect(goOn(play({ variant: 'sotw' }, ...wholeStart), same).sent).toEqual([
    ['Cluster [] v=2 n=c2'],
  ])
})

test('on a new stream a state-of-the-world client asks for all types at once, with version and without nonce (E14, S10)', () => {
  const again = goOn(play({ variant: 'sotw' }, ...wholeStart), disconnected, connected)
  expect(again.sent[1]).toEqual([
    'Cluster of envoy-1 [] v=1',
    'ClusterLoadAssignment [a,b] v=1',
    'Listener [] v=1',
    'RouteConfiguration [t] v=1',
  ])
})

test('on a new stream a delta client says what it holds (E14, S10)', () => {
  const again = goOn(play({ variant: 'delta' }, ...wholeStart), disconnected, connected)
  expect(again.sent[1]).toEqual([
    'Cluster of envoy-1 a=1 b=1',
    'ClusterLoadAssignment +[a,b] a=1 b=1',
    'Listener http=1',
    'RouteConfiguration +[t] t=1',
  ])
})

test('what was not asked for before is not asked for on a new stream (2.4, 48)', () => {
  const early = goOn(play({ variant: 'delta' }, clusters), disconnected, connected)
  expect(early.sent[1]).toEqual(['Cluster of envoy-1 a=1 b=1', 'ClusterLoadAssignment +[a,b]'])
})

test('a response on no stream, or of a type that was not asked for, changes nothing', () => {
  const before = play({ variant: 'delta' })
  expect(goOn(before, listeners)).toEqual({ state: before.state, sent: [[]] })
  const off = goOn(before, disconnected)
  expect(goOn(off, clusters)).toEqual({ state: off.state, sent: [[]] })
})
