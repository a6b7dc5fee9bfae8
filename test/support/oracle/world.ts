import fc from 'fast-check'
import type {
  Context,
  DataPlane,
  Endpoint,
  EndpointSlice,
  Service,
  ServicePort,
} from '../../../src/core/context.js'
import type { EdgeRoute, EdgeRouteSpec } from '../../../src/core/edge-route.js'
import { edgeRoute, edgeRouteSpec, invalidRoute } from '../arbitraries.js'
import type { World } from '../oracle.js'

/** A route before it is settled in a world: which of the world's matches and hosts it takes. */
interface Citizen {
  readonly route: EdgeRoute
  readonly broken: boolean
  readonly namespace: string
  readonly dataPlane: string | undefined
  /** Bit n takes the nth of the world's matches; none: its own. */
  readonly matches: number
  readonly sharesHosts: boolean
}

/** Plain objects, as a parser makes them. */
const plain = { noNullPrototype: true } as const

const namespace = fc.constantFrom('a', 'b', 'a-b')

const citizen: fc.Arbitrary<Citizen> = fc.record({
  route: edgeRoute,
  broken: fc.constant(false),
  namespace,
  dataPlane: fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 3, arbitrary: fc.constant('other') },
    { weight: 1, arbitrary: fc.constant('nowhere') },
  ),
  matches: fc.nat(7),
  sharesHosts: fc.boolean(),
})

const intruder: fc.Arbitrary<Citizen> = fc.record({
  route: invalidRoute,
  broken: fc.constant(true),
  namespace,
  dataPlane: fc.constant(undefined),
  matches: fc.constant(0),
  sharesHosts: fc.constant(false),
})

const settle = (one: Citizen, { hostnames, matches = [{}] }: EdgeRouteSpec): EdgeRoute => {
  const { route } = one
  const taken = matches.filter((_, index) => ((one.matches >> index) & 1) === 1)
  const mayTake =
    route.spec.rewrite?.prefix === undefined || taken.every(({ path }) => path?.regex === undefined)
  return {
    metadata: { ...route.metadata, namespace: one.namespace },
    spec: {
      ...route.spec,
      ...(one.dataPlane === undefined ? {} : { dataPlane: one.dataPlane }),
      ...(taken.length > 0 && mayTake ? { matches: taken } : {}),
      ...(one.sharesHosts && hostnames !== undefined ? { hostnames } : {}),
    },
  }
}

/** The route as if nobody had asked for its deletion. */
export const living = ({ metadata, spec }: EdgeRoute): EdgeRoute => {
  const { uid, namespace: space, name, generation, finalizers, creationTimestamp } = metadata
  const always = { uid, namespace: space, name, generation, finalizers }
  const age = creationTimestamp === undefined ? {} : { creationTimestamp }
  return { metadata: { ...always, ...age }, spec }
}

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

const context: fc.Arbitrary<Context> = fc.record({ dataPlanes, services, endpointSlices }, plain)

/**
 * Routes with the world that they live in. Many share their matches and hosts, so that claims are
 * often in conflict, wholly or in part; some are broken, or of a data plane that is not there. Uids
 * are unique; names need not be, as where an object is made again before its forerunner is gone.
 */
export const world: fc.Arbitrary<World> = fc
  .record({
    pool: edgeRouteSpec,
    citizens: fc.uniqueArray(
      fc.oneof({ weight: 6, arbitrary: citizen }, { weight: 1, arbitrary: intruder }),
      { maxLength: 8, size: 'max', selector: ({ route }) => route.metadata.uid },
    ),
    context,
  })
  .map(({ pool, citizens, context: around }) => ({
    routes: citizens.map((one) => settle(one, pool)),
    broken: new Set(citizens.filter(({ broken }) => broken).map(({ route }) => route.metadata.uid)),
    context: around,
  }))
