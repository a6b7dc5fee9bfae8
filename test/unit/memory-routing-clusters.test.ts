import { describe, expect, test } from 'vitest'
import {
  all,
  ask,
  edsCluster,
  endpointsAt,
  forwarded,
  manager,
  route,
  staticCluster,
  tableOf,
  to,
  whereTo,
  type World,
} from '../support/memory-routing.js'

describe('a cluster', () => {
  const table = tableOf([route(all, to('a'))])
  const unavailable = (flag: string) => ({ _tag: 'ServiceUnavailable', flag, cluster: 'a' })

  test('that is absent gives 503 NC (E4)', () => {
    expect(ask({ table, clusters: [] })).toEqual(unavailable('NC'))
  })

  test('that has no endpoint gives 503 UH', () => {
    expect(ask({ table, clusters: [staticCluster('a')] })).toEqual(unavailable('UH'))
    const assignments = [{ clusterName: 'a' }]
    expect(ask({ table, clusters: [edsCluster('a')], assignments })).toEqual(unavailable('UH'))
  })

  test('that waits for its endpoints gives 503 NC (E10)', () => {
    expect(ask({ table, clusters: [edsCluster('a')] })).toEqual(unavailable('NC'))
  })

  test('finds its endpoints under its own name, or under the one that it names', () => {
    const assignments = [{ clusterName: 'service', endpoints: endpointsAt(7, 8) }]
    const found = forwarded({ table, clusters: [edsCluster('a', 'service')], assignments })
    expect(found.endpoints).toEqual([
      { address: '10.0.0.1', port: 7 },
      { address: '10.0.0.1', port: 8 },
    ])
    const own = [{ clusterName: 'a', endpoints: endpointsAt(9) }]
    expect(forwarded({ table, clusters: [edsCluster('a')], assignments: own }).endpoints).toEqual([
      { address: '10.0.0.1', port: 9 },
    ])
  })
})

describe('what is not modelled is an error', () => {
  const notEvaluated: ReadonlyArray<readonly [string, World]> = [
    ['VirtualHost.requireTls', { table: tableOf([], { requireTls: 2 }) }],
    ['RouteMatch.grpc', { table: tableOf([{ match: { pathSpecifier: all, grpc: {} } }]) }],
    ['RouteConfiguration.vhds', { table: { name: 'table', vhds: {} } }],
    [
      'RouteAction.requestMirrorPolicies',
      { table: tableOf([route(all, to('a', { requestMirrorPolicies: [{}] }))]) },
    ],
    [
      'Route.typedPerFilterConfig',
      { table: tableOf([route(all, to('a'), { typedPerFilterConfig: { f: { typeUrl: 'x' } } })]) },
    ],
    ['the HTTP filter lua', { manager: { ...manager, httpFilters: [{ name: 'lua' }] } }],
    [
      'Cluster.healthChecks',
      {
        table: tableOf([route(all, to('a'))]),
        clusters: [{ ...staticCluster('a', 1), healthChecks: [{}] }],
      },
    ],
  ]
  test.each(notEvaluated)('%s', (what, world) => {
    expect(() => ask(world)).toThrow(`not modelled: ${what}`)
  })

  test('even in a route that the request does not reach', () => {
    const table = tableOf([
      route(all, to('a')),
      { match: { pathSpecifier: all, tlsContext: {} }, action: to('b') },
    ])
    expect(() => ask({ table })).toThrow('not modelled: RouteMatch.tlsContext')
  })

  test('but a field that changes no answer is none', () => {
    const table = tableOf([route(all, to('a', { timeout: { seconds: 1n } }), { name: 'a/b' })])
    expect(whereTo({ table })).toBe('a')
  })
})
