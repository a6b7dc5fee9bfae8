import fc from 'fast-check'
import type {
  AddressPolicy,
  Context,
  DataPlane,
  Endpoint,
  EndpointSlice,
  IpFamily,
  Service,
  ServicePort,
} from '../../core/context.js'
import { plain } from './plain.js'

/** The namespaces of routes and Services. */
export const namespace: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'a-b')

const listener = (name: string, port: number) => ({ name, address: '0.0.0.0', port })

const addresses: fc.Arbitrary<AddressPolicy> = fc.record(
  {
    cidrs: fc.subarray(['10.0.0.0/31', '10.0.0.2/32', '0.0.0.0/0', '::/0']),
    suffixes: fc.subarray(['one.test', '.test']),
  },
  plain,
)

const dataPlane: fc.Arbitrary<DataPlane> = fc
  .tuple(
    fc.oneof(
      { weight: 5, arbitrary: fc.constant([listener('http', 10000)]) },
      { weight: 3, arbitrary: fc.constant([listener('http', 10000), listener('alt', 10001)]) },
      { weight: 1, arbitrary: fc.constant([]) },
    ),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.record({ addresses }, plain) },
    ),
  )
  .map(([listeners, policy]) => ({ listeners, ...policy }))

const dataPlanes: fc.Arbitrary<Context['dataPlanes']> = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(['edge-envoy']) },
      { weight: 3, arbitrary: fc.constant(['edge-envoy', 'other']) },
      { weight: 1, arbitrary: fc.constant(['other']) },
    ),
    dataPlane,
    dataPlane,
  )
  .map(
    ([names, ...planes]) =>
      new Map(planes.slice(0, names.length).map((p, i) => [names[i] ?? '', p])),
  )

const aPort = (name: string, port: number): ServicePort => ({ name, port })

const service: fc.Arbitrary<Service> = fc.record(
  {
    namespace,
    name: fc.constantFrom('one', 'two'),
    ports: fc.constantFrom(
      [aPort('', 80)],
      [aPort('http', 80), aPort('alt', 8080)],
      [aPort('http', 80), aPort('alt', 8080)],
      [aPort('http', 8080)],
      [],
    ),
    ipFamilies: fc.subarray<IpFamily>(['IPv6', 'IPv4']),
  },
  { ...plain, requiredKeys: ['namespace', 'name', 'ports'] },
)

const services: fc.Arbitrary<ReadonlyArray<Service>> = fc.uniqueArray(service, {
  maxLength: 6,
  selector: (one) => `${one.namespace}/${one.name}`,
})

const ipAddress = fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.30', '2001:db8::1')

/** To one in ten nothing is sent where there is a policy for addresses, or ever. */
const anyAddress = fc.oneof(
  { weight: 9, arbitrary: ipAddress },
  { weight: 1, arbitrary: fc.constantFrom('127.0.0.1', 'fe80::1', 'pod.test') },
)

const endpoint: fc.Arbitrary<Endpoint> = fc.record(
  {
    addresses: fc.array(anyAddress, { minLength: 1, maxLength: 2 }),
    ready: fc.boolean(),
    serving: fc.boolean(),
    terminating: fc.boolean(),
    zone: fc.constantFrom('zone-a', 'zone-b'),
  },
  { ...plain, requiredKeys: ['addresses', 'ready'] },
)

const slice = fc.record(
  {
    namespace,
    service: fc.constantFrom('one', 'two'),
    addressType: fc.constantFrom<IpFamily | 'FQDN'>('IPv4', 'IPv4', 'IPv6', 'FQDN'),
    ports: fc.subarray([aPort('', 3000), aPort('http', 3001), aPort('alt', 3002)]),
    endpoints: fc.array(endpoint, { maxLength: 3 }),
  },
  { ...plain, requiredKeys: ['namespace', 'service', 'ports', 'endpoints'] },
)

/** What is behind the Services of `routingContext`: some of them, and what belongs to none. */
export const endpointSlices: fc.Arbitrary<ReadonlyArray<EndpointSlice>> = fc
  .array(slice, { maxLength: 8 })
  .map((all) => all.map((one, index) => ({ ...one, name: `${one.service}-${index}` })))

/**
 * What is around the routes: data planes (`edge-envoy`, `other`, or both) with up to two listeners, Services and
 * their endpoints. The backends of `edgeRoute` are often among them, and often are not.
 */
export const routingContext: fc.Arbitrary<Context> = fc.record(
  { dataPlanes, services, endpointSlices },
  plain,
)
