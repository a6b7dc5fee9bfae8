import { describe, expect, test } from 'vitest'
import * as PM from '../../src/core/persistent-map.js'
import { clusterType, listenerType } from '../../src/core/type-url.js'
import { maxForms, unaccepted, unsureOf } from '../../src/core/xds/holding.js'
import { type NodeMemory, unite } from '../../src/core/xds/node-memory.js'
import { aNode, aResource, dataPlane, openAny, openDelta, variants } from '../support/xds.js'

const aMemory = (fields: Partial<NodeMemory>): NodeMemory => ({
  name: aNode.id,
  node: aNode,
  dataPlane,
  accepted: {},
  isUnknown: false,
  isShared: false,
  tables: undefined,
  doubts: {},
  searches: {},
  ...fields,
})

const holding = (...resources: ReadonlyArray<string>): Partial<NodeMemory> => ({
  accepted: { [clusterType]: PM.fromEntries(resources.map(aResource)) },
})

const versionsIn = ({ accepted }: NodeMemory): ReadonlyArray<string> =>
  [...PM.entries(accepted[clusterType])].map(({ version }) => version)

describe('what two clients of one id have accepted', () => {
  test('is what either of them has', () => {
    const both = unite(aMemory(holding('a', 'b')), aMemory(holding('b', 'c')))
    expect([...PM.entries(both.accepted[clusterType])].map(({ name }) => name)).toEqual([
      'a',
      'b',
      'c',
    ])
    expect(both.isShared).toBe(true)
  })

  test('is of each name what the latter has, if it has any', () => {
    const both = unite(aMemory(holding('a=1', 'b=1')), aMemory(holding('a=2')))
    expect(versionsIn(both)).toEqual([aResource('a=2').version, aResource('b=1').version])
  })

  test('is what one of them has where the other has said nothing', () => {
    expect(versionsIn(unite(aMemory(holding('a')), aMemory({})))).toHaveLength(1)
    expect(versionsIn(unite(aMemory({}), aMemory(holding('a'))))).toHaveLength(1)
    expect(unite(aMemory({}), aMemory({})).accepted[listenerType]).toBeUndefined()
  })
})

describe('what another one may have accepted', () => {
  const [first, second] = [aResource('a=1'), aResource('a=2')]

  test('may be what the client holds, and may be what it refuses', () => {
    const known = { accepted: first, forms: [second], isAtomic: true, isSettling: true }
    expect(unaccepted(unsureOf('a', known))).toEqual(
      unsureOf('a', { forms: [first, second], isAtomic: false, isSettling: true }),
    )
  })

  test('adds nothing where nothing was accepted', () => {
    const entry = unsureOf('a', { forms: [second], isUnknown: true })
    expect(unaccepted(entry)).toEqual(entry)
  })

  test('is one of too many to be told apart: then it may hold anything', () => {
    const forms = Array.from({ length: maxForms }, (_, index) => aResource(`a=${index + 3}`))
    const full = unaccepted(unsureOf('a', { accepted: first, forms }))
    expect(full.forms).toEqual(forms)
    expect(full.isUnknown).toBe(true)
    const [, ...rest] = forms
    const justEnough = unaccepted(unsureOf('a', { accepted: first, forms: rest }))
    expect(justEnough.forms).toEqual([first, ...rest])
    expect(justEnough.isUnknown).toBe(false)
  })
})

describe.each(variants)('%s: what an id has refused', (variant) => {
  const refused = (): NodeMemory | undefined => {
    const stream = openAny(variant)
    stream.publish({ eds: 'a=bad' })
    stream.first('eds', 'a')
    stream.nack('eds')
    return stream.memory()
  }
  const comeBack = (memory: NodeMemory | undefined): ReadonlyArray<string> => {
    const stream = openAny(variant, { memory })
    stream.publish({ eds: 'a=bad' })
    return stream.first('eds', 'a')
  }

  test('is not sent to the one that comes back with it', () => {
    expect(comeBack(refused())).toEqual(['eds a=(none)'])
  })

  test('is sent to each that comes with it if several have it: nobody knows which of them has refused', () => {
    const memory = refused()
    expect(comeBack(memory && { ...memory, isShared: true })).toEqual(['eds a=bad'])
  })
})

test('D: of what a shared id has refused nothing is remembered with the next refusal', () => {
  const first = openDelta()
  first.publish({ eds: 'a=bad' })
  first.ask('eds', { subscribe: 'a' })
  first.nack('eds')
  const memory = first.memory()
  const second = openDelta({ memory: memory && { ...memory, isShared: true } })
  second.publish({ eds: 'a=bad' })
  second.ask('eds', { subscribe: 'a' })
  second.nack('eds')
  const [conviction] = [...(Object.values(second.memory()?.searches ?? {})[0]?.convicted ?? [])]
  expect(conviction?.[1].times).toBe(1)
})
