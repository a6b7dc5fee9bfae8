import { describe, expect, test } from 'vitest'
import { aNode, aSnapshot, notes, openAny, openDelta, openSotw, variants } from '../support/xds.js'

const world = { cds: 'a b', lds: 'l' }

const invalidArgument = [
  { _tag: 'Close', code: 'INVALID_ARGUMENT', message: expect.any(String) as string },
]

/** Two data planes with different resources. */
const twoPlanes = {
  dataPlanes: new Map([
    ...aSnapshot({ cds: 'a', lds: 'l' }, 'edge').dataPlanes,
    ...aSnapshot({ cds: 'x', lds: 'y' }, 'other').dataPlanes,
  ]),
}

describe('who the client is', () => {
  test.each(variants)('1. %s: a node that was said once holds for the whole stream', (variant) => {
    const stream = openAny(variant)
    stream.publish(twoPlanes)
    expect(stream.first('cds')).toEqual(['cds a'])
    expect(notes(stream)).toEqual(['NodeIdentified'])
    expect(stream.first('lds')).toEqual(['lds l'])
    expect(notes(stream)).toEqual([])
  })

  test('1. S: saying the same node again is no error', () => {
    const stream = openSotw()
    stream.publish(world)
    stream.ask('cds')
    expect(stream.ask('lds', '', { node: aNode })).toEqual(['lds l'])
    expect(notes(stream)).toEqual([])
  })

  test('1. S: a later node of another id ends the stream', () => {
    const stream = openSotw()
    stream.publish(world)
    stream.ask('cds')
    stream.ask('lds', '', { node: { ...aNode, id: 'envoy-2' } })
    expect(stream.effects()).toEqual(invalidArgument)
  })

  test('1. D: a later node of another id ends the stream', () => {
    const stream = openDelta()
    stream.publish(world)
    stream.ask('cds')
    stream.ask('lds', {}, { node: { ...aNode, id: 'envoy-2' } })
    expect(stream.effects()).toEqual(invalidArgument)
  })

  test('1. S: the same id with another cluster does not move the stream to its data plane', () => {
    const stream = openSotw()
    stream.publish(twoPlanes)
    stream.ask('cds')
    stream.ask('lds', '', { node: { ...aNode, cluster: 'other' } })
    stream.publish(twoPlanes)
    const sent = stream.responses().flatMap(({ resources }) => resources.map(({ name }) => name))
    expect(sent).not.toContain('y')
  })

  test('1. S: a first request without a node ends the stream', () => {
    const stream = openSotw()
    stream.publish(world)
    stream.ask('cds', '', { node: undefined })
    expect(stream.effects()).toEqual(invalidArgument)
  })

  test('1. D: a first request without a node ends the stream, published or not', () => {
    const stream = openDelta()
    stream.ask('cds', {}, { node: undefined })
    expect(stream.effects()).toEqual(invalidArgument)
  })

  test('1. S: a stream that has ended takes in and sends nothing more', () => {
    const stream = openSotw()
    stream.publish(world)
    stream.ask('cds')
    stream.ask('cds', '', { node: { ...aNode, id: 'envoy-2' } })
    stream.ack('cds')
    expect(stream.effects()).toEqual([])
    expect(stream.publish({ cds: 'a=2' })).toEqual([])
    expect(stream.ask('lds', '')).toEqual([])
    expect(stream.effects()).toEqual([])
  })

  test.each(variants)('1. %s: a node without a cluster is of its id’s data plane', (variant) => {
    const stream = openAny(variant, { node: { id: 'other', cluster: '' } })
    stream.publish(twoPlanes)
    expect(stream.first('cds')).toEqual(['cds x'])
  })

  test.each(variants)('1. %s: a node of an unknown data plane gets empty answers', (variant) => {
    const stream = openAny(variant)
    stream.publish(aSnapshot(world, 'other'))
    expect(stream.first('cds')).toEqual(['cds'])
    const identified = { _tag: 'NodeIdentified', node: aNode, dataPlane: 'edge', known: false }
    expect(stream.effects()[0]).toEqual(identified)
    expect(stream.ack('cds')).toEqual([])
    expect(stream.publish(world)).toEqual(['cds a b'])
  })
})

