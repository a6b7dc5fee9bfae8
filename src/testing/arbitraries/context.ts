import fc from 'fast-check'
import type {
  Context,
  DataPlane,
  Endpoint,
  EndpointSlice,
  Service,
  ServicePort,
} from '../../core/context.js'
import { plain } from './plain.js'

/** The namespaces of routes and Services. */
export const namespace: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'a-b')

const listener = (name: string, port: number) => ({ name, address: '0.0.0.0', port })

const dataPlane: fc.Arbitrary<DataPlane> = fc
  .oneof(
    { weight: 5, arbitrary: fc.constant([listener('http', 10000)]) },
    { weight: 3, arbitrary: fc.constant([listener('http', 10000), listener('alt', 10001)]) },
    { weight: 1, arbitrary: fc.constant([]) },
  )
  .map((listeners) => ({ listeners }))

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
  },
  plain,
)

const services: fc.Arbitrary<ReadonlyArray<Service>> = fc.uniqueArray(service, {
  maxLength: 6,
  selector: (one) => `${one.namespace}/${one.name}`,
})

const endpoint: fc.Arbitrary<Endpoint> = fc.record(
  {
    addresses: fc
      .constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.30', '2001:db8::1')
      .map((one) => [one]),
    ready: fc.boolean(),
  },
  plain,
)

const endpointSlices: fc.Arbitrary<ReadonlyArray<EndpointSlice>> = fc
  .array(
    fc.record({
      namespace,
      service: fc.constantFrom('one', 'two'),
      ports: fc.subarray([aPort('', 3000), aPort('http', 3001), aPort('alt', 3002)]),
      endpoints: fc.array(endpoint, { maxLength: 3 }),
    }),
    { maxLength: 8 },
  )
  .map((all) => all.map((one, index) => ({ ...one, name: `${one.service}-${index}` })))

/**
 * What is around the routes: data planes (`edge-envoy`, `other`, or both) with up to two listeners, Services and
 * their endpoints. The backends of `edgeRoute` are often among them, and often are not.
 */
export const routingContext: fc.Arbitrary<Context> = fc.record(
  { dataPlanes, services, endpointSlices },
  plain,
)
