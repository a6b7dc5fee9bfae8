import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/adapters/memory/index.js'
import {
  maxDoubts,
  maxIdLength,
  maxRosterNodes,
  memoryOf,
  rosterOf,
} from '../../src/core/roster.js'
import { decodeRoster, encodeRoster, maxRosterLength } from '../../src/core/roster/codec.js'
import { clusterType, listenerType } from '../../src/core/type-url.js'
import { mayStillServe } from '../../src/core/ledger.js'
import type { Variant } from '../../src/core/xds/messages.js'
import { nextTimer, openFleet, step } from '../../src/core/xds/fleet.js'
import { type RunningFleet, runFleet } from '../../src/core/xds/run-fleet.js'
import { aMemory, anEntry, aRoster, memories } from '../support/roster.js'
import { aSnapshot, variants } from '../support/xds.js'

const problemOf = (text: string): string =>
  E.match(
    (problem: string) => problem,
    () => 'none',
  )(decodeRoster(text))

test('a roster is one line for each node, and one for each list of names that nodes share', () => {
  const doubts = { [clusterType]: ['x', 'y'] }
  const roster = aRoster(
    anEntry('b', { isShared: true, doubts }),
    anEntry('a', { doubts: { ...doubts, [listenerType]: ['z'] } }),
  )
  expect(encodeRoster(roster)).toEqual(
    E.right(
      [
        '{"version":1,"doubts":[',
        `["${clusterType}",["x","y"]],`,
        `["${listenerType}",["z"]]`,
        '],"nodes":[',
        '{"id":"a","cluster":"edge-envoy","sinceMs":1000,"isShared":false,"doubts":[0,1]},',
        '{"id":"b","cluster":"edge-envoy","sinceMs":1000,"isShared":true,"doubts":[0]}',
        ']}',
        '',
      ].join('\n'),
    ),
  )
})

describe('what is no roster is refused with the reason', () => {
  const node = '"cluster":"","sinceMs":0,"isShared":false,"doubts":[]'
  test.each([
    ['', /no JSON/],
    ['{"version":1,"doubts":[],', /cut off/],
    ['{}', /version is missing or wrong/],
    ['null', /missing or wrong/],
    ['{"version":2}', /version 2, and this edgewright knows version 1 only: run the edgewright/],
    ['{"version":1,"nodes":[]}', /doubts is missing/],
    [`{"version":1,"doubts":[],"nodes":[{"id":1,${node}}]}`, /nodes\/0\/id is missing or wrong/],
    [`{"version":1,"doubts":[],"nodes":[{"id":"a",${node}},{"id":"a",${node}}]}`, /"a" .* twice/],
    [
      '{"version":1,"doubts":[],"nodes":[{"id":"a","cluster":"","sinceMs":0,"isShared":false,"doubts":[0]}]}',
      /doubts\/0, which a node names, is missing/,
    ],
    ['{"version":1,"doubts":[["no.such.Type",["x"]]],"nodes":[]}', /doubts\/0\/0/],
    [
      `{"version":1,"doubts":[],"nodes":[{"id":"${'x'.repeat(maxIdLength + 1)}",${node}}]}`,
      /nodes\/0\/id/,
    ],
  ])('%j', (text, problem) => {
    expect(problemOf(text)).toMatch(problem)
  })

  test('a text that is too large', () => {
    expect(problemOf(' '.repeat(maxRosterLength + 1))).toMatch(/larger than 64 MiB/)
  })

  test('a roster of too many nodes is neither written nor read', () => {
    const ids = Array.from({ length: maxRosterNodes + 1 }, (_, i) => String(i))
    expect(encodeRoster(aRoster(...ids.map((id) => anEntry(id))))).toMatchObject({
      left: expect.stringContaining('forget those that are gone') as unknown,
    })
    const nodes = ids.map((id) => `{"id":"${id}",${node}}`).join()
    expect(problemOf(`{"version":1,"doubts":[],"nodes":[${nodes}]}`)).toMatch(/10001 Envoys/)
  })
})

test('of a node that doubts more names than can be written, some are, so that no version of it counts', () => {
  const names = Array.from({ length: maxDoubts + 5 }, (_, i) => `cluster-${i}`)
  const memory = memories(aMemory('a', { doubts: { [clusterType]: names } }))
  const [entry] = rosterOf(memory, new Map(), 0).values()
  expect(entry?.doubts[clusterType]).toEqual([...names].sort().slice(0, maxDoubts))
})

test('a node whose id is absurd is left out', () => {
  const id = 'x'.repeat(maxIdLength + 1)
  expect(rosterOf(memories(aMemory(id), aMemory('a', { cluster: id })), new Map(), 0).size).toBe(0)
})

/** An Envoy that starts on its first requests, and accepts everything; it says of no version. */
const comeBack = (variant: Variant, fleet: RunningFleet, id: string): ReadonlyArray<string> => {
  const heard: Array<string> = []
  const ask = (responseNonce: string): void => {
    const common = { typeUrl: listenerType, responseNonce, errorDetail: undefined }
    const node = { id, cluster: 'edge' }
    fleet.receive(
      id,
      variant === 'sotw'
        ? { _tag: 'Sotw', ...common, node, resourceNames: [], versionInfo: responseNonce && 'some' }
        : {
            _tag: 'Delta',
            ...common,
            node,
            subscribe: responseNonce === '' ? ['*'] : [],
            unsubscribe: [],
            initialResourceVersions: new Map(),
          },
    )
  }
  const nonces: Array<string> = []
  fleet.open(id, {
    variant,
    peer: id,
    send: ({ nonce, resources, removed }) => {
      heard.push(...resources.map(({ name }) => `+${name}`), ...removed.map((name) => `-${name}`))
      nonces.push(nonce)
      return 0
    },
    end: () => undefined,
  })
  ask('')
  for (let answers = 0; answers < 4; answers += 1) {
    const nonce = nonces.shift()
    if (nonce !== undefined) ask(nonce)
  }
  return heard
}

describe('a fleet that starts with a roster', () => {
  test.each(variants)(
    '%s: waits for those that may serve something, and tells of a name in doubt that it is gone',
    (variant) => {
      const roster = aRoster(
        anEntry('tainted', { cluster: 'edge', doubts: { [listenerType]: ['gone'] } }),
        anEntry('shared', { cluster: 'edge', isShared: true }),
        anEntry('lost', { cluster: 'edge' }),
      )
      const initial = openFleet(undefined, memoryOf(roster))
      const fleet = runFleet({ initial, step, nextTimer }, virtualClock(), {
        observe: () => undefined,
        onFault: ({ error }) => {
          throw error
        },
      })
      fleet.publish(aSnapshot({ lds: 'l' }))
      const owed = (): ReadonlyArray<string> =>
        mayStillServe(fleet.ledger(), 'uid').map(
          ({ id, connected }) => `${id} ${connected ? 'here' : 'lost'}`,
        )
      expect(owed()).toEqual(['lost lost', 'shared lost', 'tainted lost'])
      comeBack(variant, fleet, 'shared')
      const heard = comeBack(variant, fleet, 'tainted')
      expect(owed()).toEqual(expect.arrayContaining(['lost lost', 'shared lost']))
      expect(new Set(heard)).toEqual(new Set(variant === 'sotw' ? ['+l'] : ['+l', '-gone']))
    },
  )
})
