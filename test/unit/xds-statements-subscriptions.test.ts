import { describe, expect, test } from 'vitest'
import { clusterLingerMs } from '../../src/core/xds/linger.js'
import { openAny, openDelta, openSotw, type Short, variants } from '../support/xds.js'

const fullState: ReadonlyArray<Short> = ['cds', 'lds']
const notFullState: ReadonlyArray<Short> = ['eds', 'rds']

describe('state of the world: what a response means', () => {
  test.each(fullState)('25. S: each response of %s holds all that is subscribed to', (short) => {
    const stream = openSotw()
    stream.publish({ [short]: 'a b c' })
    expect(stream.ask(short, 'a b x')).toEqual([`${short} a b`])
    stream.ack(short)
    expect(stream.publish({ [short]: 'a=2 b c' })).toEqual([`${short} a=2 b`])
  })

  test.each(fullState)('25. S: a resource of %s is deleted by leaving it out', (short) => {
    const stream = openSotw()
    stream.publish({ [short]: 'a b' })
    stream.ask(short, '')
    stream.ack(short)
    const first = [...stream.publish({ [short]: 'b' }), ...stream.pass(clusterLingerMs)]
    expect(first).toEqual([`${short} b`])
    stream.ack(short)
    expect([...stream.publish({}), ...stream.pass(clusterLingerMs)]).toEqual([short])
    expect(stream.latest(short)?.removed).toEqual([])
  })

  test.each(fullState)(
    '25. S: the last of the named resources of %s goes with an empty response',
    (short) => {
      const stream = openSotw()
      stream.publish({ [short]: 'a b' })
      stream.ask(short, 'a')
      stream.ack(short)
      const sent = [...stream.publish({ [short]: 'b' }), ...stream.pass(clusterLingerMs)]
      expect(sent).toEqual([short])
    },
  )

  test.each(notFullState)('26. S: a response of %s holds what changed', (short) => {
    const stream = openSotw()
    stream.publish({ [short]: 'a b c' })
    stream.ask(short, 'a b')
    stream.ack(short)
    const sent = stream.publish({ [short]: 'a b=2 c=2' }).join()
    expect(sent).toContain('b=2')
    expect(sent).not.toContain('c')
  })

  test.each(notFullState)('26. S: no response of %s says that a resource is gone', (short) => {
    const stream = openSotw()
    stream.publish({ [short]: 'a b' })
    stream.ask(short, 'a b')
    stream.ack(short)
    if (stream.publish({ [short]: 'b' }).length > 0) stream.ack(short)
    expect(stream.responses().flatMap(({ removed }) => removed)).toEqual([])
    expect(stream.publish({ [short]: 'a=2 b' }).join()).toContain('a=2')
  })
})

