import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import {
  bytesResource,
  encodeContent,
  type Fragment,
  hostHead,
  type Ref,
  type Resource,
  type RouteTable,
  tableHead,
  tableResource,
} from '../../src/core/resource.js'
import { digest } from '../../src/core/digest.js'
import { clusterType, endpointType, routeType } from '../../src/core/type-url.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { Route, type VirtualHost } from '../../src/gen/envoy/config/route/v3/route_components.js'
import { reencode } from '../support/reflection.js'

const runs = { numRuns: 1000 }

/** Short, and now and then so long that a length takes two or three bytes. */
const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(127, 128, 16_383, 16_384).map((n) => 'x'.repeat(n)) },
)

const route: fc.Arbitrary<Route> = fc.record({
  name: text,
  match: fc.record({
    pathSpecifier: fc.record({ $case: fc.constant('prefix' as const), value: text }),
  }),
  action: fc.record({
    $case: fc.constant('route' as const),
    value: fc.record({
      clusterSpecifier: fc.record({
        $case: fc.constant('cluster' as const),
        value: fc.constantFrom('one', 'two'),
      }),
    }),
  }),
})

const virtualHost: fc.Arbitrary<VirtualHost> = fc.record({
  name: fc.string({ minLength: 1, maxLength: 4 }),
  domains: fc.array(text, { maxLength: 2 }),
  includeRequestAttemptCount: fc.boolean(),
  routes: fc.array(route, { maxLength: 4 }),
})

const configuration: fc.Arbitrary<RouteConfiguration> = fc.record({
  name: text,
  ignorePortInHostMatching: fc.boolean(),
  virtualHosts: fc.uniqueArray(virtualHost, { maxLength: 3, selector: ({ name }) => name }),
})

const clusterOf = ({ action }: Route): string =>
  action?.$case === 'route' && action.value.clusterSpecifier?.$case === 'cluster'
    ? action.value.clusterSpecifier.value
    : ''

const fragmentOf = (one: Route, virtualHostName: string, index: number): Fragment => {
  const { match: matched, ...others } = one
  const match = Route.encode(matched === undefined ? {} : { match: matched }).finish()
  const rest = Route.encode(others).finish()
  return {
    owner: `uid-${index % 2}`,
    virtualHost: virtualHostName,
    claim: String(index),
    sortKey: String(index),
    path: { _tag: 'Prefix', value: '/' },
    match,
    rest,
    version: digest([match, rest]),
    clusters: [clusterOf(one)],
  }
}

/** The same message in pieces. */
const inPieces = ({ virtualHosts = [], ...head }: RouteConfiguration): RouteTable => ({
  head: tableHead(head),
  virtualHosts: virtualHosts.map(({ routes = [], ...hostSettings }) => {
    const name = hostSettings.name ?? ''
    return {
      name,
      head: hostHead(hostSettings),
      fragments: routes.map((one, index) => fragmentOf(one, name, index)),
    }
  }),
})

const bytesOf = (resource: Resource): Uint8Array => encodeContent(resource.content)

const tableOf = (whole: RouteConfiguration): Resource => tableResource('http', inPieces(whole))

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** One byte of the wire's order of fields apart: both codecs read a message whatever the order. */
const canonical = (bytes: Uint8Array): string => hex(reencode(routeType, bytes))

describe('an encoded table', () => {
  test.prop([configuration], runs)('decodes to the message that was cut into pieces', (whole) => {
    const spliced = bytesOf(tableOf(whole))
    const inOne = RouteConfiguration.encode(whole).finish()
    expect(RouteConfiguration.decode(spliced)).toStrictEqual(RouteConfiguration.decode(inOne))
    expect(canonical(spliced)).toBe(canonical(inOne))
    expect(spliced.length).toBe(inOne.length)
  })

  test.prop([configuration, configuration], runs)(
    'has another version if and only if it has other bytes',
    (one, other) => {
      const sameBytes = hex(bytesOf(tableOf(one))) === hex(bytesOf(tableOf(other)))
      expect(tableOf(one).version === tableOf(other).version).toBe(sameBytes)
    },
  )

  test.prop([configuration, fc.nat(), fc.nat()], runs)(
    'has another version when one route moves or goes',
    (whole, hostIndex, routeIndex) => {
      const hosts = whole.virtualHosts ?? []
      const host = hosts[hostIndex % Math.max(1, hosts.length)]
      const gone = host?.routes?.[routeIndex % Math.max(1, host.routes.length)]
      fc.pre(host !== undefined && gone !== undefined)
      const without = { ...host, routes: host.routes?.filter((one) => one !== gone) ?? [] }
      const rest = hosts.map((one) => (one === host ? without : one))
      expect(tableOf({ ...whole, virtualHosts: rest }).version).not.toBe(tableOf(whole).version)
      const last = { ...without, routes: [...without.routes, gone] }
      const moved = { ...whole, virtualHosts: hosts.map((one) => (one === host ? last : one)) }
      const sameBytes = hex(bytesOf(tableOf(moved))) === hex(bytesOf(tableOf(whole)))
      expect(tableOf(moved).version === tableOf(whole).version).toBe(sameBytes)
    },
  )

  test('tells apart the same routes in one host and in two', () => {
    const a = { name: 'a', routes: [{ name: '1' }, { name: '2' }] }
    const split = [{ name: 'a', routes: [{ name: '1' }] }, { routes: [{ name: '2' }] }]
    expect(tableOf({ virtualHosts: [a] }).version).not.toBe(
      tableOf({ virtualHosts: split }).version,
    )
  })

  test.prop([configuration], runs)(
    'names its clusters and its owners once each, in order',
    (whole) => {
      const resource = tableOf(whole)
      const routes = (whole.virtualHosts ?? []).map((host) => host.routes ?? [])
      const clusters = new Set(routes.flat().map(clusterOf))
      const owners = new Set(routes.flatMap((all) => all.map((_, index) => `uid-${index % 2}`)))
      const refs = [...clusters].sort().map((name): Ref => ({ typeUrl: clusterType, name }))
      expect(resource.refs).toStrictEqual(refs)
      expect(resource.owners).toStrictEqual([...owners].sort())
    },
  )
})

describe('a resource of bytes', () => {
  const bytes = fc.uint8Array({ maxLength: 4, max: 3 })
  const named = fc.tuple(fc.constantFrom('a', 'ab', 'b'), bytes)

  test.prop([named, named], runs)(
    'has another version if and only if it has another name or other bytes',
    ([name, content], [otherName, otherContent]) => {
      const [one, other] = [bytesResource(name, content), bytesResource(otherName, otherContent)]
      const same = name === otherName && hex(content) === hex(otherContent)
      expect(one.version === other.version).toBe(same)
      expect(hex(bytesOf(one))).toBe(hex(content))
    },
  )

  test.prop([named, fc.array(fc.constantFrom('u1', 'u2', 'u10'))], runs)(
    'has the same version whatever it refers to and whoever owns it; owners are sorted and unique',
    ([name, content], owners) => {
      const refs: ReadonlyArray<Ref> = [
        { typeUrl: endpointType, name: 'b' },
        { typeUrl: clusterType, name: 'c' },
        { typeUrl: endpointType, name: 'a' },
      ]
      const resource = bytesResource(name, content, refs, owners)
      expect(resource.version).toBe(bytesResource(name, content).version)
      expect(resource.owners).toStrictEqual([...new Set(owners)].sort())
      expect(resource.refs).toStrictEqual([
        { typeUrl: clusterType, name: 'c' },
        { typeUrl: endpointType, name: 'a' },
        { typeUrl: endpointType, name: 'b' },
      ])
    },
  )
})
