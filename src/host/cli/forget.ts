import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { HostPort } from '../bootstrap.js'
import { askAdmin } from './admin/client.js'
import { forgottenDecoder } from './admin/decode.js'
import { adminFrom, failed } from './admin/run.js'
import { showHeldUp } from './admin/show-node.js'
import { forgottenText, showName, warningLines } from './admin/words.js'
import { forgetInCluster } from './cluster/forget.js'
import { askApiServer, clusterFrom, clusterOptions } from './cluster/options.js'
import type { Command } from './command.js'
import { adminOption } from './options.js'
import { parseNodeId } from './values.js'
import { exitCodes, type ExitCode, type World } from './world.js'

/** Stops waiting for a lost Envoy. */
export const forgetCommand: Command = {
  name: 'forget',
  summary: 'stop waiting for an Envoy that is lost for good',
  description: `Tells a running edgewright serve that an Envoy will not come back, so that nothing
waits for it any more. Do it when its process is surely gone: one that still runs
goes on serving what it had, deleted routes among it, until it connects again. A
connected Envoy is not forgotten; where several share its id, those are that are
lost. Behind -- a NODE may begin with a dash. With --kubernetes the control plane
is told through the API server, and must be at work.`,
  operands: [{ name: 'NODE', help: 'the id of the Envoy, as edgewright nodes shows it' }],
  options: [adminOption, ...clusterOptions(askApiServer)],
  prepare: (args) =>
    pipe(
      E.Do,
      E.bind('id', () => parseNodeId('NODE', args.operands[0] ?? '')),
      E.bind('admin', () => adminFrom(forgetCommand, args)),
      E.bind('cluster', () => clusterFrom(args)),
      E.map(
        ({ id, admin, cluster }) =>
          (world) =>
            cluster === undefined ? forget(id, admin, world) : forgetInCluster(id, cluster, world),
      ),
    ),
}

const forget = async (id: string, admin: HostPort, world: World): Promise<ExitCode> => {
  const question = {
    method: 'POST',
    path: ['v1', 'nodes', id, 'forget'],
    body: {},
    decoder: forgottenDecoder,
  } as const
  const answer = await askAdmin(admin, question, world.signal)
  if (E.isLeft(answer)) return failed(world, 'forget', `${showName(id)}: ${answer.left}`)
  const { heldUp, heldUpCount, warning } = answer.right
  const didWait =
    heldUpCount === 0 ? 'Nothing did' : `These did: ${showHeldUp(heldUp, heldUpCount)}`
  world.out(forgottenText(id, [`${didWait}.`, ...warningLines(warning)]))
  return exitCodes.ok
}
