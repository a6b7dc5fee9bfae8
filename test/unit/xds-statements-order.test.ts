import { describe, expect, test } from 'vitest'
import { openAny, openDelta, refusal, type Short, shorts, variants } from '../support/xds.js'

test.each(variants)(
  '51. %s: types that change together are sent clusters first, routes last',
  (variant) => {
    const stream = openAny(variant)
    const order: ReadonlyArray<Short> = ['rds', 'lds', 'eds', 'cds']
    for (const short of order) stream.first(short, 'a')
    const first = stream.publish({ cds: 'a', eds: 'a', lds: 'a', rds: 'a' })
    expect(first).toEqual(['cds a', 'eds a', 'lds a', 'rds a'])
    for (const short of order) stream.ack(short)
    const second = stream.publish({ cds: 'a=2', eds: 'a=2', lds: 'a=2', rds: 'a=2' })
    expect(second).toEqual(['cds a=2', 'eds a=2', 'lds a=2', 'rds a=2'])
  },
)

describe('endpoints behind their clusters', () => {
  test.each(variants)('53. %s: a changed cluster brings its assignment again', (variant) => {
    const stream = openAny(variant)
    stream.publish({ cds: 'a>e', eds: 'e f' })
    stream.first('cds')
    stream.ack('cds')
    stream.first('eds', 'e f')
    stream.ack('eds')
    expect(stream.publish({ cds: 'a=2>e', eds: 'e f' })).toEqual(['cds a=2', 'eds e'])
  })

  test.each(variants)(
    '53. %s: a new cluster brings an assignment that the client has',
    (variant) => {
      const stream = openAny(variant)
      stream.publish({ cds: 'a>e', eds: 'e' })
      stream.first('cds')
      stream.ack('cds')
      stream.first('eds', 'e')
      stream.ack('eds')
      const sent = stream.publish({ cds: 'a>e b>e', eds: 'e' })
      expect(sent.at(-1)).toBe('eds e')
    },
  )

  test.each(variants)('53. %s: it does not wait for the cluster to be accepted', (variant) => {
    const stream = openAny(variant)
    stream.publish({ cds: 'a>e', eds: 'e' })
    stream.first('cds')
    expect(stream.first('eds', 'e')).toEqual(['eds e'])
    stream.ack('eds')
    stream.ack('cds')
    expect(stream.publish({ cds: 'a=2>e', eds: 'e' })).toHaveLength(2)
  })

  test.each(variants)(
    '53. %s: behind an assignment without answer it comes with that answer',
    (variant) => {
      const stream = openAny(variant)
      stream.publish({ cds: 'a>e', eds: 'e' })
      stream.first('cds')
      stream.ack('cds')
      stream.first('eds', 'e')
      expect(stream.publish({ cds: 'a=2>e', eds: 'e' })).toEqual(['cds a=2'])
      expect(stream.ack('eds')).toEqual(['eds e'])
      expect(stream.ack('eds')).toEqual([])
    },
  )

  test.each(variants)(
    '53. %s: an assignment that the client does not ask for is not sent',
    (variant) => {
      const stream = openAny(variant)
      stream.publish({ cds: 'a>e', eds: 'e f' })
      stream.first('cds')
      stream.ack('cds')
      stream.first('eds', 'f')
      stream.ack('eds')
      expect(stream.publish({ cds: 'a=2>e', eds: 'e f' })).toEqual(['cds a=2'])
    },
  )

  test('53. D: a cluster that is asked for again brings its assignment', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a>e b>f', eds: 'e f' })
    stream.ask('cds')
    stream.ack('cds')
    stream.ask('eds', { subscribe: 'e f' })
    stream.ack('eds')
    expect(stream.ask('cds', { subscribe: 'b' })).toEqual(['cds b', 'eds f'])
  })
})

test.each(variants)('63. %s: nothing is answered before something is published', (variant) => {
  const stream = openAny(variant)
  for (const short of shorts) expect(stream.first(short, short === 'eds' ? 'e' : '')).toEqual([])
  expect(stream.publish({ cds: 'a', eds: 'e', lds: 'l' })).toEqual([
    'cds a',
    'eds e',
    'lds l',
    'srds',
    'rds',
  ])
})

test('63. D: a refusal before anything is published harms nothing', () => {
  const stream = openDelta()
  stream.ask('cds', {}, { errorDetail: refusal, responseNonce: 'other stream' })
  expect(stream.publish({ cds: 'a' })).toEqual(['cds a'])
})
