import { describe, expect, test } from 'vitest'
import { scopeType } from '../../src/core/type-url.js'
import type { NodeIdentity, Variant } from '../../src/core/xds/messages.js'
import { drainMs, scopesWaitMs } from '../../src/core/xds/timers.js'
import {
  type AnyStream,
  dataPlane,
  openAny,
  sentBy,
  type Short,
  types,
  variants,
} from '../support/xds.js'

const envoy: NodeIdentity = {
  id: 'envoy-1',
  cluster: dataPlane,
  buildVersion: { major: 1, minor: 40, patch: 0 },
}

/** In shards, of which there are two. */
const sharded = { cds: 'web', lds: 'http', srds: '2-0 2-1', rds: 'shard-2-0 shard-2-1' }

/** The names of the scopes that came last, as in `3-0 -2-0`; nothing if none came. */
const scopes = (stream: Pick<AnyStream, 'effects'>): ReadonlyArray<string> =>
  sentBy(stream.effects())
    .filter(({ typeUrl }) => typeUrl === scopeType)
    .map(({ resources, removed }) =>
      [...resources.map(({ name }) => name), ...removed.map((name) => `-${name}`)].join(' '),
    )

/** An Envoy that comes back: it says in one burst all that it asks for, scopes before tables. */
const comeBack = (variant: Variant, tables: string): AnyStream => {
  const stream = openAny(variant, { node: envoy })
  const versionInfo = 'before'
  stream.publish(sharded)
  const held = (of: string) => new Map(of.split(' ').map((name) => [name, versionInfo]))
  const say = (short: Short, had: string, wanted: string): void => {
    const asked = wanted === '' ? [] : wanted.split(' ')
    const node = short === 'cds' ? envoy : undefined
    const common = { node, typeUrl: types[short], responseNonce: '', errorDetail: undefined }
    stream.receive(
      variant === 'sotw'
        ? { ...common, _tag: 'Sotw', resourceNames: asked, versionInfo }
        : {
            ...common,
            _tag: 'Delta',
            subscribe: asked,
            unsubscribe: [],
            initialResourceVersions: held(had),
          },
    )
  }
  say('cds', 'web', '')
  say('lds', 'http', '')
  say('srds', tables.replaceAll('shard-', ''), '')
  expect(scopes(stream)).toEqual([])
  say('rds', tables, tables)
  return stream
}

const isWaiting = (stream: Pick<AnyStream, 'timer' | 'nowMs'>): boolean =>
  (stream.timer() ?? 0) > stream.nowMs()

describe.each(variants)('%s: an Envoy that comes back', (variant) => {
  test('keeps the scopes of another number of shards for as long as it may drain', () => {
    const stream = comeBack(variant, 'shard-3-0 shard-3-1 shard-3-2')
    expect(scopes(stream)).toEqual(['2-0 2-1 3-0 3-1 3-2'])
    for (const short of ['cds', 'lds', 'srds'] as const) stream.ack(short)
    expect(stream.timer()).toBe(drainMs)
    stream.pass(drainMs - 1)
    expect(scopes(stream)).toEqual([])
    stream.pass(1)
    expect(scopes(stream)).toEqual([variant === 'sotw' ? '2-0 2-1' : '-3-0 -3-1 -3-2'])
    expect(stream.timer()).toBeUndefined()
  })

  test('with tables of the present number is sent its scopes at once, and waits for nothing', () => {
    const stream = comeBack(variant, 'shard-2-0 shard-2-1')
    expect(scopes(stream)).toEqual(['2-0 2-1'])
    for (const short of ['cds', 'lds', 'srds'] as const) stream.ack(short)
    expect(stream.timer()).toBeUndefined()
  })

  test('without tables gets its scopes a moment later, or once it has answered listeners', () => {
    for (const answers of [true, false]) {
      const stream = openAny(variant, { node: envoy })
      stream.publish(sharded)
      stream.first('lds')
      expect(stream.first('srds')).toEqual([])
      expect(stream.timer()).toBe(scopesWaitMs)
      expect(answers ? stream.ack('lds') : stream.pass(scopesWaitMs)).toEqual(['srds 2-0 2-1'])
      expect(isWaiting(stream)).toBe(false)
    }
  })

  test('with names that it makes up gets no more scopes than names', () => {
    const stream = openAny(variant, { node: envoy })
    stream.publish(sharded)
    stream.first('rds', 'shard-4096-7 shard-4097-7 shard-5-9 shard-5-05 shard-x http')
    stream.first('srds')
    expect(scopes(stream)).toEqual(['2-0 2-1 4096-7'])
  })
})

describe.each(variants)('%s: what a first request for scopes tells', (variant) => {
  const opened = (acks: boolean): boolean => {
    const stream = openAny(variant)
    stream.publish(sharded)
    stream.first('cds')
    if (acks) stream.ack('cds')
    stream.first('lds')
    stream.first('srds')
    return stream.memory()?.isUnknown === true
  }

  test('who asks before it has taken in clusters has brought something, and may hold any table', () => {
    expect(opened(false)).toBe(true)
    expect(opened(true)).toBe(false)
  })
})
