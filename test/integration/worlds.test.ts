import fc from 'fast-check'
import { defaultContext, type EdgeRoute, showVerdict, translate } from 'edgewright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { edgeRoutes } from '../support/arbitraries.js'
import { type Edge, startEdge } from '../support/edge.js'
import { oracleAnswers, type World } from '../support/oracle.js'
import { queryOf, type Request } from '../support/oracle/answer.js'
import { withRequests } from '../support/oracle/requests.js'

/** The judge is a real Envoy. */
let edge: Edge
beforeAll(async () => {
  edge = await startEdge('delta', { concurrency: 1 })
})
afterAll(async () => {
  await edge.stop()
})

test('Envoy accepts every snapshot of valid routes', { timeout: 600_000 }, async () => {
  const accepts = fc.asyncProperty(edgeRoutes, async (routes) => {
    const before = edge.nacks().length
    await edge.apply(routes)
    expect(edge.nacks().slice(before)).toEqual([])
  })
  await fc.assert(accepts, { numRuns: 300, endOnFailure: true })
})

/** The world with answers that say which route has given them, and nothing that needs a backend. */
const labelled = (route: EdgeRoute): EdgeRoute => {
  const { hostnames, matches } = route.spec
  return {
    metadata: route.metadata,
    spec: {
      ...(hostnames === undefined ? {} : { hostnames }),
      ...(matches === undefined ? {} : { matches }),
      respond: { code: 200, body: route.metadata.uid },
    },
  }
}

const worlds: fc.Arbitrary<World> = edgeRoutes.map((routes) => ({
  routes: routes.map(labelled),
  broken: new Set<string>(),
  context: defaultContext,
}))

const ask = async (request: Request): Promise<string> => {
  const answer = await edge.send({
    path: request.path + queryOf(request),
    method: request.method,
    host: request.host,
    headers: Object.fromEntries(request.headers),
  })
  return answer.status === 200 ? answer.body : String(answer.status)
}

test('Envoy answers as the oracle says', { timeout: 600_000 }, async () => {
  const agrees = fc.asyncProperty(withRequests(worlds), async ([world, requests]) => {
    await edge.apply(world.routes)
    const ours = requests.map((request) => ({ ...request, dataPlane: 'edge-envoy' }))
    const expected = oracleAnswers(world, ours).map((answer) =>
      answer._tag === 'Responded' ? answer.body : '404',
    )
    const got: Array<string> = []
    for (const request of ours) got.push(await ask(request))
    const told = [...translate(world.routes).verdicts.values()].map(showVerdict)
    expect(got, told.join('\n')).toEqual(expected)
  })
  await fc.assert(agrees, { numRuns: 200, endOnFailure: true })
})
