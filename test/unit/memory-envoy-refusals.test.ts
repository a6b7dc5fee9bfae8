import { describe, expect, test } from 'vitest'
import * as memoryEnvoy from '../../src/adapters/memory/envoy/client/index.js'
import {
  ask,
  assignment,
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
  type Played,
  response,
  routeType,
  staticCluster,
  table,
} from '../support/memory-envoy.js'

const both = ['sotw', 'delta'] as const
type Options = Parameters<typeof play>[0]

const names = ['t1', 't2', 't3', 't4'] as const
const listeners = names.map((name, index) => listener(`l${index}`, index + 1, name))

/** Four tables that send everything to `a`, in version 1. */
const four = (options: Options): Played =>
  play(
    options,
    response(clusterType, 'c1', [staticCluster('a'), edsCluster('e1'), edsCluster('e2')]),
    response(endpointType, 'e1', [assignment('e1', 1), assignment('e2', 1)]),
    response(listenerType, 'l1', listeners),
    response(
      routeType,
      'r1',
      names.map((name) => table(name, 'a')),
    ),
  )

/** Refuses a table without routes that has this name, once `armed`. */
const refusing = (bad: string) => {
  let armed = false
  const refuse: Options['refuse'] = (_type, name) =>
    armed && name === bad ? `${name}!` : undefined
  return { refuse, arm: () => (armed = true) }
}

const batch = (nonce: string) =>
  response(
    routeType,
    nonce,
    names.map((name) => table(name)),
    { version: '2' },
  )

describe('of a refused batch of route tables', () => {
  /** Which tables are in version 2 after the batch. */
  const applied = (seed: number | undefined, nonce: string): string => {
    const { refuse, arm } = refusing('t2')
    const before = four({ variant: 'delta', refuse, ...(seed === undefined ? {} : { seed }) })
    arm()
    const after = goOn(before, batch(nonce))
    expect(after.sent).toEqual([[`RouteConfiguration n=${nonce} ! t2!`]])
    return heldOf(after, routeType)
      .filter((line) => line.endsWith('=2'))
      .map((line) => line.slice(0, 2))
      .join()
  }
  const seeds = Array.from({ length: 40 }, (_, seed) => seed)

  test('chance decides which good ones are applied: all, none, or some; the bad one never (2.8, D)', () => {
    const seen = new Set(seeds.map((seed) => applied(seed, 'r9')))
    expect([...seen].every((each) => !each.includes('t2'))).toBe(true)
    expect(seen).toContain('')
    expect(seen).toContain('t1,t3,t4')
    for (const one of ['t1', 't3', 't4'])
      expect([...seen].some((each) => each !== '' && !each.includes(one))).toBe(true)
  })

  test('the seed and the nonce make the choice, always the same', () => {
    expect(seeds.map((seed) => applied(seed, 'r9'))).toEqual(
      seeds.map((seed) => applied(seed, 'r9')),
    )
    const nonces = seeds.map((each) => `r${each}`)
    expect(new Set(nonces.map((nonce) => applied(1, nonce))).size).toBeGreaterThan(1)
  })

  test('all good ones are applied where there is no seed', () => {
    expect(applied(undefined, 'r9')).toBe('t1,t3,t4')
  })

  test('what is applied is reported in its old version on the next stream (2.8, B)', () => {
    const { refuse, arm } = refusing('t2')
    const before = four({ variant: 'delta', refuse })
    arm()
    const again = goOn(before, batch('r9'), disconnected, connected)
    expect(again.sent[2]?.at(-1)).toBe('RouteConfiguration +[t1,t2,t3,t4] t1=1 t2=1 t3=1 t4=1')
    expect(ask(again, 'l0')).toBe('NotFound')
    expect(ask(again, 'l1')).toBe('a')
  })
})

test('of a refused batch of endpoints chance decides the same way (2.8, D)', () => {
  const bad: Options['refuse'] = (type, name) =>
    type === endpointType && name === 'e2' ? 'no' : undefined
  const seen = Array.from({ length: 20 }, (_, seed) => {
    const once = four({ variant: 'delta', refuse: bad, seed })
    return heldOf(once, endpointType).join()
  })
  expect(new Set(seen)).toEqual(new Set(['', 'e1=1']))
})

