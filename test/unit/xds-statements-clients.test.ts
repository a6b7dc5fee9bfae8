import { describe, expect, test } from 'vitest'
import { bytesResource } from '../../src/core/resource.js'
import { view } from '../../src/core/snapshot.js'
import { clusterType, type TypeUrl } from '../../src/core/type-url.js'
import {
  aNode,
  dataPlane,
  notes,
  openAny,
  openDelta,
  openSotw,
  types,
  variants,
  versionOf,
} from '../support/xds.js'

describe('clients of their own kind', () => {
  const noLegacyWildcard = { legacyWildcard: new Set<TypeUrl>([types.lds]) }

  test.each(variants)('41. %s: no names can be made to mean nothing, type by type', (variant) => {
    const stream = openAny(variant, { options: noLegacyWildcard })
    stream.publish({ cds: 'a', lds: 'l' })
    expect(stream.first('lds')).toEqual(['lds l'])
    stream.first('cds')
    stream.publish({ cds: 'a=2', lds: 'l' })
    const clusters = stream.responses().filter(({ typeUrl }) => typeUrl === types.cds)
    expect(clusters.flatMap(({ resources }) => resources)).toEqual([])
  })

  test.each(variants)('41. %s: * means everything all the same', (variant) => {
    const stream = openAny(variant, { options: noLegacyWildcard })
    stream.publish({ cds: 'a b' })
    expect(stream.first('cds', '*')).toEqual(['cds a b'])
  })

  const v1 = (minor: number) => ({ ...aNode, buildVersion: { major: 1, minor, patch: 4 } })
  const known = { a: versionOf('a'), b: versionOf('b') }

  test.each(['cds', 'lds'] as const)(
    '41b. D: an old Envoy that reconnects with the names it knows wants all of %s',
    (short) => {
      const stream = openDelta({ node: v1(18) })
      stream.publish({ [short]: 'a b=2 c' })
      expect(stream.ask(short, { subscribe: 'a b', initial: known })).toEqual([`${short} b=2 c`])
      stream.ack(short)
      expect(stream.publish({ [short]: 'a b=2 c d' })).toEqual([`${short} d`])
    },
  )

  test('41b. D: from 1.19 on names mean names', () => {
    const stream = openDelta({ node: v1(19) })
    stream.publish({ lds: 'a b=2 c' })
    expect(stream.ask('lds', { subscribe: 'a b', initial: known })).toEqual(['lds b=2'])
    stream.ack('lds')
    expect(stream.publish({ lds: 'a b=2 c d' })).toEqual([])
  })

  test('41b. D: a major version above 1 is no old one', () => {
    const stream = openDelta({ node: { ...aNode, buildVersion: { major: 2, minor: 0, patch: 0 } } })
    stream.publish({ lds: 'a b=2 c' })
    expect(stream.ask('lds', { subscribe: 'a b', initial: known })).toEqual(['lds b=2'])
  })

  test('41b. D: an Envoy that does not say its version is no old one', () => {
    const stream = openDelta()
    stream.publish({ lds: 'a b=2 c' })
    expect(stream.ask('lds', { subscribe: 'a b', initial: known })).toEqual(['lds b=2'])
  })

  test('41b. D: an old Envoy that brings no versions has its names taken as names', () => {
    const stream = openDelta({ node: v1(18) })
    stream.publish({ lds: 'a b c' })
    expect(stream.ask('lds', { subscribe: 'a' })).toEqual(['lds a'])
  })

  test('41b. D: endpoints and routes of an old Envoy are always by name', () => {
    const stream = openDelta({ node: v1(18) })
    stream.publish({ eds: 'a b c', rds: 'a b c' })
    expect(stream.ask('eds', { subscribe: 'a b', initial: known })).toEqual([])
    expect(stream.ask('rds', { subscribe: 'a b', initial: known })).toEqual([])
    expect(stream.publish({ eds: 'a b c=2', rds: 'a b c=2' })).toEqual([])
  })
})

describe('strange names', () => {
  const strange = [
    'xdstp://authority/envoy.config.listener.v3.Listener/foo/*?a=b%2A',
    'prefix/*',
    '**',
    '*a',
    '%2A',
    ' ',
    '__proto__',
    'constructor',
    'ä/🙂#?',
    'n'.repeat(100_000),
  ]
  const content = new Uint8Array()
  const snapshot = {
    dataPlanes: new Map([
      [
        dataPlane,
        view({
          [clusterType]: [...strange, 'a', 'prefix/a'].map((name) => bytesResource(name, content)),
        }),
      ],
    ]),
  }

  test('42. S: a name is compared as a whole, and only * is everything', () => {
    for (const name of strange) {
      const stream = openSotw()
      stream.publish(snapshot)
      stream.ask('cds', '', { resourceNames: [name] })
      expect(stream.latest('cds')?.resources.map((resource) => resource.name)).toEqual([name])
      expect(notes(stream)).toEqual(['NodeIdentified'])
    }
  })

  test('42. D: a name is compared as a whole, and only * is everything', () => {
    for (const name of strange) {
      const stream = openDelta()
      stream.publish(snapshot)
      stream.ask('cds', {}, { subscribe: [name, 'missing/*'] })
      expect(stream.latest('cds')?.resources.map((resource) => resource.name)).toEqual([name])
      stream.ack('cds')
      expect(stream.latest('cds')?.removed).toEqual(['missing/*'])
    }
  })
})
