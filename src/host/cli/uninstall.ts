import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { showKey } from '../../core/edge-route.js'
import { finalizer } from '../../core/stored-object.js'
import { failed } from './admin/run.js'
import { plural, printable, shellWord, showName } from './admin/words.js'
import type { Cluster } from './cluster/connect.js'
import {
  type ControlPlane,
  lookForControlPlane,
  showControlPlane,
} from './cluster/control-plane.js'
import { clusterOptions, parseCluster } from './cluster/options.js'
import { nowText, withCluster } from './cluster/run.js'
import { type Command, hasFlag, type Option } from './command.js'
import { askFor } from './glass.js'
import type { Uninstalled } from './peers.js'
import { namespaceOption, parseNamespaces } from './serve/source-options.js'
import { exitCodes, type ExitCode, type World } from './world.js'

const yesOption: Option = { name: 'yes', help: 'do not ask for the word' }

const consequences = `This takes the finalizer ${finalizer} off every EdgeRoute, and nothing else: the
objects stay, and those that are Terminating go. Envoys that run go on serving what
they have, deleted routes among it, until they are ended.`

/** Takes edgewright out of a cluster, as far as objects hold something of it. */
export const uninstallCommand: Command = {
  name: 'uninstall',
  summary: 'take our finalizer off all routes of a cluster, before edgewright leaves it',
  description: `Makes a cluster ready to do without edgewright, once the control plane is gone: as
long as one is at work this is refused, since it would put the finalizer on again. So is
it while a MutatingAdmissionPolicy does the same, as that of deploy/at-birth.

${consequences}`,
  operands: [],
  options: [
    ...clusterOptions(
      'the cluster that KUBECONFIG, the Pod or ~/.kube/config names; always so here',
    ),
    { ...namespaceOption, help: 'the routes of this namespace only (default: of all)' },
    yesOption,
  ],
  prepare: (args) =>
    pipe(
      E.Do,
      E.bind('cluster', () => parseCluster(args)),
      E.bind('namespaces', () => parseNamespaces(args)),
      E.map(({ cluster, namespaces }) => (world) => {
        const isAgreed = hasFlag(args, yesOption.name)
        return withCluster('uninstall', cluster, world, (found) =>
          uninstall(found, namespaces, isAgreed, world),
        )
      }),
    ),
}

/** What is to be typed. */
const agreement = 'uninstall'

const uninstall = async (
  cluster: Cluster,
  namespaces: ReadonlyArray<string> | undefined,
  isAgreed: boolean,
  world: World,
): Promise<ExitCode> => {
  const { k8s, client } = cluster
  const give = (reason: string): ExitCode => failed(world, 'uninstall', reason)
  const live = await whyNotYet(cluster, world.signal)
  if (live !== undefined) return give(live)
  const policies = await k8s.findAtBirthPolicies(client, world.signal)()
  if (E.isRight(policies) && policies.right.length > 0) return give(showPolicies(policies.right))
  const where =
    namespaces === undefined ? 'every namespace' : `the namespaces ${namespaces.join(', ')}`
  world.out(`${consequences}\n\nCluster: ${printable(client.server)}, ${where}.\n`)
  if (E.isLeft(policies)) world.out(showUnknownPolicies(policies.left))
  const question = `Type ${agreement} to do it: `
  const refusal = isAgreed
    ? undefined
    : await askFor(agreement, question, `the word ${agreement}`, world)
  if (refusal !== undefined) return give(refusal)
  // Somebody may have started one while this was being read.
  const begun = isAgreed ? undefined : await whyNotYet(cluster, world.signal)
  if (begun !== undefined) return give(begun)
  const result = await k8s.uninstallRoutes(client, { namespaces }, world.signal)()
  const counts = E.isLeft(result) ? result.left.soFar : result.right
  world.out(showCounts(counts, E.isRight(result)))
  if (E.isLeft(result)) return give(result.left.message)
  if (counts.failed === 0) return exitCodes.ok
  return give(showFailures(counts))
}

const showCounts = ({ released, failed: left }: Uninstalled, isWhole: boolean): string => {
  if (isWhole && released + left === 0) return '\nNo route had our finalizer.\n'
  const off = released === 0 ? 'no route' : plural(released, 'route')
  return `\nThe finalizer is off ${off}${left === 0 ? '' : `, and still on ${left}`}.\n`
}

const showFailures = ({ failed: left, failures }: Uninstalled): string => {
  const rest = left - failures.length
  return [
    'these routes have the finalizer still:',
    ...failures.map(({ key, message }) => `  ${showName(showKey(key))}: ${message}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ].join('\n')
}

/** A control plane may have been installed anywhere, and whichever is at work puts finalizers on again. */
const whyNotYet = async (cluster: Cluster, signal: AbortSignal): Promise<string | undefined> => {
  const found = await cluster.k8s.findLeases(cluster.client, signal)()
  if (E.isLeft(found)) return unknown(found.left.message)
  const namespaces = [...new Set([cluster.ownNamespace, ...found.right])]
  const reasons = await Promise.all(
    namespaces.map(async (ownNamespace) =>
      whyNotIn(await lookForControlPlane({ ...cluster, ownNamespace }, signal), ownNamespace),
    ),
  )
  return reasons.find((reason) => reason !== undefined)
}

const whyNotIn = (controlPlane: ControlPlane, ownNamespace: string): string | undefined => {
  switch (controlPlane.state) {
    case 'Live':
      return `a control plane is ${showControlPlane(controlPlane, ownNamespace, nowText())}
in the namespace ${showName(ownNamespace)}.
End it first. That of deploy/: kubectl --namespace ${shellWord(ownNamespace)} delete deployment edgewright
Any other: end the process, on the host that its name begins with.
One that was killed counts for some seconds more: try again then.`
    case 'Unknown':
      return unknown(controlPlane.message)
    case 'Absent':
    case 'Expired':
      return undefined
  }
}

/** With such a policy at work each new route would have the finalizer, and nobody would ever take it off. */
const showPolicies = (names: ReadonlyArray<string>): string => {
  const kinds = 'mutatingadmissionpolicies,mutatingadmissionpolicybindings'
  return `the API server puts the finalizer on every new route, by a policy of deploy/at-birth or one like it.
Remove it first: kubectl delete --ignore-not-found ${kinds} ${names.map(shellWord).join(' ')}
It counts for some seconds more: try again then.`
}

const showUnknownPolicies = (message: string): string => `
Nobody knows whether the API server puts the finalizer on new routes: ${printable(message)}
If deploy/at-birth was applied, do first: kubectl delete -k deploy/at-birth
`

const unknown = (message: string): string =>
  `nobody knows whether a control plane is at work: ${message}`
