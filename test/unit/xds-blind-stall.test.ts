import { describe, expect, test } from 'vitest'
import { memoryOf } from '../../src/core/roster.js'
import { unknownTimeoutMs, warmTimeoutMs } from '../../src/core/xds/timers.js'
import { aNode, openDelta, openSotw, type SotwStream, words } from '../support/xds.js'

const node = { ...aNode, buildVersion: { major: 1, minor: 40, patch: 0 } }

const entry = { id: aNode.id, cluster: aNode.cluster, sinceMs: 0, isShared: false, doubts: {} }

const memory = memoryOf(new Map([[aNode.id, entry]])).get(aNode.id)

interface Return {
  readonly clusters: string
  /** The endpoints that it asks for; `undefined` if it asks for none. */
  readonly endpoints?: string
  readonly memory?: typeof memory
}

/** An Envoy that goes on with a table that nobody knows, and has said all that it asks for. */
const comeBack = ({ clusters, endpoints, memory: of }: Return): SotwStream => {
  const stream = openSotw({ node, memory: of })
  stream.publish({ cds: clusters, eds: 'a b bad', lds: 'l', rds: 't' })
  stream.ask('cds', '', { versionInfo: 'v' })
  if (endpoints !== undefined) stream.ask('eds', endpoints, { versionInfo: 'v' })
  stream.ask('lds', '', { versionInfo: 'v' })
  stream.ask('rds', 't', { versionInfo: 'v' })
  stream.pass(10)
  return stream
}

/** All clusters that it gets while it answers nothing of clusters, for so long. */
const wait = (stream: SotwStream, ms: number): ReadonlyArray<string> => {
  const sent: Array<string> = []
  for (let at = 0; at < ms; at += 1_000)
    sent.push(...stream.pass(1_000).filter((each) => each.startsWith('cds')))
  return sent
}

const namesIn = (response: string): ReadonlyArray<string> => words(response).slice(1)

describe('S: after a restart one cluster that is not ready takes no other away', () => {
  test.each([
    ['without a roster', undefined],
    ['with the roster', memory],
  ])('%s, where nothing is said of any', (_, remembered) => {
    const stream = comeBack({ clusters: 'a b bad', memory: remembered })
    stream.ack('lds')
    for (const response of wait(stream, 100_000)) expect(response).toContain('cds a b')
  })

  test('and is taken out alone, if the client has not asked for its endpoints in its first request', () => {
    const stream = comeBack({ clusters: 'a>a b>b bad>bad', endpoints: 'a b' })
    stream.ask('eds', 'a b bad')
    stream.ack('lds')
    expect(stream.pass(warmTimeoutMs - 1)).toEqual([])
    expect(stream.pass(1)).toEqual(['cds a b'])
    stream.ack('cds')
    for (const response of wait(stream, 100_000)) expect(response).toContain('cds a b')
  })

  test('and stays, if the client has asked for its endpoints in its first request', () => {
    const stream = comeBack({ clusters: 'a>a b>b bad>bad', endpoints: 'a b bad' })
    stream.ack('lds')
    expect(wait(stream, 100_000)).toEqual([])
  })

  test('nor does a client that reads nothing for as long as one may', () => {
    const stream = comeBack({ clusters: 'a>a b>b bad>bad' })
    for (const response of wait(stream, 2 * unknownTimeoutMs))
      expect(namesIn(response)).toEqual(expect.arrayContaining(['a', 'b']))
  })

  test('nor does another one behind it, once the first answer has come late', () => {
    const stream = comeBack({ clusters: 'a>a b c bad>bad', endpoints: 'a' })
    stream.ack('lds')
    expect(stream.pass(warmTimeoutMs)).toEqual(['cds a b c'])
    const [first] = stream.responses()
    stream.ask('cds', '', { responseNonce: first?.nonce ?? '', versionInfo: first?.version ?? '' })
    for (const response of wait(stream, 100_000))
      expect(namesIn(response)).toEqual(expect.arrayContaining(['a', 'b', 'c']))
  })

  test.each([
    ['some', 'a>a b>b', 'cds a b'],
    ['none', '', 'cds'],
  ])('and one that comes later is taken out, once it has accepted %s', (_, clusters, left) => {
    const stream = comeBack({ clusters, endpoints: 'a b' })
    stream.ack('cds')
    stream.publish({ cds: `${clusters} late`, eds: 'a b bad', lds: 'l', rds: 't' })
    expect(stream.pass(warmTimeoutMs)).toEqual([left])
  })
})

test('D: a cluster whose endpoints were asked for at first stays, though its name was not told', () => {
  const stream = openDelta({ node })
  stream.publish({ cds: 'a>a b>b new>new', eds: 'a b new', lds: 'l', rds: 't' })
  stream.ask('cds', { initial: { a: 'x' } })
  stream.ask('eds', { subscribe: 'a b', initial: { a: 'x', b: 'x' } })
  stream.ask('lds', { initial: { l: 'x' } })
  stream.ask('rds', { subscribe: 't', initial: { t: 'x' } })
  stream.pass(10)
  stream.ack('lds')
  const sent = stream.pass(warmTimeoutMs).filter((each) => each.startsWith('cds'))
  expect(sent).toEqual(['cds -new'])
})
