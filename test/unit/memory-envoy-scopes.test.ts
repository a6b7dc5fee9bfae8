import { expect, test } from 'vitest'
import {
  mayReach,
  nextTimer,
  openConnection,
  possibleAnswers,
  request,
  servedTables,
} from '../../src/adapters/memory/envoy/client/index.js'
import {
  scopeHeader,
  scopeKey,
  scopeScript,
  shardOf,
  shardTable,
} from '../../src/core/table-form.js'
import {
  at,
  clusterType,
  goOn,
  type Happening,
  heldOf,
  listener,
  listenerType,
  play,
  type Played,
  response,
  routeType,
  scopeType,
  staticCluster,
  table,
} from '../support/memory-envoy.js'
import { scope, scopedListener } from '../support/memory-scopes.js'

const both = ['sotw', 'delta'] as const
type Options = Parameters<typeof play>[0]

const listeners = (nonce: string, ...of: ReadonlyArray<ReturnType<typeof listener>>): Happening =>
  response(listenerType, nonce, of, { version: nonce })
const scopes = (nonce: string, ...of: ReadonlyArray<ReturnType<typeof scope>>): Happening =>
  response(scopeType, nonce, of, { version: nonce })

/** Clusters `a` and `b` behind one listener by scopes: key `a` leads to table `ta`, and that to cluster `a`. */
const serving = (options: Options, ...others: ReadonlyArray<Happening>): Played =>
  play(
    options,
    response(clusterType, 'c1', [staticCluster('a'), staticCluster('b')]),
    listeners('l1', scopedListener('l', 80)),
    scopes('s1', scope('a', 'ta'), scope('b', 'tb')),
    response(routeType, 'r1', [table('ta', 'a'), table('tb', 'b')]),
    ...others,
  )

/** What becomes of a request whose key a client says. */
const ask = ({ state }: Played, key: string, listenerAt: string | number = 'l'): string => {
  const headers = [[scopeHeader, key]] as const
  const answer = request(state, { listener: listenerAt, host: 'x', path: '/', headers })
  return answer._tag === 'Forwarded' ? answer.cluster : answer._tag
}

test.each(both)('what a client says is its key where no script says so (%s)', (variant) => {
  const played = serving({ variant })
  expect(['a', 'b', 'c', ''].map((key) => ask(played, key))).toEqual([
    'a',
    'b',
    'NotFound',
    'NotFound',
  ])
  const without = request(played.state, { listener: 'l', host: 'x', path: '/' })
  expect(without).toEqual({ _tag: 'NotFound' })
  expect(heldOf(played, scopeType)).toEqual(['a=s1', 'b=s1'])
})

test('of a header that stands twice the first value is the key', () => {
  const headers = [
    ['X-Edgewright-Scope', 'a'],
    [scopeHeader, 'b'],
  ] as const
  const answer = request(serving({ variant: 'delta' }).state, {
    listener: 'l',
    host: 'x',
    path: '/',
    headers,
  })
  expect(answer).toMatchObject({ _tag: 'Forwarded', cluster: 'a' })
})

test('all tables that scopes name are in reach, and those behind no scope are not', () => {
  const played = serving({ variant: 'delta' })
  const tablesOf = ({ state }: Played) =>
    servedTables(state).map(({ reach, listener: of, table: { name } }) => `${reach} ${of} ${name}`)
  expect(tablesOf(played)).toEqual(['New l ta', 'New l tb'])
  expect([mayReach(played.state, 'a'), mayReach(played.state, 'b')]).toEqual([true, true])
  const less = goOn(played, response(scopeType, 's2', [], { removed: ['a'] }))
  expect(tablesOf(less)).toEqual(['New l tb'])
  expect([mayReach(less.state, 'a'), mayReach(less.state, 'b')]).toEqual([false, true])
})

test('a listener in another form leaves kept connections to its scopes until it has drained', () => {
  const played = serving({ variant: 'delta', drainMs: 1_000 })
  const [state, connection] = openConnection(played.state, 'l')
  const changed = goOn(
    { state, sent: [] },
    listeners('l2', listener('l', 80, 't')),
    response(routeType, 'r2', [table('t', 'b')]),
  )
  const of = { listener: 80, host: 'x', path: '/', headers: [[scopeHeader, 'a']] } as const
  const answersOf = (at: Played) =>
    possibleAnswers(at.state, of).map(({ reach, answer }) =>
      answer._tag === 'Forwarded' ? `${reach} ${answer.cluster}` : reach,
    )
  expect(answersOf(changed)).toEqual(['New b', 'Kept a'])
  const kept = { ...of, ...(connection === undefined ? {} : { connection }) }
  expect(request(changed.state, kept)).toMatchObject({ cluster: 'a' })
  const drained = goOn(changed, at(1_000))
  expect(answersOf(drained)).toEqual(['New b'])
  expect(drained.sent).toEqual([['RouteConfiguration -[ta]', 'RouteConfiguration -[tb]']])
  expect(heldOf(drained, scopeType)).toEqual([])
  expect(heldOf(drained, routeType)).toEqual(['t=1'])
})

