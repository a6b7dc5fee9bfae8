import * as E from 'fp-ts/lib/Either.js'
import { type RouteKey, showKey } from '../../../core/edge-route.js'
import { failed } from '../admin/run.js'
import { showJson } from '../admin/words.js'
import type { OutputFormat } from '../options.js'
import { exitCodes, type ExitCode, type World } from '../world.js'
import type { Cluster } from './connect.js'
import { lookForControlPlane } from './control-plane.js'
import { clusterRoutesDocument } from './document.js'
import type { ClusterOptions } from './options.js'
import { clusterWords, nowText, showProblem, withCluster } from './run.js'
import { showClusterRoutes } from './show-route.js'

/** Says of a route what the API server has of it. */
export const explainInCluster = (
  key: RouteKey,
  options: ClusterOptions,
  output: OutputFormat,
  world: World,
): Promise<ExitCode> =>
  withCluster('explain', options, world, (cluster) =>
    explain(key, cluster, { words: clusterWords(options), output }, world),
  )

const explain = async (
  key: RouteKey,
  cluster: Cluster,
  { words, output }: { readonly words: string; readonly output: OutputFormat },
  world: World,
): Promise<ExitCode> => {
  const { k8s, client, ownNamespace } = cluster
  const [found, controlPlane] = await Promise.all([
    k8s.inspectRoute(client, key, world.signal),
    lookForControlPlane(cluster, world.signal),
  ])
  if (E.isLeft(found)) return failed(world, 'explain', showProblem(found.left))
  if (found.right === undefined)
    return failed(world, 'explain', `no object has the name ${showKey(key)}`)
  const document = clusterRoutesDocument(found.right, controlPlane, nowText())
  world.out(
    output === 'json'
      ? `${showJson(document)}\n`
      : showClusterRoutes(document, { ownNamespace, words }),
  )
  return exitCodes.ok
}
