import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import type { Context } from '../../src/core/context.js'
import * as PM from '../../src/core/persistent-map.js'
import { encodeContent } from '../../src/core/resource.js'
import { danglingRefs, emptyView, type View } from '../../src/core/snapshot.js'
import { translate } from '../../src/core/translate.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
} from '../../src/core/type-url.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { VirtualHost } from '../../src/gen/envoy/config/route/v3/route_components.js'
import { ScopedRouteConfiguration } from '../../src/gen/envoy/config/route/v3/scoped_route.js'
import { inForms } from '../support/forms.js'
import { world } from '../support/oracle/world.js'

const runs = { numRuns: 500 }
const plane = 'edge-envoy'
const shards = fc.integer({ min: 1, max: 5 })

const hasPlane = ({ context }: { readonly context: Context }): boolean =>
  context.dataPlanes.has(plane)

const both = fc.tuple(world.filter(hasPlane), shards).map(([{ routes, context }, count]) => {
  const form = { _tag: 'Sharded', shards: count } as const
  const dataPlanes = inForms(context.dataPlanes, new Map([[plane, form]]))
  const inShards = translate(routes, { ...context, dataPlanes })
  const whole = translate(routes, context)
  const viewOf = ({ snapshot }: typeof whole): View => snapshot.dataPlanes.get(plane) ?? emptyView
  return {
    count,
    whole: viewOf(whole),
    sharded: viewOf(inShards),
    hosts: inShards.hosts.get(plane),
  }
})

/** The virtual hosts of each table as bytes, by their names. */
const hostsOf = (view: View): ReadonlyMap<string, ReadonlyMap<string, string>> =>
  new Map(
    [...PM.entries(view[routeType])].map(({ name, content }) => {
      const { virtualHosts = [] } = RouteConfiguration.decode(encodeContent(content))
      const bytes = virtualHosts.map((host) => {
        const hex = Buffer.from(VirtualHost.encode(host).finish()).toString('hex')
        return [host.name ?? '', hex] as const
      })
      return [name, new Map(bytes)]
    }),
  )

/** As the filter reckons it, in numbers that cannot overflow. */
const shardFor = (host: string, count: number): number =>
  Number(
    Buffer.from(host).reduce((x, byte) => (x * 31n + BigInt(byte)) % 16777213n, 5381n) %
      BigInt(count),
  )

test.prop([both], runs)(
  'every host stands in the table of its shard and in no other, one with a wildcard in all, as it stands in the whole table',
  ({ count, whole, sharded, hosts }) => {
    const [all] = hostsOf(whole).values()
    fc.pre(all !== undefined)
    expect(hosts).toBe(all.size)
    const expected = Array.from({ length: count }, (_, shard) => [
      `shard-${count}-${shard}`,
      [...all].filter(([host]) => host.startsWith('*') || shardFor(host, count) === shard),
    ])
    expect([...hostsOf(sharded)].map(([name, own]) => [name, [...own]])).toEqual(expected)
  },
)

test.prop([both], runs)(
  'all that differs between the forms is listeners, scopes and tables, and nothing is named that is not there',
  ({ count, whole, sharded }) => {
    expect(danglingRefs(sharded)).toEqual([])
    expect(PM.digestOf(sharded[clusterType])).toBe(PM.digestOf(whole[clusterType]))
    expect(PM.digestOf(sharded[endpointType])).toBe(PM.digestOf(whole[endpointType]))
    expect([...PM.entries(sharded[listenerType])].map(({ name }) => name)).toEqual(
      [...PM.entries(whole[listenerType])].map(({ name }) => name),
    )
    const scopes = [...PM.entries(sharded[scopeType])].map(({ content }) =>
      ScopedRouteConfiguration.decode(encodeContent(content)),
    )
    expect(scopes.map((scope) => scope.routeConfigurationName)).toEqual(
      Array.from({ length: count }, (_, shard) => `shard-${count}-${shard}`),
    )
  },
)
