import * as E from 'fp-ts/lib/Either.js'
import { failed } from '../admin/run.js'
import { shellWord } from '../admin/words.js'
import type { InspectProblem } from '../peers.js'
import type { ExitCode, World } from '../world.js'
import { type Cluster, connectCluster } from './connect.js'
import type { ClusterOptions } from './options.js'

/** Finds the cluster, does something with it, and lets its connections go. */
export const withCluster = async (
  command: string,
  options: ClusterOptions,
  world: World,
  act: (cluster: Cluster) => Promise<ExitCode>,
): Promise<ExitCode> => {
  const cluster = await connectCluster(options, world)
  if (E.isLeft(cluster)) return failed(world, command, cluster.left)
  try {
    return await act(cluster.right)
  } finally {
    cluster.right.client.close()
  }
}

/** The options for a command that is proposed; begins with a space. */
export const clusterWords = ({ kubeconfig, context, ownNamespace }: ClusterOptions): string => {
  const option = (name: string, value: string | undefined): string =>
    value === undefined ? '' : ` --${name} ${shellWord(value)}`
  const where = `${option('kubeconfig', kubeconfig)}${option('context', context)}`
  return `${where === '' ? ' --kubernetes' : where}${option('own-namespace', ownNamespace)}`
}

/** Why the API server has not said what was asked of routes, and what to do where that is known. */
export const showProblem = ({ _tag, message }: InspectProblem): string =>
  _tag === 'NoSuchKind'
    ? `EdgeRoute is not defined in this cluster. Install its definition: kubectl apply -k deploy\n(${message})`
    : message

/** The date of this machine, RFC 3339: what was asked is of this moment. */
export const nowText = (): string => new Date().toISOString()
