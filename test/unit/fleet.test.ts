import { expect, test } from 'vitest'
import { memoryOf } from '../../src/core/roster.js'
import {
  emptyFleet,
  type FleetEffect,
  type FleetState,
  maxRemembered,
  openFleet,
  step,
} from '../../src/core/xds/fleet.js'
import type { DiscoveryRequest } from '../../src/core/xds/messages.js'
import { aNode, aSnapshot, showResponse, types } from '../support/xds.js'

const asksForListeners = (node = aNode): DiscoveryRequest => ({
  _tag: 'Delta',
  node,
  typeUrl: types.lds,
  subscribe: [],
  unsubscribe: [],
  initialResourceVersions: new Map(),
  responseNonce: '',
  errorDetail: undefined,
})

/** A fleet that is fed events, and what came of each. */
const fleet = (initial: FleetState = emptyFleet) => {
  let state = initial
  const feed = (event: Parameters<typeof step>[1]): ReadonlyArray<string> => {
    const [next, effects] = step(state, event, 0)
    state = next
    return effects.map(show)
  }
  return {
    open: (stream: string) => feed({ _tag: 'StreamOpened', stream, variant: 'delta' }),
    ask: (stream: string, request = asksForListeners()) =>
      feed({ _tag: 'RequestReceived', stream, request }),
    close: (stream: string) => feed({ _tag: 'StreamClosed', stream }),
    publish: (lds: string) => feed({ _tag: 'SnapshotPublished', snapshot: aSnapshot({ lds }) }),
    state: () => state,
  }
}

const show = ({ stream, effect }: FleetEffect): string =>
  `${stream} ${effect._tag === 'Send' ? showResponse(effect.response) : effect._tag}`

test('streams are answered each by itself, in the order of their ids', () => {
  const { open, ask, publish } = fleet()
  for (const stream of ['2', '1']) open(stream)
  expect(ask('2')).toEqual([])
  expect(ask('1')).toEqual([])
  expect(publish('a')).toEqual(['1 NodeIdentified', '1 lds a', '2 NodeIdentified', '2 lds a'])
})

test('a stream that opens later starts with what is published', () => {
  const { open, ask, publish } = fleet()
  publish('a')
  publish('b')
  open('1')
  expect(ask('1')).toEqual(['1 NodeIdentified', '1 lds b'])
})

test('what a stream says that is not open, or not any more, changes nothing', () => {
  const { open, ask, close, publish, state } = fleet()
  publish('a')
  const before = state()
  expect(ask('9')).toEqual([])
  expect(state()).toBe(before)
  open('1')
  ask('1')
  expect(close('1')).toEqual([])
  expect(ask('1')).toEqual([])
  expect(publish('b')).toEqual([])
  expect(state().sessions).toBeUndefined()
})

test('a stream that breaks the protocol ends alone', () => {
  const { open, ask, publish } = fleet()
  publish('a')
  open('1')
  open('2')
  ask('1')
  ask('2')
  expect(ask('1', asksForListeners({ ...aNode, id: 'another' }))).toEqual(['1 Close'])
  expect(ask('1')).toEqual([])
  expect(publish('a b')).toEqual([])
})

test('an unanswered stream holds up no other one', () => {
  const { open, ask, publish } = fleet()
  publish('a')
  open('1')
  ask('1')
  expect(publish('b')).toEqual([])
  open('2')
  expect(ask('2')).toEqual(['2 NodeIdentified', '2 lds b'])
})

test('of the nodes that were lost the first is forgotten when there are too many, and none that is connected', () => {
  const ids = Array.from({ length: maxRemembered }, (_, index) => `n${index}`)
  const entryOf = (id: string) =>
    [id, { id, cluster: 'edge', sinceMs: 0, isShared: false, doubts: {} }] as const
  const { open, ask, close, state } = fleet(
    openFleet(undefined, memoryOf(new Map(ids.map(entryOf)))),
  )
  const visit = (stream: string, id: string): void => {
    open(stream)
    ask(stream, asksForListeners({ ...aNode, id }))
  }
  visit('1', 'n0')
  visit('2', 'new')
  close('2')
  expect(state()).toMatchObject({ forgotten: 0 })
  visit('3', 'newer')
  close('3')
  expect(state()).toMatchObject({ forgotten: 1 })
  expect(['n0', 'n1', 'n2'].filter((id) => state().memory.has(id))).toEqual(['n0', 'n2'])
})
