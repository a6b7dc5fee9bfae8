import fc from 'fast-check'
import type { Context } from '../../core/context.js'
import type { EdgeRoute, EdgeRouteSpec } from '../../core/edge-route.js'
import { namespace, routingContext } from './context.js'
import { invalidRoute } from './invalid.js'
import { edgeRoute, edgeRouteSpec } from './routes.js'

/** Routes, and what is around them. */
export interface RoutingWorld {
  readonly routes: ReadonlyArray<EdgeRoute>
  /** The uids of the routes whose spec is not valid. */
  readonly broken: ReadonlySet<string>
  readonly context: Context
}

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

/**
 * Routes with the world that they live in. Many share their matches and hosts, so that claims are
 * often in conflict, wholly or in part; some are broken, or of a data plane that is not there. Uids
 * are unique; names need not be, as where an object is made again before its forerunner is gone.
 */
export const routingWorld: fc.Arbitrary<RoutingWorld> = fc
  .record({
    pool: edgeRouteSpec,
    citizens: fc.uniqueArray(
      fc.oneof({ weight: 6, arbitrary: citizen }, { weight: 1, arbitrary: intruder }),
      { maxLength: 8, size: 'max', selector: ({ route }) => route.metadata.uid },
    ),
    context: routingContext,
  })
  .map(({ pool, citizens, context: around }) => ({
    routes: citizens.map((one) => settle(one, pool)),
    broken: new Set(citizens.filter(({ broken }) => broken).map(({ route }) => route.metadata.uid)),
    context: around,
  }))
