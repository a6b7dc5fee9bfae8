import { describe, expect, test } from 'vitest'
import { bytesResource, type Ref, type Resource } from '../../src/core/resource.js'
import { type Snapshot, view } from '../../src/core/snapshot.js'
import { clusterType, endpointType, routeType, type TypeUrl } from '../../src/core/type-url.js'
import { clusterLingerMs } from '../../src/core/xds/linger.js'
import type { Response, Variant } from '../../src/core/xds/messages.js'
import {
  aNode,
  dataPlane,
  openDelta,
  openStream,
  refusal,
  type Short,
  shorts,
  types,
  variants,
  words,
} from '../support/xds.js'

const text = new TextEncoder()

const ref =
  (typeUrl: TypeUrl) =>
  (name: string): Ref => ({ typeUrl, name })

/** Clusters with endpoints of their own name, and tables (`t=a,b`) that send to some of them. */
const world = (clusters: string, tables = ''): Snapshot => {
  const cluster = (name: string): Resource =>
    bytesResource(name, text.encode(''), [ref(endpointType)(name)])
  const table = (of: string): Resource => {
    const [name = '', to = ''] = of.split('=')
    return bytesResource(name, text.encode(to), to.split(',').map(ref(clusterType)))
  }
  return {
    dataPlanes: new Map([
      [
        dataPlane,
        view({
          [clusterType]: words(clusters).map(cluster),
          [endpointType]: words(clusters).map((name) => bytesResource(name, text.encode('at'))),
          [routeType]: words(tables).map(table),
        }),
      ],
    ]),
  }
}

interface Client {
  readonly publish: (snapshot: Snapshot) => ReadonlyArray<string>
  readonly pass: (ms: number) => ReadonlyArray<string>
  /** Accepts what it was sent of a type and has not answered. */
  readonly accept: (short: Short) => ReadonlyArray<string>
  readonly refuse: (short: Short) => ReadonlyArray<string>
  /** Accepts whatever comes, until nothing does. */
  readonly settle: () => ReadonlyArray<string>
  /** The clusters that it was sent, and was not told to be gone. */
  readonly clusters: () => string
  readonly repeatClusters: () => ReadonlyArray<string>
}

/** A client that asks for all clusters, endpoints and listeners, and for the tables `t` and `u`. */
const open = (variant: Variant, first: Snapshot): Client => {
  const stream = openStream(variant)
  const answered = new Set<Response>()
  const namesOf = (short: Short): ReadonlyArray<string> =>
    short === 'rds' ? ['t', 'u'] : short === 'eds' ? ['*'] : []
  const say = (short: Short, response?: Response, refuses = false): ReadonlyArray<string> => {
    const said = {
      node: aNode,
      typeUrl: types[short],
      responseNonce: response?.nonce ?? '',
      errorDetail: refuses ? refusal : undefined,
    }
    if (response !== undefined) answered.add(response)
    return variant === 'sotw'
      ? stream.receive({
          _tag: 'Sotw',
          ...said,
          resourceNames: namesOf(short),
          versionInfo: refuses ? '' : (response?.version ?? ''),
        })
      : stream.receive({
          _tag: 'Delta',
          ...said,
          subscribe: response === undefined ? namesOf(short) : [],
          unsubscribe: [],
          initialResourceVersions: new Map(),
        })
  }
  const unanswered = (short: Short): ReadonlyArray<Response> =>
    stream
      .responses()
      .filter((each) => each.typeUrl === types[short])
      .filter((each) => !answered.has(each))
  const answer = (short: Short, refuses: boolean): ReadonlyArray<string> => {
    const waiting = unanswered(short)
    const asked = variant === 'sotw' ? waiting.slice(-1) : waiting
    for (const each of waiting) answered.add(each)
    return asked.flatMap((response) => say(short, response, refuses))
  }
  const settle = (): ReadonlyArray<string> => {
    const sent: Array<string> = []
    for (let round = 0; round < 20; round++) {
      const more = shorts.flatMap((short) => answer(short, false))
      if (more.length === 0 && shorts.every((short) => unanswered(short).length === 0)) return sent
      sent.push(...more)
    }
    throw new Error('still not at rest')
  }
  stream.publish(first)
  for (const short of shorts) say(short)
  settle()
  return {
    publish: stream.publish,
    pass: stream.pass,
    accept: (short) => answer(short, false),
    refuse: (short) => answer(short, true),
    settle,
    clusters: () => heldIn(variant, stream.responses()),
    repeatClusters: () => say('cds', stream.latest('cds')),
  }
}