test('two drains that end at once give their tables up one by one', () => {
  const whole = play(
    { variant: 'sotw', drainMs: 1_000 },
    response(clusterType, 'c1', []),
    listeners('l1', listener('one', 1, 't1'), listener('two', 2, 't2')),
    response(routeType, 'r1', [table('t1'), table('t2')]),
    listeners('l2'),
  )
  expect(goOn(whole, at(1_000)).sent).toEqual([
    ['RouteConfiguration [t2] v=1 n=r1', 'RouteConfiguration [] v=1 n=r1'],
  ])
})

test('scopes are waited for as long as their listener says, or for ever', () => {
  const waiting = (waitSeconds: number) =>
    play(
      { variant: 'delta' },
      response(clusterType, 'c1', []),
      listeners('l1', scopedListener('l', 80, { waitSeconds })),
    )
  expect(nextTimer(waiting(3).state)).toBe(3_000)
  expect(nextTimer(waiting(0).state)).toBeUndefined()
  expect(ask(waiting(3), 'a')).toBe('ConnectionRefused')
  expect(ask(goOn(waiting(3), at(2_999)), 'a')).toBe('ConnectionRefused')
  expect(ask(goOn(waiting(3), at(3_000)), 'a')).toBe('NotFound')
  expect(ask(goOn(waiting(0), at(1_000_000)), 'a')).toBe('ConnectionRefused')
})

test('a source that begins later gets what is sent from then on, and no other one gets less', () => {
  const later = serving(
    { variant: 'delta' },
    listeners('l2', scopedListener('l', 80), scopedListener('m', 81, { waitSeconds: 20 })),
    scopes('s2', scope('b', 'ta')),
  )
  expect(later.sent.at(-2)).toEqual(['Listener n=l2'])
  expect(['a', 'b'].map((key) => ask(later, key, 80))).toEqual(['a', 'a'])
  expect(['a', 'b'].map((key) => ask(later, key, 81))).toEqual(['NotFound', 'a'])
})

test('the user may refuse scopes, as anything else', () => {
  const refuse = (typeUrl: string): string | undefined =>
    typeUrl === scopeType ? 'hot' : undefined
  const played = serving({ variant: 'delta', refuse })
  expect(played.sent[3]).toEqual(['ScopedRouteConfiguration n=s1 ! hot'])
  expect(ask(played, 'a')).toBe('NotFound')
})

test.each(both)(
  'on a new stream all is asked for, by all names that scopes say (%s)',
  (variant) => {
    const again = goOn(serving({ variant }), { _tag: 'Disconnected' }, { _tag: 'Connected' })
    expect(again.sent[1]?.slice(-2)).toEqual(
      variant === 'sotw'
        ? ['ScopedRouteConfiguration [] v=s1', 'RouteConfiguration [ta,tb] v=1']
        : ['ScopedRouteConfiguration a=s1 b=s1', 'RouteConfiguration +[ta,tb] ta=1 tb=1'],
    )
  },
)

test('a delta client that asks with a star does so for scopes too', () => {
  const played = play(
    { variant: 'delta', wildcard: 'star' },
    response(clusterType, 'c1', []),
    listeners('l1', scopedListener('l', 80)),
  )
  expect(played.sent.at(-1)).toEqual(['ScopedRouteConfiguration +[*]', 'Listener n=l1'])
})

test('the script sends a request to the shard of its host, over whatever a client says', () => {
  const shards = 256
  const numbers = Array.from({ length: shards }, (_, shard) => shard)
  const played = play(
    { variant: 'delta' },
    response(clusterType, 'c1', [staticCluster('a'), staticCluster('b')]),
    listeners('l1', scopedListener('l', 80, { script: scopeScript(shards) })),
    scopes(
      's1',
      ...numbers.map((shard) => scope(scopeKey(shards, shard), shardTable(shards, shard))),
    ),
    response(
      routeType,
      'r1',
      numbers.map((shard) =>
        table(shardTable(shards, shard), shard === shardOf('a.test', shards) ? 'a' : 'b'),
      ),
    ),
  )
  const headers = [[scopeHeader, scopeKey(shards, shardOf('b.test', shards))]] as const
  const to = (host: string) => request(played.state, { listener: 'l', host, path: '/', headers })
  expect(to('A.test:80')).toMatchObject({
    cluster: 'a',
    headers: [[scopeHeader, scopeKey(shards, shardOf('a.test', shards))]],
  })
  expect(to('b.test')).toMatchObject({ cluster: 'b' })
})
