import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  mayReach,
  openConnection,
  possibleAnswers,
  request,
  restarted,
  servedTables,
} from '../../src/adapters/memory/envoy/client/index.js'
import type { Answer, EnvoyState } from 'edgewright/memory'
import {
  at,
  clusterType,
  connected,
  disconnected,
  goOn,
  type Happening,
  listener,
  listenerType,
  play,
  type Played,
  response,
  routeType,
  staticCluster,
  table,
} from '../support/memory-envoy.js'

const drainMs = 60_000

const serving = (): Played =>
  play(
    { variant: 'delta', drainMs },
    response(clusterType, 'c1', [staticCluster('a'), staticCluster('b')]),
    response(listenerType, 'l1', [listener('l', 80, 't')]),
    response(routeType, 'r1', [table('t', 'a')]),
  )

const asked = { listener: 80, host: 'x', path: '/' }

const shown = (answer: Answer): string =>
  answer._tag === 'Forwarded' ? answer.cluster : answer._tag

const reachOf = ({ state }: Played): ReadonlyArray<string> =>
  possibleAnswers(state, asked).map(({ reach, answer }) => `${reach} ${shown(answer)}`)

/** The clusters that may be reached. */
const reached = ({ state }: Played): ReadonlyArray<string> =>
  ['a', 'b', 'absent'].filter((cluster) => mayReach(state, cluster))

test('an Envoy that serves answers new connections, whoever opened them', () => {
  expect(reachOf(serving())).toEqual(['New a'])
  expect(reached(serving())).toEqual(['a'])
  expect(possibleAnswers(serving().state, { ...asked, listener: 'l' })).toHaveLength(1)
  expect(possibleAnswers(serving().state, { ...asked, listener: 81 })).toEqual([])
})

test('a route is out of reach once no table that is served leads to it', () => {
  expect(reached(goOn(serving(), response(routeType, 'r2', [table('t')])))).toEqual([])
})

test('a cluster is out of reach once it is gone, or has no endpoint', () => {
  const gone = goOn(serving(), response(clusterType, 'c2', [], { removed: ['a'] }))
  expect(reached(gone)).toEqual([])
  expect(reachOf(gone)).toEqual(['New ServiceUnavailable'])
})

test('behind a listener that went its table is in reach of kept connections, until the drain ends', () => {
  const draining = goOn(serving(), response(listenerType, 'l2', [], { removed: ['l'] }))
  expect(reachOf(draining)).toEqual(['Kept a'])
  expect(reached(draining)).toEqual(['a'])
  expect(servedTables(draining.state).map(({ reach, listener: of }) => [reach, of])).toEqual([
    ['Kept', 'l'],
  ])
  expect(reachOf(goOn(draining, at(drainMs - 1)))).toEqual(['Kept a'])
  const over = goOn(draining, at(drainMs))
  expect([reachOf(over), reached(over)]).toEqual([[], []])
})

test('a changed listener leaves its old table to kept connections, and that table can still be emptied', () => {
  const changed = goOn(
    serving(),
    response(listenerType, 'l2', [listener('l', 80, 'new')]),
    response(routeType, 'r2', [table('new', 'b')]),
  )
  expect(reachOf(changed)).toEqual(['New b', 'Kept a'])
  expect(reached(changed)).toEqual(['a', 'b'])
  expect(reached(goOn(changed, response(routeType, 'r3', [table('t')])))).toEqual(['b'])
})

test('an Envoy without a stream is in reach as before, and a new process is not', () => {
  const lost = goOn(serving(), disconnected)
  expect(reached(lost)).toEqual(['a'])
  const fresh = { ...lost, state: restarted(lost.state) }
  expect([reachOf(fresh), reached(fresh)]).toEqual([[], []])
})

test('a table that leaves the choice of a cluster to the request cannot be judged', () => {
  const byHeader = {
    ...table('t'),
    virtualHosts: [
      {
        name: 'all',
        domains: ['*'],
        routes: [
          {
            match: { pathSpecifier: { $case: 'prefix', value: '/' } },
            action: {
              $case: 'route',
              value: { clusterSpecifier: { $case: 'clusterHeader', value: 'x' } },
            },
          },
        ],
      },
    ],
  } as const
  const { state } = goOn(serving(), response(routeType, 'r2', [byHeader]))
  expect(() => mayReach(state, 'a')).toThrow('not modelled')
})

const tables = fc.constantFrom('t', 'u')
const clusters = fc.constantFrom('a', 'b')

/** Things that happen to an Envoy, but for their nonces. */
const happenings: fc.Arbitrary<(nonce: string) => Happening> = fc.oneof(
  tables.map((name) => (nonce: string) => response(listenerType, nonce, [listener('l', 80, name)])),
  fc.constant((nonce: string) => response(listenerType, nonce, [], { removed: ['l'] })),
  fc.tuple(tables, fc.option(clusters, { nil: undefined })).map(
    ([name, cluster]) =>
      (nonce: string) =>
        response(routeType, nonce, [table(name, cluster)]),
  ),
  clusters.map((name) => (nonce: string) => response(clusterType, nonce, [staticCluster(name)])),
  clusters.map((name) => (nonce: string) => response(clusterType, nonce, [], { removed: [name] })),
  fc.constantFrom(
    () => connected,
    () => disconnected,
  ),
)

test('whatever happened, each connection is answered as was told, and only from what is in reach', () => {
  let kept = 0
  fc.assert(
    fc.property(
      fc.array(happenings, { maxLength: 20 }),
      fc.array(fc.nat(30_000)),
      (all, delays) => {
        let played = serving()
        let nowMs = 0
        const opened: Array<number> = []
        all.forEach((happening, index) => {
          const [state, connection] = openConnection(played.state, 80)
          if (connection !== undefined) opened.push(connection)
          nowMs += delays[index] ?? 0
          played = goOn({ ...played, state }, happening(`n${index}`), at(nowMs))
          kept += agree(played.state, opened)
        })
      },
    ),
    { numRuns: 300 },
  )
  expect(kept).toBeGreaterThan(0)
})

/** Expects that every connection was told of; returns how many were answered by an old listener. */
const agree = (state: EnvoyState, opened: ReadonlyArray<number>): number => {
  const told = possibleAnswers(state, asked)
  const seen = opened
    .map((connection) => request(state, { ...asked, connection }))
    .filter(({ _tag }) => _tag !== 'ConnectionRefused')
  const now = request(state, asked)
  for (const answer of now._tag === 'ConnectionRefused' ? seen : [...seen, now]) {
    expect(told.map((possible) => possible.answer)).toContainEqual(answer)
    if (answer._tag === 'Forwarded') expect(mayReach(state, answer.cluster)).toBe(true)
  }
  expect(told.some(({ reach }) => reach === 'New')).toBe(now._tag !== 'ConnectionRefused')
  return told.filter(({ reach }) => reach === 'Kept').length
}
