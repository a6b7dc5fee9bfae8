import { describe, expect, test } from 'vitest'
import { bytesResource, type Ref, type Resource } from '../../src/core/resource.js'
import { type Snapshot, view } from '../../src/core/snapshot.js'
import { clusterType, endpointType, routeType, typeUrls } from '../../src/core/type-url.js'
import type { SessionEffect } from '../../src/core/xds/session.js'
import { aNode, dataPlane, openStream, sentBy, showResponse, variants } from '../support/xds.js'

const text = new TextEncoder()

/** Clusters with endpoints of their own name, and tables that send to some of them. */
const world = (
  clusters: ReadonlyArray<string>,
  routed: ReadonlyArray<string> | undefined,
  others: ReadonlyArray<string> = [],
): Snapshot => {
  const ref = (typeUrl: Ref['typeUrl']) => (name: string) => ({ typeUrl, name })
  const cluster = (name: string): Resource =>
    bytesResource(name, text.encode(name), [ref(endpointType)(name)])
  const table = (name: string, to: ReadonlyArray<string>): Resource =>
    bytesResource(name, text.encode(to.join()), to.map(ref(clusterType)))
  return {
    dataPlanes: new Map([
      [
        dataPlane,
        view({
          [clusterType]: clusters.map(cluster),
          [endpointType]: clusters.map((name) => bytesResource(name, text.encode(`at ${name}`))),
          [routeType]: [
            ...(routed === undefined ? [] : [table('t', routed)]),
            ...(others.length === 0 ? [] : [table('u', others)]),
          ],
        }),
      ],
    ]),
  }
}

/** A client that asks for everything of a type, or for the tables `t` and `u`. */
const open = (variant: 'sotw' | 'delta') => {
  const stream = openStream(variant)
  const ask = (typeUrl: string, nonce = '', refuses = false): ReadonlyArray<string> => {
    const names = typeUrl === routeType ? ['t', 'u'] : []
    const sent = stream.responses().findLast((response) => response.nonce === nonce)
    const answer = {
      node: aNode,
      typeUrl,
      responseNonce: nonce,
      errorDetail: refuses ? { code: 13, message: 'refused' } : undefined,
    }
    return variant === 'sotw'
      ? stream.receive({
          _tag: 'Sotw',
          ...answer,
          resourceNames: names,
          versionInfo: refuses ? '' : (sent?.version ?? ''),
        })
      : stream.receive({
          _tag: 'Delta',
          ...answer,
          subscribe: nonce === '' ? names : [],
          unsubscribe: [],
          initialResourceVersions: new Map(),
        })
  }
  const answer = (typeUrl: string, refuses = false): ReadonlyArray<string> => {
    const last = stream.responses().findLast((response) => response.typeUrl === typeUrl)
    return ask(typeUrl, last?.nonce, refuses)
  }
  const start = (snapshot: Snapshot): void => {
    stream.publish(snapshot)
    for (const typeUrl of typeUrls) ask(typeUrl)
    for (const typeUrl of typeUrls) answer(typeUrl)
  }
  const publish = (snapshot: Snapshot): ReadonlyArray<string> => {
    const effects: ReadonlyArray<SessionEffect> = stream.feed({
      _tag: 'SnapshotPublished',
      snapshot,
    })
    return sentBy(effects).map((response) => showResponse(response).split('=')[0] ?? '')
  }
  const repeat = (typeUrl: string): ReadonlyArray<string> => answer(typeUrl)
  return { start, publish, answer, repeat }
}

const without = (responses: ReadonlyArray<string>, type: string): ReadonlyArray<string> =>
  responses.filter((response) => !response.startsWith(type))

