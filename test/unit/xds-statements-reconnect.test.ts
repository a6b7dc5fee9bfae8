import { describe, expect, test } from 'vitest'
import * as PM from '../../src/core/persistent-map.js'
import { view } from '../../src/core/snapshot.js'
import {
  aResource,
  aSnapshot,
  dataPlane,
  notes,
  openDelta,
  openSotw,
  shorts,
  types,
  variants,
  openAny,
  versionOf,
  words,
} from '../support/xds.js'

const a = versionOf('a')
const b = versionOf('b')
/** Versions that resource `a` has never had here. */
const foreign = ['', 'nonsense', b]

describe('delta: the versions that a client brings', () => {
  test('43. D: equal ones are skipped, others are sent, what has gone is removed', () => {
    const stream = openDelta()
    stream.publish({ eds: 'a b=2 c' })
    const held = { subscribe: '*', initial: { a, b, z: 'any' } }
    expect(stream.ask('eds', held)).toEqual(['eds b=2 c'])
    expect(stream.ack('eds')).toEqual(['eds -z'])
    stream.ack('eds')
    expect(stream.publish({ eds: 'a=2 b=2 c' })).toEqual(['eds a=2'])
  })

  test('43. D: a client that holds everything in its present version is sent nothing', () => {
    const stream = openDelta()
    stream.publish({ lds: 'a b' })
    expect(stream.ask('lds', { initial: { a, b } })).toEqual([])
    expect(stream.publish({ lds: 'b' })).toEqual(['lds -a'])
  })

  test('43. D: a client that holds what has all gone is told so', () => {
    const stream = openDelta()
    stream.publish({})
    expect(stream.ask('lds', { initial: { a, b } })).toEqual(['lds -a -b'])
  })

  test('43. D: they are compared with the first snapshot if that comes later', () => {
    const stream = openDelta()
    expect(stream.ask('cds', { initial: { a, b } })).toEqual([])
    expect(stream.publish({ cds: 'a b=2' })).toEqual(['cds b=2'])
  })

  test('43. D: in a later request of the type they count for nothing', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    stream.ask('cds', { subscribe: 'a' })
    stream.ack('cds')
    expect(stream.ask('cds', { subscribe: 'b', initial: { b, z: 'any' } })).toEqual(['cds b'])
    expect(stream.ack('cds', { subscribe: 'a', initial: { a } })).toEqual(['cds a'])
  })

  test('43. D: each type has a first request of its own', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b', lds: 'a b' })
    stream.ask('cds')
    expect(stream.ask('lds', { initial: { a } })).toEqual(['lds b'])
  })

  test('44. D: a name that is asked for with its present version is skipped', () => {
    const stream = openDelta()
    stream.publish({ eds: 'a b=2' })
    expect(stream.ask('eds', { subscribe: 'a b', initial: { a, b } })).toEqual(['eds b=2'])
    stream.ack('eds')
    expect(stream.publish({ eds: 'a=2 b=2' })).toEqual(['eds a=2'])
  })

  test('44. D: where all is skipped nothing is sent, and a later request for it is answered', () => {
    const stream = openDelta()
    stream.publish({ eds: 'a b' })
    expect(stream.ask('eds', { subscribe: 'a b', initial: { a, b } })).toEqual([])
    expect(stream.ask('eds', { subscribe: 'a' })).toEqual(['eds a'])
  })

  test('44. D: with * beside the name it is skipped as well', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a b' })
    expect(stream.ask('cds', { subscribe: '* a', initial: { a } })).toEqual(['cds b'])
  })

  test.each(foreign)('44b. D: version %j that is not ours means send', (version) => {
    const stream = openDelta()
    stream.publish({ lds: 'a' })
    expect(stream.ask('lds', { initial: { a: version } })).toEqual(['lds a'])
    expect(notes(stream)).toEqual(['NodeIdentified'])
  })

  test('45. D: a name that is held but not asked for is not sent', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a=2 b=2' })
    const held = { a, b, z: 'any' }
    stream.ask('cds', { subscribe: 'a', initial: held })
    expect(stream.latest('cds')?.resources.map(({ name }) => name)).toEqual(['a'])
    stream.ack('cds')
    expect(stream.publish({ cds: 'a=2 b=3' })).toEqual([])
  })

  test('48. D: a reconnecting client may ask for some types only, and for what has gone', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a', lds: 'l', rds: 'r' })
    expect(stream.ask('rds', { subscribe: 'gone r', initial: { gone: 'v' } })).toEqual(['rds r'])
    expect(notes(stream)).toEqual(['NodeIdentified'])
    expect(stream.ack('rds')).toEqual(['rds -gone'])
    stream.ack('rds')
    expect(stream.publish({ cds: 'a=2', lds: 'l=2', rds: 'r=2' })).toEqual(['rds r=2'])
  })
})

