import * as E from 'fp-ts/lib/Either.js'
import { compareStrings } from '../../../core/order.js'
import { showKey } from '../../../core/edge-route.js'
import { inOrder, type RosterEntry } from '../../../core/roster.js'
import type { StoredObject } from '../../../core/stored-object.js'
import { dataPlaneOf } from '../../../core/xds/session-state.js'
import { failed } from '../admin/run.js'
import { showJson } from '../admin/words.js'
import type { OutputFormat } from '../options.js'
import { exitCodes, type ExitCode, type World } from '../world.js'
import type { Cluster } from './connect.js'
import { lookForControlPlane } from './control-plane.js'
import {
  clusterDocumentVersion,
  type ClusterNodeDocument,
  type ClusterNodesDocument,
  stateOf,
} from './document.js'
import type { ClusterOptions } from './options.js'
import { findPods, type PodsFound } from './pods.js'
import { nowText, showProblem, withCluster } from './run.js'
import { showClusterNodes } from './show-nodes.js'
import { waitedFor } from './waiting.js'

/** Lists the Envoys that are written down in the cluster. */
export const nodesInCluster = (
  options: ClusterOptions,
  output: OutputFormat,
  world: World,
): Promise<ExitCode> =>
  withCluster('nodes', options, world, async (cluster) => {
    const document = await readNodes(cluster, world.signal)
    if (E.isLeft(document)) return failed(world, 'nodes', document.left)
    world.out(
      output === 'json'
        ? `${showJson(document.right)}\n`
        : showClusterNodes(document.right, cluster.ownNamespace),
    )
    return exitCodes.ok
  })

const readNodes = async (
  cluster: Cluster,
  signal: AbortSignal,
): Promise<E.Either<string, ClusterNodesDocument>> => {
  const { k8s, client, ownNamespace } = cluster
  const [roster, terminating, controlPlane] = await Promise.all([
    k8s.kubernetesRosterStore(client, { namespace: ownNamespace }).load()(),
    k8s.inspectTerminating(client, signal),
    lookForControlPlane(cluster, signal),
  ])
  if (E.isLeft(roster)) return E.left(roster.left.message)
  if (E.isLeft(terminating)) return E.left(showProblem(terminating.left))
  const entries = inOrder(roster.right)
  const waiting = waitingIn(terminating.right)
  const pods = await findPods(
    cluster,
    entries.map(({ id }) => id),
    signal,
  )
  return E.right({
    version: clusterDocumentVersion,
    now: nowText(),
    controlPlane,
    nodes: entries
      .map((entry) => nodeDocument(entry, waiting, pods))
      .sort((a, b) => rankOf(a) - rankOf(b) || compareStrings(a.id, b.id)),
    partlyNamed: waiting.partlyNamed,
  })
}

interface Waiting {
  /** The routes that wait for a node, by its id. */
  readonly of: ReadonlyMap<string, ReadonlyArray<string>>
  readonly partlyNamed: ReadonlyArray<string>
}

const waitingIn = (objects: ReadonlyArray<StoredObject>): Waiting => {
  const of = new Map<string, Array<string>>()
  const partlyNamed: Array<string> = []
  for (const object of objects) {
    const waits = stateOf(object) === 'Terminating' ? waitedFor(object.conditions) : undefined
    if (waits === undefined) continue
    if (waits.others !== 0) partlyNamed.push(showKey(object.key))
    for (const id of waits.nodes) of.set(id, [...(of.get(id) ?? []), showKey(object.key)])
  }
  return { of, partlyNamed }
}

const nodeDocument = (
  { id, cluster, isShared, sinceMs }: RosterEntry,
  waiting: Waiting,
  pods: PodsFound,
): ClusterNodeDocument => ({
  id,
  dataPlane: dataPlaneOf({ id, cluster }),
  shared: isShared,
  since: new Date(sinceMs).toISOString(),
  pod: pods.of(id),
  holdsUp: [...(waiting.of.get(id) ?? [])].sort(compareStrings),
})

const rankOf = ({ holdsUp }: ClusterNodeDocument): number => (holdsUp.length > 0 ? 0 : 1)
