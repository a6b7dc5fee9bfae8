import { describe, expect, test } from 'vitest'
import { notes, openAny, openDelta, openSotw, refusal, types, variants } from '../support/xds.js'

const world = { cds: 'a b', lds: 'l' }

describe('which answers a request has', () => {
  test('5. S: an error makes a refusal, even beside the version of the response', () => {
    const stream = openSotw()
    stream.publish(world)
    stream.ask('lds')
    const { nonce = '', version = '' } = stream.latest('lds') ?? {}
    stream.ask('lds', '', { versionInfo: version, errorDetail: refusal })
    const nacked = { _tag: 'Nacked', typeUrl: types.lds, nonce, version, error: refusal }
    expect(stream.effects()[0]).toEqual(nacked)
    expect(notes(stream)).toEqual(['Nacked', 'Convicted'])
  })

  test('5. S: a refusal of a response whose version was accepted before is a refusal', () => {
    const stream = openSotw()
    stream.publish({ eds: 'a b' })
    stream.ask('eds', 'a')
    stream.ack('eds')
    expect(stream.ask('eds', 'a b').join()).toContain('b')
    stream.nack('eds')
    expect(notes(stream)).toEqual(['Nacked', 'Convicted'])
  })

  test('5. S: an answer with the version of the response and no error accepts it', () => {
    const stream = openSotw()
    stream.publish(world)
    stream.ask('cds')
    const { nonce = '', version = '' } = stream.latest('cds') ?? {}
    stream.ack('cds')
    expect(stream.effects()).toEqual([{ _tag: 'Acked', typeUrl: types.cds, nonce, version }])
  })

  test('5. D: the presence of an error alone decides between accepted and refused', () => {
    const stream = openDelta()
    stream.publish(world)
    stream.ask('cds')
    const { nonce = '', version = '' } = stream.latest('cds') ?? {}
    stream.ack('cds')
    expect(stream.effects()).toEqual([{ _tag: 'Acked', typeUrl: types.cds, nonce, version }])
    stream.publish({ cds: 'a=2 b' })
    const second = stream.latest('cds')
    stream.nack('cds')
    const of = { nonce: second?.nonce, version: second?.version }
    const nacked = { _tag: 'Nacked', typeUrl: types.cds, ...of, error: refusal }
    expect(stream.effects()[0]).toEqual(nacked)
    expect(notes(stream)).toEqual(['Nacked', 'Convicted'])
  })

  test('7. S: a request with a nonce that is not current gets no reply, whatever else it says', () => {
    const stream = openSotw()
    stream.publish(world)
    stream.ask('lds')
    stream.ack('lds')
    stream.publish({ lds: 'l=2' })
    for (const responseNonce of ['', 'unheard of', stream.responses()[0]?.nonce ?? '']) {
      stream.ask('lds', 'l x', { responseNonce })
      expect(stream.effects()).toEqual([])
      stream.ask('lds', '', { responseNonce, errorDetail: refusal })
      expect(stream.effects()).toEqual([])
    }
  })

  test('7b. S: a repeated request with the current nonce is answered with what it names', () => {
    const stream = openSotw()
    stream.publish({ eds: 'a b c' })
    stream.ask('eds', 'a b')
    expect(stream.ack('eds')).toEqual([])
    expect(stream.ask('eds')).toEqual(['eds a b'])
    expect(stream.ack('eds')).toEqual([])
  })

  test('7b. S: an answer to a repetition is not repeated itself, so that no loop can arise', () => {
    const stream = openSotw()
    stream.publish({ eds: 'a' })
    stream.ask('eds', 'a')
    stream.ack('eds')
    expect(stream.ask('eds')).toEqual(['eds a'])
    for (let round = 0; round < 5; round++) expect(stream.ack('eds')).toEqual([])
  })

  test('7b. S: the next response that is news may be asked for again', () => {
    const stream = openSotw()
    stream.publish({ eds: 'a' })
    stream.ask('eds', 'a')
    stream.ack('eds')
    stream.ask('eds')
    stream.ack('eds')
    expect(stream.publish({ eds: 'a=2' })).toEqual(['eds a=2'])
    expect(stream.ack('eds')).toEqual([])
    expect(stream.ask('eds')).toEqual(['eds a=2'])
    expect(stream.ack('eds')).toEqual([])
    expect(stream.ack('eds')).toEqual([])
  })

  test('8. S: once all is quiet the subscription is that of the last request', () => {
    const stream = openSotw()
    stream.publish({ eds: 'a b c' })
    stream.ask('eds', 'a')
    expect(stream.ask('eds', 'a b', { responseNonce: '' })).toEqual([])
    expect(stream.ack('eds', 'b c')).toEqual(['eds b c'])
    stream.ack('eds')
    expect(stream.publish({ eds: 'a=2 b=2 c=2' })).toEqual(['eds b=2 c=2'])
  })

  test('9. D: a request with a stale nonce still changes the subscription', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b c' })
    stream.ask('cds', { subscribe: 'a b' })
    stream.ack('cds')
    const change = { subscribe: 'c', unsubscribe: 'a' }
    expect(stream.ask('cds', change, { responseNonce: 'stale' })).toEqual(['cds c'])
    expect(notes(stream)).toEqual([])
    stream.ack('cds')
    expect(stream.publish({ cds: 'a=2 b=2 c=2' })).toEqual(['cds b=2 c=2'])
  })

  test('9. D: a stale nonce neither accepts nor refuses, and settles nothing', () => {
    const stream = openDelta()
    stream.publish({ lds: 'a' })
    stream.ask('lds')
    stream.ask('lds', {}, { responseNonce: 'stale' })
    expect(stream.effects()).toEqual([])
    stream.ask('lds', {}, { responseNonce: 'stale', errorDetail: refusal })
    expect(stream.effects()).toEqual([])
    expect(stream.publish({ lds: 'a=2' })).toEqual([])
    expect(stream.ack('lds')).toEqual(['lds a=2'])
  })

  test('10. D: an acceptance may change the subscription as well', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b c' })
    stream.ask('cds', { subscribe: 'a b' })
    expect(stream.ack('cds', { subscribe: 'c', unsubscribe: 'a' })).toEqual(['cds c'])
    expect(notes(stream)).toEqual(['Acked'])
    stream.ack('cds')
    expect(stream.publish({ cds: 'a=2 b=2 c=2' })).toEqual(['cds b=2 c=2'])
  })

  test('10. D: a refusal may change the subscription as well', () => {
    const stream = openDelta()
    stream.publish({ lds: 'a b c' })
    stream.ask('lds', { subscribe: 'a b' })
    const sent = [...stream.nack('lds', { subscribe: 'c', unsubscribe: 'a' })]
    expect(notes(stream)).toEqual(['Nacked'])
    for (let round = 0; round < 3; round++) sent.push(...stream.ack('lds'))
    expect(
      sent
        .join(' ')
        .split(' ')
        .filter((word) => word !== 'lds')
        .sort(),
    ).toEqual(['b', 'c'])
    expect(stream.publish({ lds: 'a=2 b=2 c=2' })).toEqual(['lds b=2 c=2'])
  })

  test('11. D: every response is settled by its own answer', () => {
    const stream = openDelta()
    stream.publish({ lds: 'a' })
    stream.ask('lds')
    for (let round = 0; round < 5; round++) {
      expect(stream.publish({ lds: `a=${round}` })).toEqual([])
      const { nonce, version } = stream.latest('lds') ?? {}
      expect(stream.ack('lds')).toEqual([`lds a=${round}`])
      expect(stream.effects()[0]).toEqual({ _tag: 'Acked', typeUrl: types.lds, nonce, version })
    }
  })

  test('11. D: several responses of clusters are settled one by one, in any order', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a' })
    stream.ask('cds')
    stream.publish({ cds: 'a b' })
    stream.publish({ cds: 'a b c' })
    for (const { nonce, version } of [2, 0, 1].flatMap((at) => stream.responses()[at] ?? [])) {
      stream.ask('cds', {}, { responseNonce: nonce })
      expect(stream.effects()).toEqual([{ _tag: 'Acked', typeUrl: types.cds, nonce, version }])
    }
  })

  test('11. S: the answer to the newest response leaves nothing of its type unsettled', () => {
    const stream = openSotw()
    stream.publish({ cds: 'a' })
    stream.ask('cds')
    expect(stream.publish({ cds: 'a=2' })).toEqual(['cds a=2'])
    expect(stream.publish({ cds: 'a=3' })).toEqual(['cds a=3'])
    expect(stream.ack('cds')).toEqual([])
    expect(notes(stream)).toEqual(['Acked', 'Acked', 'Acked'])
    expect(stream.publish({ cds: 'a=4' })).toEqual(['cds a=4'])
  })

  test('12. S: a newer request replaces an older one that has no answer yet', () => {
    const stream = openSotw()
    expect(stream.ask('eds', 'a')).toEqual([])
    expect(stream.ask('eds', 'b')).toEqual([])
    expect(stream.publish({ eds: 'a b' })).toEqual(['eds b'])
  })

  test('12. D: requests that have no answer yet get one together', () => {
    const stream = openDelta()
    expect(stream.ask('eds', { subscribe: 'a b' })).toEqual([])
    expect(stream.ask('eds', { subscribe: 'c', unsubscribe: 'b' })).toEqual([])
    expect(stream.publish({ eds: 'a b c' })).toEqual(['eds a c'])
  })

  test.each(variants)(
    '13. %s: of one type a single response is out, the latest next',
    (variant) => {
      for (const short of ['eds', 'lds', 'rds'] as const) {
        const stream = openAny(variant)
        stream.publish({ [short]: 'a' })
        stream.first(short, 'a')
        expect(stream.publish({ [short]: 'a=2' })).toEqual([])
        expect(stream.publish({ [short]: 'a=3' })).toEqual([])
        expect(stream.ack(short)).toEqual([`${short} a=3`])
        expect(stream.ack(short)).toEqual([])
      }
    },
  )

  test.each(variants)(
    '13. %s: of clusters four responses may be out, the latest next',
    (variant) => {
      const stream = openAny(variant)
      stream.publish({ cds: 'a=1' })
      expect(stream.first('cds')).toEqual(['cds a=1'])
      for (const n of [2, 3, 4]) expect(stream.publish({ cds: `a=${n}` })).toEqual([`cds a=${n}`])
      expect(stream.publish({ cds: 'a=5' })).toEqual([])
      expect(stream.publish({ cds: 'a=6' })).toEqual([])
      expect(stream.ack('cds')).toEqual(['cds a=6'])
      expect(stream.ack('cds')).toEqual([])
    },
  )

  test.each(variants)('13. %s: a response that has no answer holds up no other type', (variant) => {
    const stream = openAny(variant)
    stream.publish(world)
    expect(stream.first('cds')).toEqual(['cds a b'])
    expect(stream.first('lds')).toEqual(['lds l'])
    stream.ack('lds')
    expect(stream.publish({ cds: 'a', lds: 'l=2' })).toEqual(['lds l=2'])
  })
})
