import { describe, expect, test } from 'vitest'
import type { NodeIdentity } from '../../src/core/xds/messages.js'
import { unknownTimeoutMs, warmTimeoutMs } from '../../src/core/xds/timers.js'
import { aNode, type DeltaStream, openDelta, versionOf } from '../support/xds.js'

const envoy: NodeIdentity = { ...aNode, buildVersion: { major: 1, minor: 40, patch: 0 } }

/** An Envoy that goes on with clusters and a table, and has said all that it asks for. */
const comeBack = (clusters: Readonly<Record<string, string>>, node = envoy): DeltaStream => {
  const stream = openDelta({ node })
  stream.publish({ cds: 'a=2 new', lds: 'l=2', rds: 't=2' })
  expect(stream.ask('cds', { initial: clusters }).join()).toContain('new')
  stream.pass(10)
  stream.ask('lds', { initial: { l: 'x' } })
  stream.ask('rds', { subscribe: 't', initial: { t: 'x' } })
  return stream
}

const ownForm = { a: 'x' }

describe('clusters without an answer', () => {
  test('are waited for long while an Envoy that brings its own has said nothing but what it asks for', () => {
    const stream = comeBack(ownForm)
    expect(stream.pass(warmTimeoutMs)).toEqual([])
    expect(stream.pass(unknownTimeoutMs - warmTimeoutMs - 11)).toEqual([])
    expect(stream.pass(1)).toEqual(['cds -new'])
  })

  test('are given the whole time from its first answer of whatever type on, and no more', () => {
    const stream = comeBack(ownForm)
    stream.pass(20_000)
    stream.ack('lds')
    expect(stream.pass(warmTimeoutMs - 1)).toEqual([])
    expect(stream.pass(1)).toEqual(['cds -new'])
  })

  test('are not waited for any longer by an answer that is not the first', () => {
    const stream = comeBack(ownForm)
    stream.ack('lds')
    stream.publish({ cds: 'a=2 new', lds: 'l=3', rds: 't=2' })
    stream.pass(warmTimeoutMs - 1)
    stream.ack('lds')
    expect(stream.pass(1)).toEqual(['cds -new'])
  })

  test('are not waited for long if it has named one in the form that is published', () => {
    const stream = comeBack({ a: versionOf('a=2') })
    expect(stream.pass(warmTimeoutMs)).toEqual(['cds -new'])
  })

  test('are not waited for long from a client that is no Envoy', () => {
    const stream = comeBack(ownForm, aNode)
    expect(stream.pass(warmTimeoutMs)).toEqual(['cds -new'])
  })
})