const heldIn = (variant: Variant, responses: ReadonlyArray<Response>): string => {
  const held = new Set<string>()
  for (const { typeUrl, resources, removed } of responses) {
    if (typeUrl !== clusterType) continue
    if (variant === 'sotw') held.clear()
    for (const { name } of resources) held.add(name)
    for (const name of removed) held.delete(name)
  }
  return [...held].sort().join(' ')
}

const of = (short: Short, responses: ReadonlyArray<string>): ReadonlyArray<string> =>
  responses.filter((response) => response.startsWith(short))

describe.each(variants)('52. %s: clusters leave behind the tables that name them', (variant) => {
  const gone = (name: string, left: string): string =>
    variant === 'sotw' ? `cds ${left}`.trim() : `cds -${name}`

  test('a route that goes is followed by its cluster, 10 s after the client let go of it', () => {
    const client = open(variant, world('a b', 't=a,b'))
    expect(client.publish(world('a', 't=a'))).toEqual(['rds t=a'])
    expect(client.pass(60_000)).toEqual([])
    expect(client.accept('rds')).toEqual([])
    expect(client.pass(clusterLingerMs - 1)).toEqual([])
    expect(client.clusters()).toBe('a b')
    expect(of('cds', client.pass(1))).toEqual([gone('b', 'a')])
  })

  test('its endpoints go with it, and not before', () => {
    const client = open(variant, world('a b', 't=a,b'))
    client.publish(world('a', 't=a'))
    expect(of('eds', client.settle())).toEqual([])
    expect(of('eds', client.pass(clusterLingerMs))).toEqual(variant === 'sotw' ? [] : ['eds -b'])
  })

  test('a route that moves waits for its new cluster, and leaves the old one behind', () => {
    const client = open(variant, world('a', 't=a'))
    expect(client.publish(world('b', 't=b'))).toEqual([
      variant === 'sotw' ? 'cds a b' : 'cds b',
      'eds b=at',
    ])
    expect(client.accept('eds')).toEqual([])
    expect(client.accept('cds')).toEqual(['rds t=b'])
    expect(client.accept('rds')).toEqual([])
    expect(of('cds', client.pass(clusterLingerMs))).toEqual([gone('a', 'b')])
  })

  test('a first table waits until the clusters that it names are accepted', () => {
    const client = open(variant, world(''))
    expect(of('rds', client.publish(world('a b', 't=a,b')))).toEqual([])
    expect(client.accept('eds')).toEqual([])
    expect(client.accept('cds')).toEqual(['rds t=a,b'])
  })

  test('a table that names a refused cluster goes on in the form that was accepted', () => {
    const client = open(variant, world('a', 't=a'))
    client.publish(world('a b', 't=a,b'))
    expect(of('rds', [...client.refuse('cds'), ...client.settle()])).toEqual([])
    expect(client.publish(world('a c', 't=a,c'))).toContain(
      variant === 'sotw' ? 'cds a c' : 'cds c',
    )
    expect(client.settle()).toContain('rds t=a,c')
  })

  test('while the table is refused, the clusters stay that the one before it names', () => {
    const client = open(variant, world('a b', 't=a,b'))
    client.publish(world('a', 't=a'))
    client.refuse('rds')
    client.publish(world('a c', 't=a,c'))
    client.accept('cds')
    expect(of('cds', client.pass(clusterLingerMs))).toEqual([])
    expect(client.clusters()).toBe('a b c')
    client.settle()
    expect(of('cds', client.pass(clusterLingerMs))).toEqual([gone('b', 'a c')])
  })

  test('what was refused may be live in parts: its clusters stay until the table is accepted', () => {
    const client = open(variant, world('a', 't=a'))
    client.publish(world('a b', 't=a,b'))
    client.accept('cds')
    client.refuse('rds')
    client.publish(world('a c', 't=a,c'))
    client.accept('cds')
    expect(of('cds', client.pass(clusterLingerMs))).toEqual([])
    expect(client.clusters()).toBe('a b c')
    client.settle()
    expect(of('cds', client.pass(clusterLingerMs))).toEqual([gone('b', 'a c')])
  })

  test('a cluster that no table names stays as long: a request may still be held with it', () => {
    const client = open(variant, world('a b', 't=a'))
    expect(client.publish(world('a', 't=a'))).toEqual([])
    expect(client.pass(clusterLingerMs - 1)).toEqual([])
    expect(of('cds', client.pass(1))).toEqual([gone('b', 'a')])
  })

  test('one that comes back meanwhile was never gone, and when it goes again its time starts anew', () => {
    const client = open(variant, world('a b', 't=a'))
    client.publish(world('a', 't=a'))
    client.pass(clusterLingerMs - 1)
    expect(client.publish(world('a b', 't=a,b'))).toEqual(['rds t=a,b'])
    client.settle()
    expect(client.pass(clusterLingerMs)).toEqual([])
    client.publish(world('a', 't=a'))
    client.settle()
    expect(client.pass(clusterLingerMs - 1)).toEqual([])
    expect(of('cds', client.pass(1))).toEqual([gone('b', 'a')])
  })

  test('what lingered leaves no trace: an unchanged world is silent', () => {
    const client = open(variant, world('a b', 't=a,b'))
    client.publish(world('a', 't=a'))
    client.settle()
    expect(client.publish(world('a', 't=a'))).toEqual([])
    client.pass(clusterLingerMs)
    client.settle()
    expect(client.publish(world('a', 't=a'))).toEqual([])
    expect(client.pass(60_000)).toEqual([])
  })

  test('what another table has accepted says nothing of the one that was refused', () => {
    const client = open(variant, world('a b', 't=a,b u=a'))
    client.publish(world('a', 't=a u=a'))
    client.refuse('rds')
    client.publish(world('a', 't=a u=a'))
    expect(of('cds', client.pass(clusterLingerMs))).toEqual([])
    expect(client.clusters()).toBe('a b')
  })

  test('57. a table that is taken away is kept by the client, and so are its clusters', () => {
    const client = open(variant, world('a b', 't=b u=a'))
    client.publish(world('a', 'u=a'))
    client.settle()
    expect(of('cds', client.pass(clusterLingerMs))).toEqual([])
    expect(client.clusters()).toBe('a b')
  })

  test('one that is slow to become ready is taken out, and frees the answers to others', () => {
    const client = open(variant, world('a', 't=a'))
    client.publish(world('a b', 't=a,b'))
    client.pass(1)
    expect(client.accept('eds')).toEqual([])
    expect(client.pass(4_998)).toEqual([])
    expect(of('cds', client.pass(1))).toEqual([gone('b', 'a')])
    client.settle()
    client.publish(world('a b c', 't=a,c'))
    expect(client.clusters()).toBe('a c')
    expect(client.settle()).toContain('rds t=a,c')
  })
})

test('52. S: a client that asks for its clusters again gets those that linger, too', () => {
  const client = open('sotw', world('a b', 't=a,b'))
  client.publish(world('a', 't=a'))
  client.settle()
  expect(of('cds', client.repeatClusters())).toEqual(['cds a b'])
})

describe('52. D: a cluster that only the client knows', () => {
  test('stays as long as any other, since its tables cannot be known', () => {
    const stream = openDelta()
    stream.publish({ cds: 'a' })
    expect(stream.ask('cds', { initial: { gone: 'v' } })).toEqual(['cds a'])
    expect(stream.ack('cds')).toEqual([])
    expect(stream.pass(clusterLingerMs - 1)).toEqual([])
    expect(stream.pass(1)).toEqual(['cds -gone'])
  })

  test('and that it asks for by name is said to be gone at once', () => {
    const stream = openDelta()
    stream.publish({})
    expect(stream.ask('cds', { subscribe: 'gone', initial: { gone: 'v' } })).toEqual(['cds -gone'])
  })
})
