import * as E from 'fp-ts/lib/Either.js'
import { failed } from '../admin/run.js'
import { connectedRefusal, unknownRefusal } from '../../forget-words.js'
import { forgottenText, printable, showName, warningLines } from '../admin/words.js'
import type { ForgetAnswer } from '../peers.js'
import { exitCodes, type ExitCode, type World } from '../world.js'
import type { Cluster } from './connect.js'
import { lookForControlPlane, showControlPlane } from './control-plane.js'
import type { ClusterOptions } from './options.js'
import { nowText, withCluster } from './run.js'

/** Leaves the wish to forget a node in the cluster, and waits for what the control plane says to it. */
export const forgetInCluster = (
  id: string,
  options: ClusterOptions,
  world: World,
): Promise<ExitCode> =>
  withCluster('forget', options, world, (cluster) => forget(id, cluster, world))

const forget = async (id: string, cluster: Cluster, world: World): Promise<ExitCode> => {
  const { k8s, client, ownNamespace } = cluster
  const controlPlane = await lookForControlPlane(cluster, world.signal)
  if (controlPlane.state !== 'Live') {
    const why = showControlPlane(controlPlane, ownNamespace, nowText())
    const refusal = `only a control plane that is at work can forget it, and ${why}`
    return failed(world, 'forget', `${showName(id)}: ${refusal}`)
  }
  const answer = await k8s.askToForget(client, { namespace: ownNamespace }, id, world.signal)()
  if (E.isLeft(answer)) return failed(world, 'forget', `${showName(id)}: ${answer.left.message}`)
  const { right: forgotten } = answer
  const refusal = refusalIn(forgotten)
  if (refusal !== undefined) return failed(world, 'forget', `${showName(id)}: ${refusal}`)
  const warning =
    typeof forgotten === 'object' && 'warning' in forgotten ? forgotten.warning : undefined
  world.out(forgottenText(id, warningLines(warning)))
  return exitCodes.ok
}

/** Why it was not done; `undefined` if it was. */
const refusalIn = (answer: ForgetAnswer): string | undefined => {
  switch (answer) {
    case 'Forgotten':
      return undefined
    case 'Connected':
      return connectedRefusal
    case 'Unknown':
      return unknownRefusal
    default:
      return 'failure' in answer ? printable(answer.failure) : undefined
  }
}