describe('state of the world: the version that a client brings', () => {
  test.each(shorts)('46. S: %s is sent even if the version is the present one', (short) => {
    const stream = openSotw()
    const snapshot = aSnapshot({ [short]: 'a b' })
    stream.publish(snapshot)
    const versionInfo = PM.digestOf(snapshot.dataPlanes.get(dataPlane)?.[types[short]])
    expect(stream.ask(short, 'a b', { versionInfo })).toEqual([`${short} a b`])
    expect(stream.latest(short)?.version).toBe(versionInfo)
  })

  test('48. S: a reconnecting client may ask for some types only, and for what has gone', () => {
    const stream = openSotw()
    stream.publish({ cds: 'a', lds: 'l', rds: 'r' })
    expect(stream.ask('rds', 'gone r', { versionInfo: 'v' })).toEqual(['rds r'])
    expect(notes(stream)).toEqual(['NodeIdentified'])
    stream.ack('rds')
    expect(stream.publish({ cds: 'a=2', lds: 'l=2', rds: 'r=2' })).toEqual(['rds r=2'])
  })
})

describe('versions', () => {
  const contents = ['', 'a', 'b', 'a b', 'a=2 b', 'a b=2', 'a=2 b=2', 'ab', 'b a=b']
  const versionsOf = (variant: (typeof variants)[number]): ReadonlyArray<string | undefined> =>
    contents.map((content) => {
      const stream = openAny(variant)
      stream.publish({ cds: content })
      stream.first('cds')
      return stream.latest('cds')?.version
    })

  test.each(variants)('47. %s: different content never shares a version', (variant) => {
    const versions = versionsOf(variant)
    expect(versions).not.toContain(undefined)
    expect(versions).not.toContain('')
    expect(new Set(versions).size).toBe(contents.length)
  })

  test.each(variants)('47. %s: equal content has equal versions on every server', (variant) => {
    expect(versionsOf(variant)).toEqual(versionsOf(variant))
  })

  test('47. S+D: the version of a type depends on no history and on no order', () => {
    const parts = words('a b c d e').map(aResource)
    const straight = PM.fromEntries(parts)
    const winding = [...parts, aResource('b=2'), aResource('x')]
      .reverse()
      .reduce<PM.PersistentMap<(typeof parts)[number]>>(PM.set, undefined)
    const unwound = PM.set(PM.remove(winding, 'x'), aResource('b'))
    expect(PM.digestOf(unwound)).toBe(PM.digestOf(straight))
    expect(PM.digestOf(view({ [types.cds]: parts })[types.cds])).toBe(PM.digestOf(straight))
  })

  test('47. S+D: a resource’s version tells its name and its content apart', () => {
    const versions = ['a', 'b', 'a=b', 'b=a', 'a=a', 'ab', 'aa', 'a=1'].map(versionOf)
    expect(new Set(versions).size).toBe(versions.length)
    expect(versionOf('a=1>e')).toBe(versionOf('a=1'))
  })
})