describe('names that come and go', () => {
  test.each(variants)('27. %s: a new name is answered though no version has moved', (variant) => {
    const stream = openAny(variant)
    stream.publish({ cds: 'a b', eds: 'a b' })
    stream.first('cds', 'a')
    const cds = stream.widen('cds', 'b', 'a b')
    expect(cds).toEqual([variant === 'sotw' ? 'cds a b' : 'cds b'])
    stream.first('eds', 'a')
    const eds = stream.widen('eds', 'b', 'a b')
    expect(eds).toHaveLength(1)
    expect(eds.join()).toContain(' b')
  })

  test.each(variants)('28. %s: a name that went and came back is sent again', (variant) => {
    const stream = openAny(variant)
    for (const short of ['cds', 'eds'] as const) {
      stream.publish({ [short]: 'a b' })
      stream.first(short, 'a b')
      expect(stream.narrow(short, 'b', 'a').join()).not.toContain('b')
      const again = stream.widen(short, 'b', 'a b')
      expect(again).toHaveLength(1)
      expect(again.join()).toContain(' b')
    }
  })

  test('28. S: a name that went and came back while a response was out follows that response', () => {
    const stream = openSotw()
    stream.publish({ eds: 'a b' })
    stream.ask('eds', 'a b')
    stream.ack('eds')
    const responseNonce = stream.latest('eds')?.nonce ?? ''
    const out = stream.publish({ eds: 'a=2 b' })
    expect(stream.ask('eds', 'a', { responseNonce })).toEqual([])
    expect(stream.ask('eds', 'a b', { responseNonce })).toEqual([])
    const read = [...out, ...stream.ack('eds', 'a b')]
    expect(read.join()).toContain(' b')
  })

  test('29. D: a name that is asked for again without being dropped is sent again', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    stream.ask('cds', { subscribe: 'a b' })
    stream.ack('cds')
    expect(stream.ask('cds', { subscribe: 'a' })).toEqual(['cds a'])
    expect(stream.ack('cds', { subscribe: 'b' })).toEqual(['cds b'])
    expect(stream.ack('cds')).toEqual([])
  })

  test('29. D: asked for while a response is out, it follows that response', () => {
    const stream = openDelta()
    stream.publish({ lds: 'a b' })
    stream.ask('lds', { subscribe: 'a b' })
    expect(stream.ask('lds', { subscribe: 'a' })).toEqual([])
    expect(stream.ack('lds')).toEqual(['lds a'])
  })

  test('29. D: a name that a wildcard covers is sent again when it is asked for', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    stream.ask('cds')
    stream.ack('cds')
    expect(stream.ask('cds', { subscribe: 'a' })).toEqual(['cds a'])
  })
})

describe('names that do not exist', () => {
  test('37. D: one is answered as removed at once, and stays subscribed to', () => {
    const stream = openDelta()
    stream.publish({ eds: 'a' })
    expect(stream.ask('eds', { subscribe: 'x' })).toEqual(['eds -x'])
    expect(stream.ack('eds')).toEqual([])
    expect(stream.ask('eds', { subscribe: 'a y' })).toEqual(['eds a'])
    expect(stream.ack('eds')).toEqual(['eds -y'])
    stream.ack('eds')
    expect(stream.publish({ eds: 'a x y' })).toEqual(['eds x y'])
  })

  test.each(variants)(
    '38. %s: one that comes into being later is sent without being asked for',
    (variant) => {
      const stream = openAny(variant)
      for (const short of ['cds', 'eds', 'lds', 'rds'] as const) {
        stream.publish({})
        if (stream.first(short, 'x').length > 0) stream.ack(short)
        expect(stream.publish({ [short]: 'x' })).toEqual([`${short} x`])
        stream.ack(short)
      }
    },
  )

  test('38. D: one that goes and comes back unchanged is sent each time', () => {
    const stream = openDelta()
    stream.publish({ eds: 'a b' })
    stream.ask('eds', { subscribe: 'a' })
    stream.ack('eds')
    expect(stream.publish({ eds: 'b' })).toEqual(['eds -a'])
    stream.ack('eds')
    expect(stream.publish({ eds: 'a b' })).toEqual(['eds a'])
  })

  test.each(['cds', 'eds', 'lds', 'rds'] as const)(
    '39. S: a named %s that comes to no names is dropped, and sent nothing more',
    (short) => {
      const stream = openSotw()
      stream.publish({ [short]: 'a b' })
      stream.ask(short, 'a')
      stream.ack(short)
      expect(stream.ask(short, '')).toEqual([])
      expect(stream.publish({ [short]: 'a=2 b=2' })).toEqual([])
      expect(stream.publish({})).toEqual([])
    },
  )

  test.each(variants)('40. %s: everything of nothing is answered, empty', (variant) => {
    const stream = openAny(variant)
    stream.publish({})
    expect(stream.first('cds')).toEqual(['cds'])
    stream.ack('cds')
    expect(stream.first('lds', '*')).toEqual(['lds'])
    expect(stream.ack('lds')).toEqual([])
  })
})
