import { describe, expect, test } from 'vitest'
import { openAny, openDelta, openSotw, variants } from '../support/xds.js'

describe('everything', () => {
  test.each(variants)('30. %s: a first request without names asks for everything', (variant) => {
    const stream = openAny(variant)
    stream.publish({ cds: 'a b' })
    expect(stream.first('cds')).toEqual(['cds a b'])
    stream.ack('cds')
    expect(stream.publish({ cds: 'a b c' }).join()).toContain('c')
  })

  test('30. S: no names go on meaning everything as long as none was ever given', () => {
    const stream = openSotw()
    stream.publish({ cds: 'a' })
    stream.ask('cds', '')
    stream.ack('cds', '')
    stream.publish({ cds: 'a b' })
    expect(stream.ack('cds', '')).toEqual([])
    expect(stream.publish({ cds: 'a b c' })).toEqual(['cds a b c'])
  })

  test('30. S: names that were given before the first answer end it as well', () => {
    const stream = openSotw()
    stream.ask('cds', '')
    stream.ask('cds', 'a')
    stream.ask('cds', '')
    stream.publish({ cds: 'a b' })
    expect(stream.responses().flatMap(({ resources }) => resources)).toEqual([])
  })

  test('30. D: a later request without names changes nothing', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    stream.ask('cds', { subscribe: 'a' })
    stream.ack('cds')
    expect(stream.ask('cds')).toEqual([])
    expect(stream.publish({ cds: 'a b=2' })).toEqual([])
  })

  test('31. S: {} is everything, {*, A} everything and A, {A} only A, {} then nothing', () => {
    const stream = openSotw()
    stream.publish({ cds: 'A b' })
    expect(stream.ask('cds', '')).toEqual(['cds A b'])
    stream.ack('cds', '* A')
    stream.ack('cds')
    stream.publish({ cds: 'A b=2' })
    expect(stream.latest('cds')?.resources.map(({ name }) => name)).toEqual(['A', 'b'])
    stream.ack('cds', 'A')
    stream.publish({ cds: 'A=2 b=3' })
    expect(stream.latest('cds')?.resources.map(({ name }) => name)).toEqual(['A'])
    stream.ack('cds', '')
    expect(stream.publish({ cds: 'A=3 b=4' })).toEqual([])
  })

  test('31. S: * stands for everything from the first request on, and comes back', () => {
    const stream = openSotw()
    stream.publish({ cds: 'A b' })
    expect(stream.ask('cds', '*')).toEqual(['cds A b'])
    stream.ack('cds', 'A')
    expect(stream.ack('cds', '*')).toEqual(['cds A b'])
  })

  test('31. S: {*} then {} is nothing, in the same message as an answer too', () => {
    const stream = openSotw()
    stream.publish({ cds: 'A b' })
    stream.ask('cds', '*')
    expect(stream.ack('cds', '')).toEqual([])
    expect(stream.publish({ cds: 'A=2 b=2' })).toEqual([])
  })

  test('31. S: {}, then {*}, then {} is nothing: * is a name that was given', () => {
    const stream = openSotw()
    stream.publish({ cds: 'A b' })
    expect(stream.ask('cds', '')).toEqual(['cds A b'])
    expect(stream.ack('cds', '*')).toEqual([])
    expect(stream.ask('cds', '')).toEqual([])
    expect(stream.publish({ cds: 'A=2 b=2' })).toEqual([])
  })

  test('32. D: [] is everything, +A everything and A, -* only A, -A nothing', () => {
    const stream = openDelta()
    stream.publish({ cds: 'A b' })
    expect(stream.ask('cds')).toEqual(['cds A b'])
    expect(stream.ack('cds', { subscribe: 'A' })).toEqual(['cds A'])
    stream.ack('cds')
    expect(stream.publish({ cds: 'A b=2' })).toEqual(['cds b=2'])
    expect(stream.ack('cds', { unsubscribe: '*' })).toEqual([])
    expect(stream.publish({ cds: 'A=2 b=3 c' })).toEqual(['cds A=2'])
    expect(stream.ack('cds', { unsubscribe: 'A' })).toEqual([])
    expect(stream.publish({ cds: 'A=3 b=4' })).toEqual([])
  })

  test('32. D: everything that is asked for again after it was dropped is sent again', () => {
    const stream = openDelta()
    stream.publish({ cds: 'A b' })
    stream.ask('cds', { subscribe: '* A' })
    stream.ack('cds', { unsubscribe: '*' })
    const again = stream.ask('cds', { subscribe: '*' })
    expect(again).toHaveLength(1)
    expect(again.join()).toContain('b')
  })

  test.each([1, 2])(
    '32. D: dropped and asked for again under way (%i x), it leaves nothing behind',
    (times) => {
      const stream = openDelta()
      stream.publish({ lds: 'a b' })
      expect(stream.ask('lds')).toEqual(['lds a b'])
      for (let time = 0; time < times; time++) {
        expect(stream.ask('lds', { unsubscribe: '*' })).toEqual([])
        expect(stream.ask('lds', { subscribe: '*' })).toEqual([])
      }
      expect(stream.publish({ lds: 'b' })).toEqual([])
      expect(stream.ack('lds')).toEqual(['lds -a'])
      expect(stream.ack('lds')).toEqual(['lds b'])
    },
  )

  test('33. D: a first request with names and without * asks for these names only', () => {
    const stream = openDelta()
    stream.publish({ cds: 'A b' })
    expect(stream.ask('cds', { subscribe: 'A' })).toEqual(['cds A'])
    stream.ack('cds')
    expect(stream.publish({ cds: 'A b=2 c' })).toEqual([])
  })

  test('34. D: dropping a name that everything covers is answered with the resource', () => {
    const stream = openDelta()
    stream.publish({ cds: 'A b' })
    stream.ask('cds', { subscribe: '* A' })
    expect(stream.ack('cds', { unsubscribe: 'A' })).toEqual(['cds A'])
  })

  test('34. D: dropping a name that everything covers is answered by its removal if it is gone', () => {
    const stream = openDelta()
    stream.publish({ cds: 'b' })
    expect(stream.ask('cds', { subscribe: '* A' })).toEqual(['cds b'])
    expect(stream.ack('cds')).toEqual(['cds -A'])
    expect(stream.ack('cds', { unsubscribe: 'A' })).toEqual(['cds -A'])
  })

  test('35. D: dropping a name that was never asked for is ignored', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    stream.ask('cds', { subscribe: 'a' })
    stream.ack('cds')
    expect(stream.ask('cds', { unsubscribe: 'b x' })).toEqual([])
    expect(stream.publish({ cds: 'a=2 b=2' })).toEqual(['cds a=2'])
  })

  test('35. D: dropping * where it was never asked for is ignored', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    stream.ask('cds', { subscribe: 'a' })
    expect(stream.ack('cds', { unsubscribe: '*' })).toEqual([])
    expect(stream.publish({ cds: 'a=2 b=2' })).toEqual(['cds a=2'])
  })

  test('36. D: dropping a name is not answered', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    stream.ask('cds', { subscribe: 'a b' })
    expect(stream.ack('cds', { unsubscribe: 'b' })).toEqual([])
    expect(stream.ask('cds', { unsubscribe: 'a' })).toEqual([])
    expect(stream.publish({ cds: 'a=2 b=2' })).toEqual([])
  })
})
