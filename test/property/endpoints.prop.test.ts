import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import type { Context, DataPlane, EndpointSlice, IpFamily } from '../../src/core/context.js'
import * as PM from '../../src/core/persistent-map.js'
import { encodeContent } from '../../src/core/resource.js'
import type { View } from '../../src/core/snapshot.js'
import { translate } from '../../src/core/translate.js'
import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  type TypeUrl,
} from '../../src/core/type-url.js'
import { Cluster } from '../../src/gen/envoy/config/cluster/v3/cluster.js'
import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.js'
import { endpointSlices, routingContext } from '../../src/testing/arbitraries/context.js'
import type { World } from '../support/oracle.js'
import { isForbidden, mayBeNamed } from '../support/oracle/addresses.js'
import { world } from '../support/oracle/world.js'

const runs = { numRuns: 500 }

/** Name → version and bytes, of all resources of a type. */
const resources = (view: View, typeUrl: TypeUrl): ReadonlyMap<string, string> =>
  new Map(
    [...PM.entries(view[typeUrl])].map(({ name, version, content, refs }) => [
      name,
      [version, Buffer.from(encodeContent(content)).toString('hex'), JSON.stringify(refs)].join(
        ' ',
      ),
    ]),
  )

const viewsOf = (one: World, context: Context): ReadonlyArray<readonly [DataPlane, View]> =>
  [...translate(one.routes, context).snapshot.dataPlanes].map(([name, view]) => [
    context.dataPlanes.get(name) ?? { listeners: [] },
    view,
  ])

const assignmentsIn = (view: View): ReadonlyArray<ClusterLoadAssignment> => [
  ...[...PM.entries(view[endpointType])].map(({ content }) =>
    ClusterLoadAssignment.decode(encodeContent(content)),
  ),
]

const hostsIn = ({ endpoints = [] }: ClusterLoadAssignment): ReadonlyArray<string> =>
  endpoints.flatMap(({ lbEndpoints = [] }) =>
    lbEndpoints.map(({ hostIdentifier }) => {
      const address =
        hostIdentifier?.$case === 'endpoint' ? hostIdentifier.value.address : undefined
      if (address?.address?.$case !== 'socketAddress') throw new Error('not a socket address')
      return address.address.value.address ?? ''
    }),
  )

