import { describe, expect, test } from 'vitest'
import { ledgerOf } from '../../src/core/ledger.js'
import { openFleet, rememberAll, step, type FleetState } from '../../src/core/xds/fleet.js'
import { aNode, aSnapshot, openDelta, openSotw, refusal, types, versionOf } from '../support/xds.js'

const build = (minor: number) => ({ ...aNode, buildVersion: { major: 1, minor, patch: 0 } })

test('31. D: what was published when it was not asked for is sent once everything is, though something is refused', () => {
  const stream = openDelta()
  stream.publish({ lds: 'c' })
  stream.ask('lds', { subscribe: 'a' })
  stream.ack('lds')
  stream.publish({ lds: 'a' })
  stream.ask('lds', { subscribe: '*' })
  stream.publish({ lds: 'a c' })
  stream.nack('lds')
  for (let round = 0; round < 5; round++) stream.ack('lds')
  const sent = stream.responses().flatMap(({ resources }) => resources.map(({ name }) => name))
  expect(sent).toContain('c')
})

describe('S: a process that comes up anew under a name that is remembered', () => {
  const before = () => {
    const stream = openSotw()
    stream.publish({ lds: 'a' })
    stream.ask('lds')
    stream.ack('lds')
    return stream.memory()
  }

  test('is tried again with a listener that the one before had accepted, and it refuses', () => {
    const stream = openSotw({ memory: before() })
    stream.publish({ lds: 'a' })
    expect(stream.ask('lds')).toEqual(['lds a'])
    stream.nack('lds')
    expect(stream.pass(1_000)).toEqual(['lds a'])
  })
})

describe('an Envoy that comes back', () => {
  const refused = () => {
    const stream = openDelta({ node: build(39) })
    stream.publish({ eds: 'a' })
    stream.ask('eds', { subscribe: 'a' })
    stream.nack('eds')
    return stream.memory()
  }

  test('in another build is asked again about what it has refused', () => {
    const stream = openDelta({ memory: refused(), node: build(40) })
    stream.publish({ eds: 'a' })
    expect(stream.ask('eds', { subscribe: 'a' })).toEqual(['eds a'])
  })

  test('in the same build is not', () => {
    const stream = openDelta({ memory: refused(), node: build(39) })
    stream.publish({ eds: 'a' })
    expect(stream.ask('eds', { subscribe: 'a' })).toEqual(['eds a=(none)'])
  })
})

test('D: a cluster that a client brings in a form that it once accepted goes back to that if the new one stalls', () => {
  const first = openDelta()
  first.publish({ cds: 'a=1' })
  first.ask('cds')
  first.ack('cds')
  const second = openDelta({ memory: first.memory() })
  second.publish({ cds: 'a=2' })
  expect(second.ask('cds', { initial: { a: versionOf('a=1') } })).toEqual(['cds a=2'])
  expect(second.pass(5_000)).toEqual(['cds a=1'])
})

describe('what is remembered', () => {
  const lose = (): FleetState => {
    let state = openFleet()
    const feed = (event: Parameters<typeof step>[1]): void => {
      state = step(state, event, 0)[0]
    }
    const request = {
      _tag: 'Sotw' as const,
      node: aNode,
      typeUrl: types.lds,
      resourceNames: [],
      versionInfo: '',
      responseNonce: '',
      errorDetail: undefined,
    }
    feed({ _tag: 'SnapshotPublished', snapshot: aSnapshot({ lds: 'a' }) })
    feed({ _tag: 'StreamOpened', stream: '1', variant: 'sotw' })
    feed({ _tag: 'RequestReceived', stream: '1', request })
    const nack = { ...request, responseNonce: '1', errorDetail: refusal }
    feed({ _tag: 'RequestReceived', stream: '1', request: nack })
    feed({ _tag: 'StreamClosed', stream: '1' })
    return state
  }

  test('says what a lost node refuses', () => {
    const [lost] = ledgerOf(lose()).nodes
    expect(lost?.connected).toBe(false)
    expect(lost?.refusals.map(({ name, message }) => [name, message])).toEqual([['a', 'refused']])
  })

  test('says how many nodes were forgotten before, also to the next control plane', () => {
    const memory = rememberAll({ ...lose(), forgotten: 3 })
    expect(ledgerOf(openFleet(undefined, memory)).forgotten).toBe(3)
  })

  test('of a node that has answered listeners without asking for tables is that it has none', () => {
    const stream = openSotw()
    stream.publish({ lds: 'a' })
    stream.ask('lds', '', { versionInfo: 'v' })
    expect(stream.memory()?.isUnknown).toBe(true)
    stream.ack('lds')
    expect(stream.memory()?.isUnknown).toBe(false)
  })
})
