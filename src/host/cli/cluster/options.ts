import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { type Arguments, hasFlag, labelOf, type Option, valuesOf } from '../command.js'
import { parseDnsLabel } from '../values.js'

/** Options of all commands that speak to a cluster. */

export const kubeconfigOption: Option = {
  name: 'kubeconfig',
  value: 'FILE',
  help: 'how to reach the cluster; implies --kubernetes (default: KUBECONFIG, the Pod, ~/.kube/config)',
}

export const contextOption: Option = {
  name: 'context',
  value: 'NAME',
  help: 'which context of the kubeconfig; implies --kubernetes (default: its current one)',
}

export const ownNamespaceOption: Option = {
  name: 'own-namespace',
  value: 'NAMESPACE',
  help: 'where the control plane keeps the list of Envoys (default: its own in a Pod, edgewright elsewhere)',
}

/** What `--kubernetes` means to those commands that else ask the control plane itself. */
export const askApiServer =
  'ask the API server of the cluster, in place of the control plane itself'

/** `--kubernetes`, and what belongs to it. `help` says what a command does with it. */
export const clusterOptions = (help: string): ReadonlyArray<Option> => [
  { name: 'kubernetes', help },
  kubeconfigOption,
  contextOption,
  ownNamespaceOption,
]

/** Which cluster, as the command line says it; what it leaves open, the environment does. */
export interface ClusterOptions {
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly ownNamespace: string | undefined
}

/** The first option that asks for a cluster, if one does. */
export const clusterFlag = (args: Arguments): string | undefined =>
  ['kubernetes', kubeconfigOption.name, contextOption.name].find((name) => hasFlag(args, name))

/** What the options say of the cluster, whether it is asked for or not. */
export const parseCluster = (args: Arguments): Either<string, ClusterOptions> => {
  const given = (name: string): string | undefined => valuesOf(args, name).at(-1)
  const ownNamespace = given(ownNamespaceOption.name)
  const options = {
    kubeconfig: given(kubeconfigOption.name),
    context: given(contextOption.name),
  }
  return ownNamespace === undefined
    ? E.right({ ...options, ownNamespace })
    : E.Functor.map(
        parseDnsLabel(labelOf(args)(ownNamespaceOption.name), ownNamespace),
        (parsed) => ({ ...options, ownNamespace: parsed }),
      )
}

/**
 * Which cluster an operator's command asks, or `undefined` where it asks the control plane itself, as `--admin` says.
 */
export const clusterFrom = (args: Arguments): Either<string, ClusterOptions | undefined> => {
  const flag = clusterFlag(args)
  if (flag === undefined)
    return hasFlag(args, ownNamespaceOption.name)
      ? E.left(`--${ownNamespaceOption.name} goes with --kubernetes only`)
      : E.right(undefined)
  return hasFlag(args, 'admin')
    ? E.left(`--admin and --${flag} are two ways to ask: give one of them`)
    : parseCluster(args)
}
