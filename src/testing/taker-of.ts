import { answer } from '../adapters/memory/envoy/routing/answer.js'
import type { Request } from '../adapters/memory/index.js'
import { type Context, defaultContext } from '../core/context.js'
import { defaultDataPlane, type EdgeRoute } from '../core/edge-route.js'
import { viewOf } from '../core/snapshot.js'
import { isServed } from '../core/status.js'
import { translate } from '../core/translate.js'
import type { RoutedRequest } from './arbitraries/requests.js'
import { encodedView } from './encoded-view.js'

/**
 * Says which of these routes takes a request: the one that an Envoy would choose, whatever it then does with it.
 * `undefined` where none does, or where nobody listens.
 *
 * To be used where a configuration is to reach somebody: "every path that a team asks for is answered by a route
 * of that team". It costs a translation once, and then as much as a request costs the Envoy in memory.
 *
 * ```ts
 * import assert from 'node:assert/strict'
 * import type { EdgeRoute } from 'edgewright'
 * import { takerOf } from 'edgewright/testing'
 *
 * const route = (name: string, hostname: string, prefix: string): EdgeRoute => ({
 *   metadata: { namespace: 'shop', name, uid: name, generation: 1, finalizers: [] },
 *   spec: { hostnames: [hostname], matches: [{ path: { prefix } }], respond: { code: 200 } },
 * })
 * const taker = takerOf([route('api', '*.shop.test', '/api'), route('www', 'www.shop.test', '/')])
 * const ask = (host: string) => taker({ listener: 'http', host, path: '/api' })?.metadata.name
 * assert.equal(ask('eu.shop.test'), 'api')
 * assert.equal(ask('www.shop.test'), 'www') // the most specific host decides: this shadows the API there
 * ```
 */
export const takerOf = (
  routes: ReadonlyArray<EdgeRoute>,
  context: Context = defaultContext,
): ((request: Request & Partial<Pick<RoutedRequest, 'dataPlane'>>) => EdgeRoute | undefined) => {
  const { verdicts } = translate(routes, context)
  const served = routes.filter(({ metadata: { uid, generation } }) => {
    const verdict = verdicts.get(uid)
    return verdict?.generation === generation && isServed(verdict.accepted)
  })
  const { snapshot } = translate(served.map(answeringWith), context)
  const held = new Map(
    [...context.dataPlanes.keys()].map((name) => [name, encodedView(viewOf(snapshot, name))]),
  )
  return ({ dataPlane = defaultDataPlane, ...request }) => {
    const resources = held.get(dataPlane)
    const given = resources && answer(resources, request)
    return given?._tag === 'Responded' && given.code === tag
      ? served[Number(given.body)]
      : undefined
  }
}

/** No Envoy answers so by itself. */
const tag = 299

/** Asks for the same requests, and says whose they are. */
const answeringWith = ({ metadata, spec }: EdgeRoute, index: number): EdgeRoute => {
  const { dataPlane, hostnames, matches } = spec
  return {
    metadata,
    spec: {
      ...(dataPlane !== undefined && { dataPlane }),
      ...(hostnames !== undefined && { hostnames }),
      ...(matches !== undefined && { matches }),
      respond: { code: tag, body: String(index) },
    },
  }
}
