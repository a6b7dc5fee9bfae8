import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { HostPort } from '../bootstrap.js'
import { askAdmin } from './admin/client.js'
import { nodesDecoder } from './admin/decode.js'
import { adminFrom, failed } from './admin/run.js'
import { showNodes } from './admin/show-node.js'
import { showJson } from './admin/words.js'
import { nodesInCluster } from './cluster/nodes.js'
import { askApiServer, clusterFrom, clusterOptions } from './cluster/options.js'
import { type Command, valueOf } from './command.js'
import { adminOption, outputOption, type OutputFormat, outputFormats } from './options.js'
import { parseChoice } from './values.js'
import { exitCodes, type ExitCode, type World } from './world.js'

/** Lists the Envoys. */
export const nodesCommand: Command = {
  name: 'nodes',
  summary: 'list the Envoys that may serve something, lost ones among them',
  description: `Asks a running edgewright serve for its Envoys, connected and lost: what each said
last of a route table, what it refuses that belongs to no route (a listener, say),
and which deletions wait for it. Those come first. With --kubernetes it asks the
API server in its place: for the list that the control plane keeps there, for the
deletions that wait, and for the Pods of the Envoys.`,
  operands: [],
  options: [adminOption, ...clusterOptions(askApiServer), outputOption],
  prepare: (args) =>
    pipe(
      E.Do,
      E.bind('admin', () => adminFrom(nodesCommand, args)),
      E.bind('cluster', () => clusterFrom(args)),
      E.bind('output', () =>
        parseChoice('--output', valueOf(nodesCommand, args, 'output') ?? '', outputFormats),
      ),
      E.map(
        ({ admin, cluster, output }) =>
          (world) =>
            cluster === undefined
              ? nodes(admin, output, world)
              : nodesInCluster(cluster, output, world),
      ),
    ),
}

const nodes = async (admin: HostPort, output: OutputFormat, world: World): Promise<ExitCode> => {
  const question = { method: 'GET', path: ['v1', 'nodes'], decoder: nodesDecoder } as const
  const answer = await askAdmin(admin, question, world.signal)
  if (E.isLeft(answer)) return failed(world, 'nodes', answer.left)
  world.out(output === 'json' ? `${showJson(answer.right)}\n` : showNodes(answer.right))
  return exitCodes.ok
}
