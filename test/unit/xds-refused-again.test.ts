import { defaultDataPlane, snapshotOf } from 'edgewright'
import { describe, expect, test } from 'vitest'
import { endpointType } from '../../src/core/type-url.js'
import { accept, refuse } from '../../src/core/xds/answers.js'
import { isHopeless } from '../../src/core/xds/balks.js'
import type { Watch } from '../../src/core/xds/watch.js'
import { anInFlight, aWatch } from '../support/in-flight.js'
import { aRoute } from '../support/ledger-nodes.js'
import { aResource, notes, openDelta, openSotw, type SotwStream, words } from '../support/xds.js'

const routesOf = (names: string) => snapshotOf(words(names).map((name) => aRoute(name, 1)))

const node = { id: 'envoy-1', cluster: defaultDataPlane }

/** Answers everything: a table is refused that has all of `bad`, and nothing is found in any part of it. */
const answerAll = (stream: SotwStream, bad: string): number => {
  const before = stream.responses().length
  for (let round = 0; round < 100; round++) {
    const known = stream.responses().length
    const owners = stream.latest('rds')?.resources[0]?.owners ?? []
    const isProbe = owners.includes('')
    const isBad = words(bad).every((uid) => owners.includes(uid))
    const message = isProbe ? 'missing ]: [edgewright_probe' : 'as a whole'
    if (isProbe || isBad) stream.ask('rds', 'http', { errorDetail: { code: 13, message } })
    else stream.ack('rds')
    if (stream.responses().length === known) return known - before
  }
  throw new Error('it is sent something for ever')
}

const wholeTables = (stream: SotwStream): ReadonlyArray<ReadonlyArray<string>> =>
  stream
    .responses()
    .flatMap(({ resources }) => resources.map(({ owners }) => owners))
    .filter((owners) => !owners.includes(''))

describe('a table that is refused as a whole, by a client that refuses nothing in it', () => {
  const refused = (): SotwStream => {
    const stream = openSotw({ node })
    stream.publish(routesOf('a b c d'))
    stream.ask('rds', 'http', { versionInfo: 'v' })
    answerAll(stream, 'a b')
    return stream
  }

  test('is sent three times, and then waits', () => {
    const stream = refused()
    expect(wholeTables(stream)).toEqual(Array(3).fill(['a', 'b', 'c', 'd']))
    expect(stream.publish(routesOf('a b c d'))).toEqual([])
    expect(stream.pass(29_999)).toEqual([])
  })

  test('is sent once more after a time that is doubled each time, up to ten minutes', () => {
    const stream = refused()
    for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
      const known = wholeTables(stream).length
      expect(stream.timer()).toBe(stream.nowMs() + seconds * 1_000)
      expect(stream.pass(seconds * 1_000 - 1)).toEqual([])
      stream.pass(1)
      answerAll(stream, 'a b')
      expect(wholeTables(stream)).toHaveLength(known + 1)
    }
  })

  test('is taken at last by a client that has nothing against it any more', () => {
    const stream = refused()
    stream.pass(30_000)
    expect(stream.ack('rds')).toEqual([])
    expect(stream.timer()).toBeUndefined()
    expect(stream.ask('rds', 'http')).toHaveLength(1)
  })

  test('is sent once it is another one', () => {
    const stream = refused()
    stream.publish(routesOf('a c d'))
    expect(answerAll(stream, 'a b')).toBe(0)
    expect(wholeTables(stream).at(-1)).toEqual(['a', 'c', 'd'])
  })

  test('is sent anew where the client asks for it anew', () => {
    const stream = refused()
    stream.ask('rds', '')
    stream.ask('rds', 'http')
    expect(wholeTables(stream)).toHaveLength(4)
  })

  test('53. S: is sent anew where the client only repeats that it asks for it', () => {
    const stream = refused()
    stream.ask('rds', 'http')
    expect(wholeTables(stream)).toHaveLength(4)
  })

  test('is sent anew when a deletion begins to wait for proof', () => {
    const stream = refused()
    stream.feed({ _tag: 'AcksDemanded', isOn: true })
    expect(wholeTables(stream)).toHaveLength(4)
  })
})

