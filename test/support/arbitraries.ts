import type fc from 'fast-check'
import { apiVersion, type EdgeRoute, kind } from '../../src/core/edge-route.js'
import { edgeRoute } from '../../src/testing/arbitraries/routes.js'

export { invalidRoute } from '../../src/testing/arbitraries/invalid.js'
export {
  edgeRoute,
  edgeRoutes,
  edgeRouteSpec,
  shuffled,
} from '../../src/testing/arbitraries/routes.js'

/** A route as it stands in a file or at an API server. */
export const envelopeOf = ({
  metadata: meta,
  spec,
}: EdgeRoute): Readonly<Record<string, unknown>> => ({
  apiVersion,
  kind,
  metadata: meta,
  spec,
})

/** The object that the text of a valid route parses to. */
export const edgeRouteYamlObject: fc.Arbitrary<Readonly<Record<string, unknown>>> =
  edgeRoute.map(envelopeOf)