describe.each(variants)('52. %s: clusters leave behind the tables that name them', (variant) => {
  test('a route that goes takes its cluster along when the client has let go of it', () => {
    const client = open(variant)
    client.start(world(['a', 'b'], ['a', 'b']))
    expect(client.publish(world(['a'], ['a']))).toEqual(['rds t'])
    expect(without(client.answer(routeType), 'eds')).toEqual([
      variant === 'sotw' ? 'cds a=a' : 'cds -b',
    ])
  })

  test('a route that moves finds its new cluster there, and leaves the old one for last', () => {
    const client = open(variant)
    client.start(world(['a'], ['a']))
    expect(client.publish(world(['b'], ['b'])).map((response) => response.slice(0, 3))).toEqual([
      'cds',
      'eds',
      'rds',
    ])
    expect(client.answer(clusterType)).toEqual([])
    expect(client.answer(endpointType)).toEqual([])
    expect(without(client.answer(routeType), 'eds')).toEqual([
      variant === 'sotw' ? 'cds b=b' : 'cds -a',
    ])
  })

  test('while the table is refused, the clusters stay that the one before it names', () => {
    const client = open(variant)
    client.start(world(['a', 'b'], ['a', 'b']))
    client.publish(world(['a'], ['a']))
    expect(client.answer(routeType, true)).toEqual([])
    expect(client.publish(world(['a', 'c'], ['a', 'c'])).join()).not.toContain('-b')
    client.answer(clusterType)
    client.answer(endpointType)
    const after = client.answer(routeType)
    expect(without(after, 'eds')).toEqual([variant === 'sotw' ? 'cds a=a c=c' : 'cds -b'])
  })

  test('a cluster that no table names goes at once', () => {
    const client = open(variant)
    client.start(world(['a', 'b'], ['a']))
    const sent = client.publish(world(['a'], ['a']))
    expect(sent).toContain(variant === 'sotw' ? 'cds a' : 'cds -b')
  })

  test('what was held leaves no trace: an unchanged world is silent', () => {
    const client = open(variant)
    client.start(world(['a', 'b'], ['a', 'b']))
    client.publish(world(['a'], ['a']))
    for (const typeUrl of [routeType, clusterType, endpointType]) client.answer(typeUrl)
    expect(client.publish(world(['a'], ['a']))).toEqual([])
  })

  test('what another table has accepted says nothing of the one that was refused', () => {
    const client = open(variant)
    client.start(world(['a', 'b'], ['a', 'b'], ['a']))
    client.publish(world(['a'], ['a'], ['a']))
    client.answer(routeType, true)
    client.publish(world(['a', 'c'], ['a'], ['a', 'c']))
    client.answer(clusterType)
    client.answer(endpointType)
    const after = client.answer(routeType)
    expect(after.filter((response) => response.startsWith('cds'))).toEqual([])
  })

  test('what was refused may be live in parts: its clusters stay until the table is accepted', () => {
    const client = open(variant)
    client.start(world(['a'], ['a']))
    client.publish(world(['a', 'b'], ['a', 'b']))
    client.answer(clusterType)
    client.answer(endpointType)
    client.answer(routeType, true)
    client.publish(world(['a', 'c'], ['a', 'c']))
    const early = [...client.answer(clusterType), ...client.answer(endpointType)]
    expect(early.filter((response) => /cds.*-b|cds a=a c=c$/.test(response))).toEqual([])
    expect(without(client.answer(routeType), 'eds')).toEqual([
      variant === 'sotw' ? 'cds a=a c=c' : 'cds -b',
    ])
  })

  test('a table that is taken away is kept by the client, and so are its clusters', () => {
    const client = open(variant)
    client.start(world(['a', 'b'], ['b'], ['a']))
    client.publish(world(['a'], undefined, ['a']))
    const after = variant === 'delta' ? client.answer(routeType) : []
    expect(after.filter((response) => response.startsWith('cds'))).toEqual([])
  })
})

test('52. S: a client that asks for its clusters again gets those that are held, too', () => {
  const client = open('sotw')
  client.start(world(['a', 'b'], ['a', 'b']))
  client.publish(world(['a'], ['a']))
  client.answer(routeType, true)
  expect(client.repeat(clusterType).filter((response) => response.startsWith('cds'))).toEqual([
    'cds a=a b=b',
  ])
})