describe('how often a response was refused', () => {
  const [a, b] = [aResource('a=1'), aResource('b=1')]
  const response = anInFlight('1', [a, b])
  const evidence = { message: '', kind: 'Refused', nowMs: 0 } as const
  const refuseNext = (watch: Watch, next = response): Watch =>
    refuse({ ...watch, inFlight: [next] }, [next], endpointType, { evidence, isBlind: false })
  const acceptNext = (watch: Watch, next: typeof response): Watch =>
    accept({ ...watch, inFlight: [next] }, [next], endpointType, 'delta')
  const trial = anInFlight('2', [a], {
    trial: [{ kind: 'Resource', name: 'a', version: a.version }],
  })

  test('counts what is refused in a row, whatever is tried in between', () => {
    const twice = refuseNext(acceptNext(refuseNext(aWatch()), trial))
    expect(isHopeless(twice, response)).toBe(false)
    expect(isHopeless(refuseNext(acceptNext(twice, trial)), response)).toBe(true)
    expect(isHopeless(refuseNext(twice, trial), response)).toBe(false)
    expect(isHopeless(refuseNext(refuseNext(twice, trial)), response)).toBe(true)
  })

  test('says nothing of another response', () => {
    const often = refuseNext(refuseNext(refuseNext(aWatch())))
    expect(isHopeless(often, anInFlight('4', [a, aResource('b=2')]))).toBe(false)
    expect(isHopeless(often, anInFlight('4', [a]))).toBe(false)
    expect(isHopeless(often, anInFlight('4', [a, b], { removed: ['c'] }))).toBe(false)
    expect(isHopeless(often, anInFlight('4', [a, b]))).toBe(true)
  })

  test('begins anew with another one, and with one that is accepted', () => {
    const twice = refuseNext(refuseNext(aWatch()))
    const other = anInFlight('3', [b])
    expect(isHopeless(refuseNext(refuseNext(twice, other)), response)).toBe(false)
    expect(isHopeless(refuseNext(acceptNext(twice, other)), response)).toBe(false)
    expect(isHopeless(refuseNext(twice), response)).toBe(true)
  })

  test('says nothing of one that takes away less', () => {
    const gone = anInFlight('1', [], { removed: ['x', 'y'] })
    const often = refuseNext(refuseNext(refuseNext(aWatch(), gone), gone), gone)
    expect(isHopeless(often, gone)).toBe(true)
    expect(isHopeless(often, anInFlight('2', [], { removed: ['x'] }))).toBe(false)
  })

  test('counts a response that is the whole truth by what it names', () => {
    const whole = anInFlight('1', [a], { removed: ['x'], isWhole: true })
    const again = { ...whole, removed: [] }
    const often = refuseNext(refuseNext(refuseNext(aWatch(), whole), again), again)
    expect(isHopeless(often, again)).toBe(true)
  })
})

describe('a table that was accepted on an earlier stream, and is refused on this one', () => {
  /** It has accepted `t=1`, and refused `u=bad`. */
  const memory = () => {
    const stream = openDelta()
    stream.publish({ rds: 't=1 u=bad' })
    stream.ask('rds', { subscribe: 't' })
    stream.ack('rds', { subscribe: 'u' })
    stream.nack('rds')
    expect(notes(stream)).toContain('Convicted')
    return stream.memory()
  }

  test('is the culprit, though it was accepted once', () => {
    const stream = openDelta({ memory: memory() })
    stream.publish({ rds: 't=1' })
    expect(stream.ask('rds', { subscribe: 't' })).toEqual(['rds t=1'])
    expect(stream.nack('rds')).toEqual([])
    expect(notes(stream)).toContain('Convicted')
  })

  test('pardons what was refused then: another one may have done that', () => {
    const stream = openDelta({ memory: memory() })
    stream.publish({ rds: 't=1 u=bad' })
    const sent = [...stream.ask('rds', { subscribe: 't u' }), ...stream.nack('rds')]
    for (let round = 0; round < 5; round++) sent.push(...stream.ack('rds'))
    expect(sent.join()).toContain('u=bad')
  })

  test('is not suspected once it was accepted on this stream too', () => {
    const stream = openDelta({ memory: memory() })
    stream.publish({ rds: 't=1' })
    stream.ask('rds', { subscribe: 't' })
    stream.ack('rds')
    expect(stream.ask('rds', { subscribe: 't' })).toEqual(['rds t=1'])
    expect(stream.nack('rds')).toEqual([])
    expect(notes(stream)).not.toContain('Convicted')
  })
})