describe('what is behind Services', () => {
  const other = routingContext.map(({ services, endpointSlices: slices }) => ({
    services,
    endpointSlices: slices,
  }))

  test.prop([world, other], runs)(
    'stands in the assignments alone: clusters, listeners, tables and what is accepted are the same whatever it is',
    (one, backends) => {
      const before = translate(one.routes, one.context)
      const after = translate(one.routes, { ...one.context, ...backends })
      for (const [name, view] of before.snapshot.dataPlanes) {
        const next = after.snapshot.dataPlanes.get(name)
        if (next === undefined) throw new Error(`no data plane ${name}`)
        for (const typeUrl of [clusterType, listenerType, routeType])
          expect(resources(next, typeUrl)).toStrictEqual(resources(view, typeUrl))
        const names = (of: View) => [...resources(of, endpointType).keys()]
        expect(names(next)).toStrictEqual(names(view))
      }
      const accepted = ({ verdicts }: typeof before) =>
        [...verdicts].map(([uid, verdict]) => [uid, verdict.accepted])
      expect(accepted(after)).toStrictEqual(accepted(before))
    },
  )

  test.prop([world, endpointSlices], runs)(
    'changes the assignments of the Services whose slices change, and no other',
    (one, slices) => {
      const isOther = ({ namespace, service }: EndpointSlice): boolean =>
        namespace !== 'a' || service !== 'one'
      const mixed = [
        ...one.context.endpointSlices.filter(isOther),
        ...slices.filter((slice) => !isOther(slice)),
      ]
      const after = viewsOf(one, { ...one.context, endpointSlices: mixed })
      for (const [index, [, view]] of viewsOf(one, one.context).entries()) {
        const next = resources(after[index]?.[1] ?? view, endpointType)
        for (const [name, content] of resources(view, endpointType))
          if (!name.startsWith('service/a/one/')) expect(next.get(name)).toBe(content)
      }
    },
  )

  test.prop([world], runs)(
    'stands by zone, each zone once and in order, and the same endpoints are there without zones',
    (one) => {
      const bare = one.context.endpointSlices.map((slice) => ({
        ...slice,
        endpoints: slice.endpoints.map((each) => ({ ...each, zone: '' })),
      }))
      const without = viewsOf(one, { ...one.context, endpointSlices: bare })
      for (const [index, [, view]] of viewsOf(one, one.context).entries()) {
        const flat = assignmentsIn(without[index]?.[1] ?? view)
        const grouped = assignmentsIn(view)
        for (const { endpoints = [] } of flat) {
          expect(endpoints.length).toBeLessThanOrEqual(1)
          expect(endpoints[0]?.locality).toBeUndefined()
        }
        for (const { endpoints = [] } of grouped) {
          const zones = endpoints.map(({ locality }) => locality?.zone ?? '')
          expect(zones).toStrictEqual([...new Set(zones)].sort())
          for (const each of endpoints) {
            expect(each.lbEndpoints?.length).toBeGreaterThan(0)
            expect(each.loadBalancingWeight ?? each.priority ?? each.proximity).toBeFalsy()
          }
        }
        expect(grouped.map((each) => [...hostsIn(each)].sort())).toStrictEqual(
          flat.map((each) => [...hostsIn(each)].sort()),
        )
      }
    },
  )

  const pods = fc.array(fc.record({ ready: fc.boolean(), ending: fc.boolean() }), { maxLength: 8 })

  test.prop([pods, fc.shuffledSubarray<IpFamily>(['IPv4', 'IPv6'], { minLength: 1 })], runs)(
    'counts each Pod once that has an address in both families, and never one that may not be used',
    (all, ipFamilies) => {
      const sliceOf = (family: IpFamily): EndpointSlice => ({
        namespace: 'a',
        name: family,
        service: 'web',
        addressType: family,
        ports: [{ name: '', port: 8080 }],
        endpoints: all.map(({ ready, ending }, index) => ({
          addresses: [family === 'IPv4' ? `10.0.0.${index}` : `fd00::${index}`],
          ready: ready && !ending,
          serving: ready,
          terminating: ending,
        })),
      })
      const context: Context = {
        dataPlanes: new Map([['edge-envoy', { listeners: [] }]]),
        services: [{ namespace: 'a', name: 'web', ports: [{ name: '', port: 80 }], ipFamilies }],
        endpointSlices: [sliceOf('IPv6'), sliceOf('IPv4')],
      }
      const metadata = { namespace: 'a', name: 'r', uid: 'r', generation: 1, finalizers: [] }
      const spec = { backends: [{ service: { name: 'web', port: 80 } }] }
      const { snapshot } = translate([{ metadata, spec }], context)
      const hosts = [...snapshot.dataPlanes.values()].flatMap(assignmentsIn).flatMap(hostsIn)
      const isReady = (index: number): boolean => all[index]?.ready === true && !all[index].ending
      const ready = [...all.keys()].filter(isReady)
      const used =
        ready.length > 0 ? ready : [...all.keys()].filter((at) => all[at]?.ready === true)
      const expected = used.map((at) => (ipFamilies[0] === 'IPv4' ? `10.0.0.${at}` : `fd00::${at}`))
      expect([...hosts].sort()).toStrictEqual(
        expected.map((host) => host.replace('::0', '::')).sort(),
      )
    },
  )
})

describe('a data plane with a policy for addresses', () => {
  test.prop([world], runs)(
    'holds no address that is never allowed, be it of a route or of a slice, and none of a route that it does not name',
    (one) => {
      for (const [{ addresses: policy }, view] of viewsOf(one, one.context)) {
        if (policy === undefined) continue
        expect(assignmentsIn(view).flatMap(hostsIn).filter(isForbidden)).toStrictEqual([])
        const named = [...PM.entries(view[clusterType])].flatMap(({ content }) => {
          const { loadAssignment } = Cluster.decode(encodeContent(content))
          return loadAssignment === undefined ? [] : hostsIn(loadAssignment)
        })
        expect(named.filter((host) => !mayBeNamed(host, policy))).toStrictEqual([])
      }
    },
  )

  test.prop([world, routingContext], runs)(
    'changes no cluster under its name when the policy changes',
    (one, { dataPlanes }) => {
      const policies = [...dataPlanes.values()].map(({ addresses }) => addresses)
      const changed = new Map(
        [...one.context.dataPlanes].map(([name, { listeners }], index) => {
          const addresses = policies[index]
          return [name, { listeners, ...(addresses && { addresses }) }] as const
        }),
      )
      const after = viewsOf(one, { ...one.context, dataPlanes: changed })
      for (const [index, [, view]] of viewsOf(one, one.context).entries()) {
        const next = resources(after[index]?.[1] ?? view, clusterType)
        for (const [name, content] of resources(view, clusterType))
          expect([content, undefined]).toContain(next.get(name))
      }
    },
  )
})
