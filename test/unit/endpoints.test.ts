import {
  type AddressPolicy,
  type Context,
  defaultDataPlane,
  type EdgeRoute,
  encodeContent,
  endpointType,
  entries,
  type Endpoint,
  type EndpointSlice,
  type Service,
  showVerdict,
  translate,
  viewOf,
} from 'edgewright'
import { describe, expect, test } from 'vitest'
import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.js'

const aSlice = (endpoints: ReadonlyArray<Endpoint>, more: Partial<EndpointSlice> = {}) => ({
  namespace: 'shop',
  name: 'web-1',
  service: 'web',
  ports: [{ name: 'http', port: 8080 }],
  endpoints,
  ...more,
})

const up = (address: string, more: Partial<Endpoint> = {}): Endpoint => ({
  addresses: [address],
  ready: true,
  ...more,
})
const down = (address: string): Endpoint => up(address, { ready: false })
const ending = (address: string): Endpoint =>
  up(address, { ready: false, serving: true, terminating: true })

interface Around {
  readonly service?: Partial<Service>
  readonly addresses?: AddressPolicy
}

const contextOf = (slices: ReadonlyArray<EndpointSlice>, around: Around = {}): Context => {
  const { service = {}, addresses } = around
  return {
    dataPlanes: new Map([[defaultDataPlane, { listeners: [], ...(addresses && { addresses }) }]]),
    services: [{ namespace: 'shop', name: 'web', ports: [{ name: 'http', port: 80 }], ...service }],
    endpointSlices: slices,
  }
}

const route = (backend: NonNullable<EdgeRoute['spec']['backends']>[number]): EdgeRoute => ({
  metadata: { namespace: 'shop', name: 'r', uid: 'r', generation: 1, finalizers: [] },
  spec: { backends: [backend] },
})

const toWeb = route({ service: { name: 'web', port: 80 } })

/** By locality: `zone: addresses`. */
const endpointsOf = (context: Context): ReadonlyArray<string> =>
  [...entries(viewOf(translate([toWeb], context).snapshot, defaultDataPlane)[endpointType])]
    .flatMap(({ content }) => ClusterLoadAssignment.decode(encodeContent(content)).endpoints ?? [])
    .map(({ locality, lbEndpoints = [] }) => {
      const hosts = lbEndpoints.map(({ hostIdentifier: host }) =>
        host?.$case === 'endpoint' && host.value.address?.address?.$case === 'socketAddress'
          ? host.value.address.address.value.address
          : 'none',
      )
      return `${locality === undefined ? '' : `${locality.zone}: `}${hosts.join(' ')}`
    })

const verdictOf = (one: EdgeRoute, context: Context): string => {
  const verdict = translate([one], context).verdicts.get('r')
  return verdict === undefined ? 'none' : showVerdict(verdict)
}

describe('of the endpoints of a Service', () => {
  test('those that are ready count, and those that are ending do not as long as one is ready', () => {
    const slices = [aSlice([up('10.0.0.1'), down('10.0.0.2'), ending('10.0.0.3')])]
    expect(endpointsOf(contextOf(slices))).toEqual(['10.0.0.1'])
  })

  test('those that are ending and serve count where none is ready, in any slice', () => {
    const slices = [aSlice([down('10.0.0.2')]), aSlice([ending('10.0.0.3'), ending('10.0.0.4')])]
    expect(endpointsOf(contextOf(slices))).toEqual(['10.0.0.3 10.0.0.4'])
    expect(verdictOf(toWeb, contextOf(slices))).toBe('Accepted')
    expect(endpointsOf(contextOf([...slices, aSlice([up('10.0.0.1')])]))).toEqual(['10.0.0.1'])
  })

  test.each([
    ['not ready', { ready: false }],
    ['serving, but not ending', { ready: false, serving: true }],
    ['ending, and serving no more', { ready: false, serving: false, terminating: true }],
    ['ending, and nobody says that it serves', { ready: false, terminating: true }],
  ])('none counts that is %s', (_, state) => {
    const context = contextOf([aSlice([up('10.0.0.1', state)])])
    expect(endpointsOf(context)).toEqual([])
    expect(verdictOf(toWeb, context)).toContain('NoReadyEndpoints')
  })

  test('one that is in two slices counts once, ready if it is so in one of them', () => {
    const slices = [aSlice([down('10.0.0.1')]), aSlice([up('10.0.0.1')]), aSlice([up('10.0.0.1')])]
    expect(endpointsOf(contextOf(slices))).toEqual(['10.0.0.1'])
  })

  test('the first of several addresses counts', () => {
    const both = { addresses: ['10.0.0.1', '10.0.0.2'], ready: true }
    expect(endpointsOf(contextOf([aSlice([both])]))).toEqual(['10.0.0.1'])
  })

  test('those behind the port of the same name count, by its number in each slice', () => {
    const ports = [{ name: 'http', port: 9090 }]
    const metrics = [{ name: 'metrics', port: 9091 }]
    const slices = [
      aSlice([up('10.0.0.1')], { ports: metrics }),
      aSlice([up('10.0.0.2')], { ports }),
    ]
    expect(endpointsOf(contextOf(slices))).toEqual(['10.0.0.2'])
  })

  test('names are passed over, as Envoy takes addresses', () => {
    const slices = [aSlice([up('10.0.0.1')], { addressType: 'FQDN' }), aSlice([up('web.test')])]
    expect(endpointsOf(contextOf(slices))).toEqual([])
  })
})

