import { describe, expect, test } from 'vitest'
import type { DeltaRequest, SotwRequest } from '../../src/core/xds/messages.js'
import { aNode, openStream, types, versionOf } from '../support/xds.js'

const delta = (changes: Partial<DeltaRequest>): DeltaRequest => ({
  _tag: 'Delta',
  node: aNode,
  typeUrl: types.cds,
  subscribe: [],
  unsubscribe: [],
  initialResourceVersions: new Map(),
  responseNonce: '',
  errorDetail: undefined,
  ...changes,
})

const sotw = (changes: Partial<SotwRequest>): SotwRequest => ({
  _tag: 'Sotw',
  node: aNode,
  typeUrl: types.eds,
  resourceNames: [],
  versionInfo: '',
  responseNonce: '',
  errorDetail: undefined,
  ...changes,
})

describe('53. D: endpoints behind their cluster, across a reconnect', () => {
  const held = new Map([['e', versionOf('e=1')]])
  const asksForEndpoints = delta({
    typeUrl: types.eds,
    subscribe: ['e'],
    initialResourceVersions: held,
  })

  test('are sent though the client says that it holds them, if their cluster was sent on this stream', () => {
    const stream = openStream('delta')
    stream.publish({ cds: 'new>e', eds: 'e=1' })
    const old = new Map([['old', 'v']])
    expect(stream.receive(delta({ initialResourceVersions: old }))).toEqual(['cds new'])
    expect(stream.receive(asksForEndpoints)).toEqual(['eds e=1'])
  })

  test('are spared if their cluster was spared too', () => {
    const stream = openStream('delta')
    stream.publish({ cds: 'c>e', eds: 'e=1' })
    const same = new Map([['c', stream.latest('cds')?.version ?? '']])
    stream.receive(delta({ initialResourceVersions: same }))
    const spared = openStream('delta')
    spared.publish({ cds: 'c', eds: 'e=1' })
    spared.receive(delta({}))
    expect(spared.receive(asksForEndpoints)).toEqual([])
  })
})

describe('8. S: before there was a response', () => {
  test.each(['', '99'])('the newest names count, whatever nonce they come with (%j)', (nonce) => {
    const stream = openStream('sotw')
    stream.publish({ eds: 'a' })
    expect(stream.receive(sotw({ resourceNames: ['nope'], responseNonce: nonce }))).toEqual([])
    expect(stream.receive(sotw({ resourceNames: ['nope', 'a'], responseNonce: nonce }))).toEqual([
      'eds a',
    ])
  })
})

describe('what a client may ask for', () => {
  test('is bounded: one that names more than any fleet has loses its stream, and is told why', () => {
    const stream = openStream('delta')
    stream.publish({ eds: 'a' })
    const subscribe = Array.from({ length: 200_001 }, (_, n) => `n${n}`)
    stream.receive(delta({ typeUrl: types.eds, subscribe }))
    expect(stream.effects().at(-1)).toMatchObject({ _tag: 'Close', code: 'RESOURCE_EXHAUSTED' })
  })

  test('is bounded though it gives up again what it asks for, and answers nothing', () => {
    const stream = openStream('delta')
    stream.publish({ eds: 'a' })
    stream.receive(delta({ typeUrl: types.eds, subscribe: ['*'] }))
    const batch = (n: number): ReadonlyArray<string> =>
      n < 0 ? [] : Array.from({ length: 60_000 }, (_, i) => `n${n}-${i}`)
    for (let n = 0; n < 4; n++)
      stream.receive(delta({ typeUrl: types.eds, subscribe: batch(n), unsubscribe: batch(n - 1) }))
    expect(stream.effects().at(-1)).toMatchObject({ _tag: 'Close', code: 'RESOURCE_EXHAUSTED' })
  })

  test('is of the variant of its stream', () => {
    const stream = openStream('sotw')
    stream.publish({ eds: 'a' })
    stream.receive(delta({ typeUrl: types.eds }))
    expect(stream.effects()).toMatchObject([{ _tag: 'Close', code: 'INVALID_ARGUMENT' }])
  })
})

test('53. D: endpoints that are owed and gone meanwhile are said to be gone', () => {
  const stream = openStream('delta')
  stream.publish({ cds: 'c>e', eds: '' })
  stream.receive(delta({}))
  const held = new Map([['e', versionOf('e=1')]])
  const asks = delta({ typeUrl: types.eds, subscribe: ['*'], initialResourceVersions: held })
  expect(stream.receive(asks)).toEqual(['eds -e'])
})

test('41b. D: an old Envoy is taken to ask for everything, also where no names mean nothing', () => {
  const stream = openStream('delta', { legacyWildcard: new Set() })
  stream.publish({ cds: 'a b' })
  const node = { ...aNode, buildVersion: { major: 1, minor: 18, patch: 0 } }
  const held = new Map([['a', 'old']])
  const asks = delta({ node, subscribe: ['a'], initialResourceVersions: held })
  expect(stream.receive(asks)).toEqual(['cds a b'])
})