describe('types', () => {
  test('2. S: an empty type URL ends the stream', () => {
    const stream = openSotw()
    stream.publish(world)
    stream.ask('cds', '', { typeUrl: '' })
    expect(stream.effects()).toContainEqual(invalidArgument[0])
  })

  test('2. D: an empty type URL ends the stream, in a later request too', () => {
    const stream = openDelta()
    stream.publish(world)
    stream.ask('cds')
    stream.ask('cds', {}, { typeUrl: '' })
    expect(stream.effects()).toEqual(invalidArgument)
  })

  test('2. S: a type that is not served gets no answer, and the other types go on', () => {
    const stream = openSotw()
    stream.publish(world)
    const typeUrl = 'type.googleapis.com/envoy.config.route.v3.VirtualHost'
    expect(stream.ask('cds', '', { typeUrl })).toEqual([])
    expect(notes(stream)).toEqual(['NodeIdentified'])
    expect(stream.ask('cds')).toEqual(['cds a b'])
  })

  test('2. D: a type that is not served gets no answer, and the other types go on', () => {
    const stream = openDelta()
    stream.publish(world)
    const typeUrl = 'type.googleapis.com/envoy.service.runtime.v3.Runtime'
    expect(stream.ask('lds')).toEqual(['lds l'])
    expect(stream.ask('lds', {}, { typeUrl })).toEqual([])
    expect(notes(stream)).toEqual([])
    expect(stream.ack('lds')).toEqual([])
    expect(stream.publish({ lds: 'm l' })).toEqual(['lds m'])
  })

  test.each(variants)('4. %s: a change of one type sends nothing of another', (variant) => {
    const stream = openAny(variant)
    stream.publish(world)
    for (const short of ['cds', 'lds'] as const) {
      stream.first(short)
      stream.ack(short)
    }
    expect(stream.publish({ ...world, lds: 'l=2' })).toEqual(['lds l=2'])
  })

  test('4. S: a version says nothing about another type', () => {
    const stream = openSotw()
    stream.publish({ cds: 'a', lds: 'a' })
    stream.ask('cds')
    const versionInfo = stream.latest('cds')?.version ?? ''
    expect(stream.ask('lds', '', { versionInfo })).toEqual(['lds a'])
    expect(stream.latest('lds')?.version).toBe(versionInfo)
    expect(notes(stream)).toEqual([])
  })
})

describe('nonces', () => {
  test.each(variants)('3. %s: a nonce is never used twice on a stream', (variant) => {
    const stream = openAny(variant)
    stream.publish(world)
    stream.first('cds')
    stream.first('lds')
    for (let round = 0; round < 20; round++) {
      stream.ack(round % 2 === 0 ? 'cds' : 'lds')
      stream.publish({ cds: `a=${round % 3}`, lds: `l=${round % 3}` })
    }
    const nonces = stream.responses().map(({ nonce }) => nonce)
    expect(nonces.length).toBeGreaterThan(10)
    expect(nonces).not.toContain('')
    expect(new Set(nonces).size).toBe(nonces.length)
  })

  test('3. S: a first request with the nonce of another stream is a first request', () => {
    const stream = openSotw()
    stream.publish(world)
    expect(stream.ask('cds', '', { responseNonce: '1', versionInfo: 'v' })).toEqual(['cds a b'])
    expect(notes(stream)).toEqual(['NodeIdentified'])
  })

  test('3. D: a first request with the nonce of another stream is a first request', () => {
    const stream = openDelta()
    stream.publish(world)
    expect(stream.ask('cds', {}, { responseNonce: '1' })).toEqual(['cds a b'])
    expect(notes(stream)).toEqual(['NodeIdentified'])
  })

  test('3. S: the nonce of one type settles no other', () => {
    const stream = openSotw()
    stream.publish(world)
    stream.ask('cds')
    stream.ask('lds')
    const responseNonce = stream.latest('cds')?.nonce ?? ''
    stream.ask('lds', '', { responseNonce })
    expect(stream.effects()).toEqual([])
    expect(stream.publish({ cds: 'a', lds: 'l=2' })).toEqual([])
    expect(stream.ack('lds')).toEqual(['lds l=2'])
  })
})
