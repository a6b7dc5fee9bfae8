import { describe, expect, test } from 'vitest'
import type { SessionEffect } from '../../src/core/xds/session.js'
import { notes, openAny, openDelta, openSotw, shorts, types, variants } from '../support/xds.js'

const nothing: ReadonlyArray<SessionEffect> = []

describe('after a refusal', () => {
  test.each(variants)('14. %s: the same content is not sent again', (variant) => {
    const stream = openAny(variant)
    stream.publish({ cds: 'c', lds: 'a' })
    stream.first('cds')
    stream.ack('cds')
    stream.first('lds')
    expect(stream.nack('lds')).toEqual([])
    expect(stream.publish({ cds: 'c', lds: 'a' })).toEqual([])
    expect(stream.publish({ cds: 'c=2', lds: 'a' })).toEqual(['cds c=2'])
    expect(stream.ack('cds')).toEqual([])
    expect(stream.responses().filter(({ typeUrl }) => typeUrl === types.lds)).toHaveLength(1)
  })

  test.each(variants)(
    '14. %s: a refused cluster is taken out, and is not sent again',
    (variant) => {
      const stream = openAny(variant)
      stream.publish({ cds: 'a' })
      stream.first('cds')
      expect(stream.nack('cds')).toEqual([variant === 'sotw' ? 'cds' : 'cds -a'])
      expect(stream.ack('cds')).toEqual([])
      expect(stream.publish({ cds: 'a' })).toEqual([])
      expect(stream.pass(600_000)).toEqual([])
    },
  )

  test.each(variants)('14. %s: saying the refusal again is answered with silence', (variant) => {
    const stream = openAny(variant)
    stream.publish({ lds: 'a' })
    stream.first('lds')
    stream.nack('lds')
    for (let round = 0; round < 5; round++) {
      expect(stream.nack('lds')).toEqual([])
      expect(stream.effects()).toEqual(nothing)
    }
  })

  test('14. D: what was refused is sent once more if the client asks for it anew', () => {
    const stream = openDelta()
    stream.publish({ lds: 'a' })
    stream.ask('lds', { subscribe: 'a' })
    stream.nack('lds')
    expect(stream.ask('lds', { subscribe: 'a' })).toEqual(['lds a'])
  })

  test('14. S: what was refused is sent once more if the client asks for it anew', () => {
    const stream = openSotw()
    stream.publish({ eds: 'a b' })
    stream.ask('eds', 'a')
    expect(stream.nack('eds', 'b')).toEqual(['eds b'])
    expect(stream.ack('eds', 'a b').join()).toContain('a')
  })

  test.each(variants)('15. %s: a changed version goes out at once', (variant) => {
    const stream = openAny(variant)
    stream.publish({ cds: 'a' })
    stream.first('cds')
    stream.nack('cds')
    expect(stream.publish({ cds: 'a=2' })).toEqual(['cds a=2'])
  })

  test.each(variants)(
    '15. %s: a version that came while the refused one was out goes out with the refusal',
    (variant) => {
      const stream = openAny(variant)
      stream.publish({ lds: 'a' })
      stream.first('lds')
      stream.publish({ lds: 'a=2' })
      expect(stream.nack('lds')).toEqual(['lds a=2'])
      expect(notes(stream)).toEqual(['Nacked'])
    },
  )

  test.each(variants)(
    '16. %s: going back to the version that was accepted last is sent',
    (variant) => {
      const stream = openAny(variant)
      for (const short of shorts) {
        stream.publish({ [short]: 'a' })
        stream.first(short, 'a')
        stream.ack(short)
        expect(stream.publish({ [short]: 'a=2' })).toEqual([`${short} a=2`])
        const after = [...stream.nack(short), ...stream.publish({ [short]: 'a' })]
        expect(after).toEqual([`${short} a`])
        stream.ack(short)
      }
    },
  )

  test('16. D: an addition that was refused, then withdrawn, is taken out of the client', () => {
    const stream = openDelta()
    stream.publish({ lds: 'a' })
    stream.ask('lds')
    stream.ack('lds')
    expect(stream.publish({ lds: 'a b' })).toEqual(['lds b'])
    stream.nack('lds')
    expect(stream.publish({ lds: 'a' })).toEqual(['lds -b'])
  })

  test('16. D: a removal that was refused, then withdrawn, is put back into the client', () => {
    const stream = openDelta()
    stream.publish({ lds: 'a b' })
    stream.ask('lds')
    stream.ack('lds')
    expect(stream.publish({ lds: 'a' })).toEqual(['lds -b'])
    const after = [...stream.nack('lds'), ...stream.publish({ lds: 'a b' }), ...stream.nack('lds')]
    expect(after.at(-1)).toBe('lds b')
  })

  test('16. S: an addition that was refused, then withdrawn, is taken out of the client', () => {
    const stream = openSotw()
    stream.publish({ lds: 'a' })
    stream.ask('lds')
    stream.ack('lds')
    stream.publish({ lds: 'a b' })
    stream.nack('lds')
    expect(stream.publish({ lds: 'a' })).toEqual(['lds a'])
  })

  test.each(variants)('18. %s: other types go on', (variant) => {
    const stream = openAny(variant)
    stream.publish({ cds: 'a', lds: 'l' })
    stream.first('cds')
    stream.nack('cds')
    expect(stream.first('lds')).toEqual(['lds l'])
    stream.ack('lds')
    expect(stream.publish({ cds: 'a', lds: 'l=2', rds: 'r' })).toEqual(['lds l=2'])
    expect(stream.first('rds', 'r')).toEqual(['rds r'])
  })

  test('18. D: other resources of the type go on, without the refused ones', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    stream.ask('cds')
    stream.ack('cds')
    stream.publish({ cds: 'a=2 b' })
    stream.nack('cds')
    expect(stream.publish({ cds: 'a=2 b=2' })).toEqual(['cds b=2'])
  })

  test('18. S: other resources of the type go on', () => {
    const stream = openSotw()
    stream.publish({ rds: 'a b' })
    stream.ask('rds', 'a b')
    stream.ack('rds')
    stream.publish({ rds: 'a=2 b' })
    stream.nack('rds')
    expect(stream.publish({ rds: 'a=2 b=2' }).join()).toContain('b=2')
  })
})

describe('an answer that is neither', () => {
  test('19. S: the new nonce with the old version and no error counts as no acceptance', () => {
    const stream = openSotw()
    stream.publish({ eds: 'a' })
    stream.ask('eds', 'a')
    stream.ack('eds')
    stream.publish({ eds: 'a=2' })
    expect(stream.ask('eds', '')).toEqual([])
    expect(stream.effects()).toEqual(nothing)
  })

  test('19. S: it ends the wait for an answer', () => {
    const stream = openSotw()
    stream.publish({ eds: 'a' })
    stream.ask('eds', 'a')
    stream.ack('eds')
    stream.publish({ eds: 'a=2' })
    expect(stream.ask('eds', 'a')).toEqual([])
    expect(stream.publish({ eds: 'a=3' })).toEqual(['eds a=3'])
  })

  test('19. S: it starts no loop', () => {
    const stream = openSotw()
    stream.publish({ cds: 'a' })
    stream.ask('cds', '')
    for (let round = 0; round < 5; round++) {
      stream.ask('cds', '', { versionInfo: 'old' })
      expect(notes(stream)).toEqual([])
    }
    expect(stream.responses().length).toBeLessThanOrEqual(2)
  })
})
