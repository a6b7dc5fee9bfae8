import { describe, expect, test } from 'vitest'
import * as PM from '../../src/core/persistent-map.js'
import { viewOf } from '../../src/core/snapshot.js'
import {
  aSnapshot,
  dataPlane,
  openAny,
  openDelta,
  sentBy,
  shorts,
  types,
  variants,
} from '../support/xds.js'

describe('what a response holds', () => {
  const repetitions: ReadonlyArray<readonly [string, string]> = [
    ['a a', ''],
    ['a x a x', ''],
    ['a x', 'a x'],
    ['* a x', 'a'],
  ]

  test.each(repetitions)('22. D: no name stands in it twice: +%s -%s', (subscribe, unsubscribe) => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    stream.ask('cds', { subscribe, unsubscribe, initial: { a: 'old', x: 'old', y: 'old' } })
    stream.publish({ cds: 'b' })
    stream.ack('cds', { subscribe, unsubscribe })
    stream.ack('cds', { subscribe: 'a x', unsubscribe: 'x' })
    expect(stream.responses().length).toBeGreaterThan(1)
    for (const { resources, removed } of stream.responses()) {
      const names = [...resources.map(({ name }) => name), ...removed]
      expect(new Set(names).size).toBe(names.length)
    }
  })

  test.each(variants)('22. %s: names stand in their order', (variant) => {
    const stream = openAny(variant)
    stream.publish({ cds: 'c aa b B a' })
    expect(stream.first('cds', 'c b B aa a z x')).toEqual(['cds B a aa b c'])
    expect(stream.ack('cds')).toEqual(variant === 'sotw' ? [] : ['cds -x -z'])
  })

  test.each(variants)(
    '23. %s: type and name of what is sent are those that were published',
    (variant) => {
      const stream = openAny(variant)
      const snapshot = aSnapshot({ cds: 'a', eds: 'a=e', lds: 'a=l', rds: 'a=r' })
      const published = viewOf(snapshot, dataPlane)
      stream.publish(snapshot)
      for (const short of shorts) {
        stream.first(short, 'a')
        const sent = sentBy(stream.effects())
        expect(sent.map(({ typeUrl }) => typeUrl)).toEqual([types[short]])
        expect(sent[0]?.resources[0]).toBe(PM.get(published[types[short]], 'a'))
      }
    },
  )
})
