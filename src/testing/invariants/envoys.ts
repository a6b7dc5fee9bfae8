import { isDeepStrictEqual } from 'node:util'
import {
  type Answer,
  type EnvoyState,
  type Request,
  servedTables,
} from '../../adapters/memory/index.js'
import { request as ask } from '../../adapters/memory/envoy/client/index.js'
import { answer } from '../../adapters/memory/envoy/routing/answer.js'
import { clustersOf } from '../../adapters/memory/envoy/routing/clusters-of.js'
import { routesOf } from '../../adapters/memory/envoy/routing/host-routes.js'
import { type Snapshot, viewOf } from '../../core/snapshot.js'
import { dataPlaneOf } from '../../core/xds/session.js'
import { encodedView } from '../encoded-view.js'
import type { Violation } from './violation.js'

/**
 * The routes of an Envoy that name a cluster which it lacks: their requests are answered 503, although the
 * configuration as a whole is in order. Looks at every table that a request may meet, on old connections too.
 *
 * ```ts
 * import assert from 'node:assert/strict'
 * import { snapshotOf } from 'edgewright'
 * import { memoryControlPlane, unknownClusters } from 'edgewright/testing'
 *
 * const plane = memoryControlPlane()
 * const envoy = plane.connect({ node: { id: 'e', cluster: 'edge-envoy' }, variant: 'sotw' })
 * plane.publish(snapshotOf([]))
 * while (plane.deliverNext() !== undefined) assert.deepEqual(unknownClusters(envoy.state()), [])
 * ```
 */
export const unknownClusters = (envoy: EnvoyState): ReadonlyArray<Violation> => {
  const { clusters, options } = envoy
  return servedTables(envoy).flatMap(({ table, reach }) =>
    (table.virtualHosts ?? []).flatMap((host) =>
      routesOf(host)
        .flatMap((route) => clustersOf(route) ?? [])
        .filter((cluster) => !clusters.active.has(cluster))
        .map((cluster) => ({
          law: 'KnownClusters',
          message: `${options.node.id} lacks ${cluster}, named by ${host.name} in table ${table.name} (${reach})`,
        })),
    ),
  )
}

/**
 * The requests that an Envoy answers otherwise than one would that holds this snapshot, and nothing else.
 *
 * To be asked once everything is delivered: on its way to a snapshot an Envoy is allowed both answers. Throws
 * "not modelled: …" where a table says something that the Envoy in memory does not know.
 */
export const wrongAnswers = (
  envoy: EnvoyState,
  snapshot: Snapshot,
  requests: Iterable<Request>,
): ReadonlyArray<Violation> => {
  const { node, resolves } = envoy.options
  const resources = encodedView(viewOf(snapshot, dataPlaneOf(node)))
  const surroundings = resolves === undefined ? {} : { resolves }
  return [...requests].flatMap((request) => {
    const wanted = answer(resources, request, surroundings)
    const given = ask(envoy, request)
    if (isDeepStrictEqual(given, wanted)) return []
    const [is, shouldBe] = [showAnswer(given), showAnswer(wanted)]
    const message = `${node.id} answers ${showRequest(request)} with ${is} and not ${shouldBe}`
    return [{ law: 'AnswersAsTranslated', message }]
  })
}

const showRequest = ({ method = 'GET', host, path, headers = [] }: Request): string =>
  [`${method} ${host}${path}`, ...headers.map(([name, value]) => `${name}: ${value}`)].join(', ')

const showAnswer = (given: Answer): string => JSON.stringify(given)
