import { virtualClock } from 'edgewright/memory'
import { describe, expect, test } from 'vitest'
import { cutMessage } from '../../src/core/cut-message.js'
import { clusterType, routeType, type TypeUrl } from '../../src/core/type-url.js'
import { type Activity, maxLost, watchActivity } from '../../src/host/activity.js'

const at = (ms: number): string => new Date(ms).toISOString()

const start = () => {
  const clock = virtualClock()
  const activity = watchActivity(clock)
  return { ...activity, ...eventsOf(activity), clock }
}

const eventsOf = ({ observer }: Activity) => ({
  open: (stream: string, id?: string) => {
    observer({ _tag: 'StreamOpened', stream, variant: 'delta', peer: 'test' })
    if (id !== undefined)
      observer({
        _tag: 'NodeIdentified',
        stream,
        node: { id, cluster: '' },
        dataPlane: 'edge-envoy',
        known: true,
      })
  },
  ack: (stream: string, version: string, typeUrl: TypeUrl = routeType) =>
    observer({ _tag: 'ResponseAcked', stream, typeUrl, nonce: version, version }),
  nack: (stream: string, version: string, message: string) =>
    observer({
      _tag: 'ResponseNacked',
      stream,
      typeUrl: routeType,
      nonce: version,
      version,
      error: { code: 13, message },
    }),
  close: (stream: string) => observer({ _tag: 'StreamClosed', stream, reason: 'it left' }),
})

describe('of a stream', () => {
  test('it is known since when it is there, and what it has said last of route tables', () => {
    const { ofStream, open, ack, nack, clock } = start()
    clock.advance(1_000)
    open('1', 'a')
    expect(ofStream('1')).toMatchObject({ since: at(1_000), lastSaid: undefined })
    clock.advance(1_000)
    ack('1', 'v1')
    const acked = { what: 'ACK', at: at(2_000), version: 'v1', message: '' }
    expect(ofStream('1')).toMatchObject({ since: at(1_000), lastSaid: acked })
    clock.advance(1_000)
    nack('1', 'v2', 'no such filter')
    const nacked = { what: 'NACK', at: at(3_000), version: 'v2', message: 'no such filter' }
    expect(ofStream('1')?.lastSaid).toEqual(nacked)
  })

  test('what it says of other types is not noted', () => {
    const { ofStream, open, ack } = start()
    open('1', 'a')
    ack('1', 'v1')
    ack('1', 'v2', clusterType)
    expect(ofStream('1')?.lastSaid?.version).toBe('v1')
  })

  test('a long error is cut', () => {
    const { ofStream, open, nack } = start()
    const long = 'no '.repeat(10_000)
    open('1', 'a')
    nack('1', 'v1', long)
    expect(ofStream('1')?.lastSaid?.message).toBe(cutMessage(long))
    expect(cutMessage(long).length).toBeLessThan(long.length)
  })

  test('that was never opened, or has ended, nothing is known', () => {
    const { ofStream, open, ack, close } = start()
    ack('9', 'v1')
    open('1', 'a')
    close('1')
    ack('1', 'v1')
    expect([ofStream('9'), ofStream('1')]).toEqual([undefined, undefined])
  })
})

describe('of a lost node', () => {
  test('it is known since when, and what it had said last', () => {
    const { ofLost, open, ack, close, clock } = start()
    open('1', 'a')
    ack('1', 'v1')
    clock.advance(5_000)
    expect(ofLost('a')).toBeUndefined()
    close('1')
    const lastSaid = { what: 'ACK', at: at(0), version: 'v1', message: '' }
    expect(ofLost('a')).toEqual({ since: at(5_000), lastSaid })
  })

  test('one that never said who it is leaves nothing', () => {
    const { ofLost, open, close } = start()
    open('1')
    close('1')
    expect(ofLost('')).toBeUndefined()
  })

  test('of two streams with one id the one that ended last is told', () => {
    const { ofLost, open, ack, close, clock } = start()
    open('1', 'a')
    open('2', 'a')
    ack('1', 'v1')
    ack('2', 'v2')
    clock.advance(1_000)
    close('2')
    clock.advance(1_000)
    close('1')
    expect(ofLost('a')).toMatchObject({ since: at(2_000), lastSaid: { version: 'v1' } })
  })

  test('only the last ones are kept; one that was lost again is one of these', () => {
    const { ofLost, open, close } = start()
    const lose = (id: string): void => {
      open(id, id)
      close(id)
    }
    for (let i = 0; i < maxLost; i += 1) lose(`${i}`)
    lose('0')
    lose('one more')
    expect(ofLost('0')).toBeDefined()
    expect(ofLost('1')).toBeUndefined()
    expect(ofLost('2')).toBeDefined()
    expect(ofLost('one more')).toBeDefined()
  })
})