describe('of two families', () => {
  const slices = [
    aSlice([up('10.0.0.1'), up('10.0.0.2')], { addressType: 'IPv4' }),
    aSlice([up('fd00::1'), up('fd00::2')], { addressType: 'IPv6' }),
  ]

  test('the first of the Service counts', () => {
    const of = (ipFamilies: Service['ipFamilies'] & {}) =>
      endpointsOf(contextOf(slices, { service: { ipFamilies } }))
    expect(of(['IPv4', 'IPv6'])).toEqual(['10.0.0.1 10.0.0.2'])
    expect(of(['IPv6', 'IPv4'])).toEqual(['fd00::1 fd00::2'])
    expect(of([])).toEqual(['10.0.0.1 10.0.0.2 fd00::1 fd00::2'])
  })

  test('the other counts where the first has nothing that is ready, before what is ending', () => {
    const ipv6 = aSlice([up('fd00::1')], { addressType: 'IPv6' })
    const service = { ipFamilies: ['IPv4', 'IPv6'] as const }
    expect(endpointsOf(contextOf([ipv6], { service }))).toEqual(['fd00::1'])
    expect(endpointsOf(contextOf([ipv6, aSlice([ending('10.0.0.1')])], { service }))).toEqual([
      'fd00::1',
    ])
  })
})

describe('zones', () => {
  test('are localities, in order; an endpoint without one is in none, and comes first', () => {
    const slices = [
      aSlice([up('10.0.0.1', { zone: 'b' }), up('10.0.0.2', { zone: 'a' }), up('10.0.0.3')]),
      aSlice([up('10.0.0.4', { zone: 'a' }), up('10.0.0.5', { zone: '' })]),
    ]
    const expected = ['10.0.0.3 10.0.0.5', 'a: 10.0.0.2 10.0.0.4', 'b: 10.0.0.1']
    expect(endpointsOf(contextOf(slices))).toEqual(expected)
    expect(endpointsOf(contextOf([...slices].reverse()))).toEqual(expected)
  })

  test('of one address are one: the first in order, and any before none', () => {
    const slices = [
      aSlice([up('10.0.0.1', { zone: 'b' })]),
      aSlice([up('10.0.0.1', { zone: 'a' })]),
      aSlice([up('10.0.0.1')]),
    ]
    expect(endpointsOf(contextOf(slices))).toEqual(['a: 10.0.0.1'])
    expect(endpointsOf(contextOf([...slices].reverse()))).toEqual(['a: 10.0.0.1'])
  })
})

describe('where addresses are restricted', () => {
  const addresses: AddressPolicy = {
    cidrs: ['10.0.0.0/8', '0.0.0.0/0'],
    suffixes: ['.example.com'],
  }
  const few: AddressPolicy = { cidrs: ['10.0.0.0/8'], suffixes: ['.example.com'] }

  test('endpoints at the machine itself are left out, and the verdict says so', () => {
    const some = [aSlice([up('127.0.0.1'), up('169.254.169.254'), up('10.0.0.1')])]
    expect(endpointsOf(contextOf(some, { addresses }))).toEqual(['10.0.0.1'])
    expect(endpointsOf(contextOf(some))).toEqual(['10.0.0.1 127.0.0.1 169.254.169.254'])
    const none = contextOf([aSlice([up('127.0.0.1')])], { addresses })
    expect(verdictOf(toWeb, none)).toBe(
      'Accepted; NoReadyEndpoints: spec.backends[0]: Service shop/web has no ready endpoint for port 80 ' +
        'that may be sent to: 127.0.0.1 is a loopback address',
    )
  })

  const toHost = (host: string): EdgeRoute => route({ address: { host, port: 80 } })

  test.each([
    ['10.1.2.3', few, 'Accepted'],
    ['api.example.com', few, 'Accepted'],
    [
      '192.0.2.1',
      few,
      'Accepted; AddressNotAllowed: spec.backends[0]: 192.0.2.1 is not among the addresses that data plane ' +
        'edge-envoy allows: use one in 10.0.0.0/8, .example.com, or name a Service',
    ],
    [
      'example.org',
      { cidrs: [], suffixes: [] },
      'Accepted; AddressNotAllowed: spec.backends[0]: example.org is not among the addresses that data plane ' +
        'edge-envoy allows: there are none; name a Service',
    ],
    [
      '::ffff:127.0.0.1',
      addresses,
      'Accepted; AddressNotAllowed: spec.backends[0]: ::ffff:127.0.0.1 is a loopback address, which no route ' +
        'may send to: name a Service',
    ],
  ])('a route to %s is told what is right', (host, policy, verdict) => {
    expect(verdictOf(toHost(host), contextOf([], { addresses: policy }))).toBe(verdict)
  })

  test('of many entries the first are named', () => {
    const cidrs = Array.from({ length: 7 }, (_, index) => `10.${index}.0.0/16`)
    const verdict = verdictOf(
      toHost('192.0.2.1'),
      contextOf([], { addresses: { cidrs, suffixes: [] } }),
    )
    expect(verdict).toContain('10.4.0.0/16 (and 2 more), or name a Service')
  })
})
