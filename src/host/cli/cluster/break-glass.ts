import * as E from 'fp-ts/lib/Either.js'
import { type RouteKey, showKey } from '../../../core/edge-route.js'
import type { StoredObject } from '../../../core/stored-object.js'
import { failed } from '../admin/run.js'
import { showHeldUp } from '../admin/show-node.js'
import { printable, showName } from '../admin/words.js'
import { askForName, hazard } from '../glass.js'
import { exitCodes, type ExitCode, type World } from '../world.js'
import type { Cluster } from './connect.js'
import { lookForControlPlane } from './control-plane.js'
import { clusterRoutesDocument, stateOf } from './document.js'
import type { ClusterOptions } from './options.js'
import { clusterWords, nowText, showProblem, withCluster } from './run.js'
import { showClusterRoutes } from './show-route.js'
import { countWaitedFor, deprogrammed, waitedFor } from './waiting.js'

/** Shows why a route is Terminating, asks, and takes our finalizer off, with a control plane or without. */
export const breakGlassInCluster = (
  key: RouteKey,
  options: ClusterOptions,
  isAgreed: boolean,
  world: World,
): Promise<ExitCode> =>
  withCluster('break-glass', options, world, (cluster) =>
    breakGlass(key, cluster, { words: clusterWords(options), isAgreed }, world),
  )

const breakGlass = async (
  key: RouteKey,
  cluster: Cluster,
  { words, isAgreed }: { readonly words: string; readonly isAgreed: boolean },
  world: World,
): Promise<ExitCode> => {
  const { k8s, client, ownNamespace } = cluster
  const give = (reason: string): ExitCode => failed(world, 'break-glass', reason)
  const [found, controlPlane] = await Promise.all([
    k8s.inspectRoute(client, key, world.signal),
    lookForControlPlane(cluster, world.signal),
  ])
  if (E.isLeft(found)) return give(showProblem(found.left))
  const object = found.right
  if (object === undefined) return give(`no object has the name ${showKey(key)}`)
  const document = clusterRoutesDocument(object, controlPlane, nowText())
  world.out(showClusterRoutes(document, { ownNamespace, words }))
  if (object.deletionTimestamp === undefined)
    return give(`${showName(showKey(key))} is not being deleted`)
  if (stateOf(object) === 'Released')
    return give(`${showName(showKey(key))} is not held by edgewright: see what owns its finalizers`)
  world.out(`\n${hazard}\n`)
  const refusal = isAgreed ? undefined : await askForName(showKey(key), world)
  if (refusal !== undefined) return give(refusal)
  const released = await release(cluster, object, world.signal)
  if (E.isLeft(released)) return give(released.left)
  world.out(`\n${showName(showKey(key))} is released.\n${proofWords(released.right ?? object)}\n`)
  return exitCodes.ok
}

/** How often a release that meets a conflict is tried once more: status is written now and then, not always. */
const conflictRetries = 3

/**
 * Takes our finalizer off the object that was shown, and off no other one. Right is the object as it was then;
 * `undefined` where it has gone by itself meanwhile.
 */
const release = async (
  { k8s, client }: Cluster,
  shown: StoredObject,
  signal: AbortSignal,
): Promise<E.Either<string, StoredObject | undefined>> => {
  const store = k8s.kubernetesRouteStore(client)
  let object = shown
  for (let retry = 0; ; retry += 1) {
    if (signal.aborted) return E.left('interrupted: nothing is done')
    const result = await store.release(object)()
    if (E.isRight(result)) return E.right(object)
    if (result.left._tag === 'NotFound') return E.right(undefined)
    if (result.left._tag !== 'Conflict' || retry === conflictRetries)
      return E.left(result.left.message)
    const found = await k8s.inspectRoute(client, shown.key, signal)
    if (E.isLeft(found)) return E.left(found.left.message)
    if (found.right?.uid !== shown.uid || stateOf(found.right) !== 'Terminating')
      return E.right(undefined)
    object = found.right
  }
}

/** What had been proven when it was released, and what not. */
const proofWords = ({ conditions }: StoredObject): string => {
  const waits = waitedFor(conditions)
  if (waits !== undefined) {
    const { nodes, others = 1 } = waits
    const names = showHeldUp(nodes, nodes.length + others)
    return `${countWaitedFor(waits)} had not confirmed${nodes.length === 0 ? '' : `: ${names}`}`
  }
  const condition = deprogrammed(conditions)
  if (condition === undefined) return 'It was not proven gone: nothing had been said of it yet.'
  return condition.status === 'True'
    ? 'Every Envoy had confirmed.'
    : `It was not proven gone: ${printable(condition.message)}`
}
