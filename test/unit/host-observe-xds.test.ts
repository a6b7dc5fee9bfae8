import { observeXds, type ObserveOptions } from 'edgewright/host'
import { expect, test } from 'vitest'
import { clusterType } from '../../src/core/type-url.js'
import type { LogLevel, LogValue } from '../../src/ports/logger.js'
import type { XdsEvent } from '../../src/ports/xds-observer.js'

interface Entry {
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, LogValue>>
}

const observe = (events: ReadonlyArray<XdsEvent>, options?: ObserveOptions) => {
  const entries: Array<Entry> = []
  const figures = new Map<string, number>()
  const key = (name: string, labels: object): string => `${name}${JSON.stringify(labels)}`
  const observer = observeXds(
    { log: (level, message, fields = {}) => void entries.push({ level, message, fields }) },
    {
      add: (name, labels, amount) =>
        void figures.set(key(name, labels), (figures.get(key(name, labels)) ?? 0) + amount),
      set: (name, labels, value) => void figures.set(key(name, labels), value),
    },
    options,
  )
  events.forEach(observer)
  return { entries, figures }
}

const opened = (stream: string): XdsEvent => ({
  _tag: 'StreamOpened',
  stream,
  variant: 'delta',
  peer: '127.0.0.1:5',
})
const closed = (stream: string): XdsEvent => ({ _tag: 'StreamClosed', stream, reason: 'gone' })
const identified = (stream: string, known: boolean): XdsEvent => ({
  _tag: 'NodeIdentified',
  stream,
  node: { id: `node-${stream}`, cluster: 'c' },
  dataPlane: 'c',
  known,
})
const exchange = { stream: '1', typeUrl: clusterType, nonce: '7', version: 'v' } as const
const nacked = (message: string): XdsEvent => ({
  _tag: 'ResponseNacked',
  ...exchange,
  error: { code: 13, message },
})

test('an Envoy that comes, says who it is and goes is logged at info, and counted while it is there', () => {
  const there = observe([opened('1'), opened('2'), identified('1', true), closed('2')])
  expect(there.entries.map(({ level }) => level)).toEqual(['info', 'info', 'info', 'info'])
  expect(there.figures.get('edgewright_xds_streams{"variant":"delta"}')).toBe(1)
  const gone = observe([opened('1'), closed('1')])
  expect(gone.figures.get('edgewright_xds_streams{"variant":"delta"}')).toBe(0)
})

test('once a stream has said its node, every line names it', () => {
  const { entries } = observe([opened('1'), identified('1', true), nacked('no'), closed('1')])
  expect(entries.map(({ fields }) => fields['node'])).toEqual([
    undefined,
    'node-1',
    'node-1',
    'node-1',
  ])
})

test('an Envoy of a data plane that is not known is a warning and a figure', () => {
  const { entries, figures } = observe([opened('1'), identified('1', false)])
  expect(entries.at(-1)?.level).toBe('warn')
  expect(entries.at(-1)?.fields['dataPlane']).toBe('c')
  expect(entries.at(-1)?.message).toMatch(/node\.cluster.*--data-plane/)
  expect(figures.get('edgewright_xds_unknown_data_plane_total{}')).toBe(1)
})

test('an ACK is logged at debug, a NACK at warn, and both are counted', () => {
  const { entries, figures } = observe([{ _tag: 'ResponseAcked', ...exchange }, nacked('no')])
  expect(entries.map(({ level }) => level)).toEqual(['debug', 'warn'])
  expect(figures.get('edgewright_xds_acks_total{"type":"Cluster"}')).toBe(1)
  expect(figures.get('edgewright_xds_nacks_total{"type":"Cluster"}')).toBe(1)
})

test('of a long refusal the beginning and the end are kept, for the reason may stand at either', () => {
  const { entries } = observe([nacked(`first${'x'.repeat(5000)}last`)])
  const error = String(entries[0]?.fields['error'])
  expect(error.length).toBeLessThan(700)
  expect(error.startsWith('first')).toBe(true)
  expect(error.endsWith('last')).toBe(true)
})

const refused = (owners: ReadonlyArray<string>, message = 'no such filter'): XdsEvent => ({
  _tag: 'RefusalFound',
  stream: '1',
  typeUrl: clusterType,
  name: 'shop/checkout',
  owners,
  message,
})

test('what an Envoy refuses is a warning with its objects, by name where that is known, and a figure', () => {
  const nameOf = (uid: string): string | undefined => (uid === 'u1' ? 'shop/checkout' : undefined)
  const { entries, figures } = observe(
    [opened('1'), identified('1', true), refused(['u1', 'u2'])],
    { nameOf },
  )
  expect(entries.at(-1)?.level).toBe('warn')
  expect(entries.at(-1)?.fields).toEqual({
    stream: '1',
    node: 'node-1',
    type: 'Cluster',
    name: 'shop/checkout',
    objects: 'shop/checkout, u2',
    error: 'no such filter',
  })
  expect(figures.get('edgewright_xds_refusals_total{"type":"Cluster"}')).toBe(1)
})

test('what belongs to no object names none, and a line break at the end of a reason is left out', () => {
  const { entries } = observe([refused([], 'cannot bind\n'), nacked('cannot bind\r\n')])
  expect(entries[0]?.fields['objects']).toBe(undefined)
  expect(entries.map(({ fields }) => fields['error'])).toEqual(['cannot bind', 'cannot bind'])
})

test('of many objects a few are named, and a long reason is cut', () => {
  const many = Array.from({ length: 1_000 }, (_, n) => `u${n}`)
  const { entries } = observe([refused(many, 'x'.repeat(5_000))])
  const { objects, error } = entries[0]?.fields ?? {}
  expect(objects).toBe('u0, u1, u2, u3, u4, u5, u6, u7 and 992 more')
  expect(String(error).length).toBeLessThan(700)
})