test.each(both)(
  'a single refused table is refused as a whole: its old form goes on (2.8, D; %s)',
  (variant) => {
    const { refuse, arm } = refusing('t1')
    const before = four({ variant, refuse, seed: 7 })
    arm()
    const after = goOn(before, response(routeType, 'r9', [table('t1')], { version: '2' }))
    expect(ask(after, 'l0')).toBe('a')
    expect(memoryEnvoy.nacked(after.state)).toMatchObject([{ nonce: 'r9', message: 't1!' }])
  },
)

test('once each table is sent alone, what is reported is true again (2.8, H4)', () => {
  const { refuse, arm } = refusing('t2')
  const before = four({ variant: 'delta', refuse, seed: 3 })
  arm()
  const alone = names.map((name) =>
    response(routeType, `r-${name}`, [table(name)], { version: '2' }),
  )
  const again = goOn(before, batch('r9'), ...alone, disconnected, connected)
  expect(again.sent.at(-1)?.at(-1)).toBe('RouteConfiguration +[t1,t2,t3,t4] t1=2 t2=1 t3=2 t4=2')
})

describe('a refusal that spoils the whole response', () => {
  const refuse: Options['refuse'] = (_type, name) =>
    name === 'negative'
      ? { reason: 'Invalid duration: Expected positive duration', whole: true }
      : undefined

  test.each(both)('drops the good clusters and the removals in it, too (%s)', (variant) => {
    const spoiled = response(
      clusterType,
      'c2',
      [staticCluster('good'), staticCluster('negative')],
      {
        version: '2',
        removed: variant === 'delta' ? ['a'] : [],
      },
    )
    const after = goOn(four({ variant, refuse }), spoiled)
    expect(after.sent[0]?.at(-1)).toMatch(/n=c2 ! Invalid duration: Expected positive duration$/)
    expect(heldOf(after, clusterType)).toEqual(['a=1', 'e1=1', 'e2=1'])
  })

  test.each(both)('keeps nobody waiting: listeners are asked for all the same (%s)', (variant) => {
    const spoiled = response(clusterType, 'c1', [staticCluster('good'), staticCluster('negative')])
    expect(play({ variant, refuse }, spoiled).sent[1]?.[0]).toMatch(/^Listener/)
  })
})

describe('what a delta client reports after a refusal stays behind what it runs', () => {
  const refuse: Options['refuse'] = (_type, name) => (name === 'bad' ? 'no' : undefined)

  test('of clusters: applied but absent, removed but present (2.8, A and C)', () => {
    const mixed = response(clusterType, 'c2', [staticCluster('new'), staticCluster('bad')], {
      version: '2',
      removed: ['a'],
    })
    const again = goOn(four({ variant: 'delta', refuse }), mixed, disconnected, connected)
    expect(heldOf(again, clusterType)).toEqual(['e1=1', 'e2=1', 'new=2'])
    expect(again.sent[2]?.[0]).toBe('Cluster of envoy-1 a=1 e1=1 e2=1')
  })

  test('a tombstone removes what is absent from the report, and is accepted (2.8, A; F6)', () => {
    const mixed = response(listenerType, 'l2', [listener('new', 9, 't1'), listener('bad', 8)])
    const again = goOn(four({ variant: 'delta', refuse }), mixed, disconnected, connected)
    expect(ask(again, 'new')).toBe('a')
    expect(again.sent[2]?.[2]).toBe('Listener l0=1 l1=1 l2=1 l3=1')
    const tombstone = response(listenerType, 'l3', [], { removed: ['new', 'never'] })
    const gone = goOn(again, tombstone)
    expect(gone.sent).toEqual([['Listener n=l3']])
    expect(ask(gone, 'new')).toBe('ConnectionRefused')
  })
})

test('a refused state of the world heals with the next one (2.8, G2)', () => {
  const refuse: Options['refuse'] = (_type, name) => (name === 'bad' ? 'no' : undefined)
  const mixed = response(listenerType, 'l2', [
    ...listeners,
    listener('new', 9, 't1'),
    listener('bad', 8),
  ])
  const next = response(listenerType, 'l3', listeners)
  const after = goOn(four({ variant: 'sotw', refuse }), mixed)
  expect(ask(after, 'new')).toBe('a')
  expect(ask(goOn(after, next), 'new')).toBe('ConnectionRefused')
})

test.each(both)('a table that nobody subscribes to is not even looked at (G4; %s)', (variant) => {
  const refuse: Options['refuse'] = (_type, name) => (name === 'stranger' ? 'no' : undefined)
  const after = goOn(four({ variant, refuse }), response(routeType, 'r2', [table('stranger')]))
  expect(memoryEnvoy.nacked(after.state)).toEqual([])
})
